// UpSampling: recorded, and its weight.

#include <gtest/gtest.h>

#include <symbind/executor.h>

#include "tests/support/op_case.h"

namespace symbind {
namespace {

/// Every element of all inputs, joined along the channels, fills a square of the output.
HostTensor repeated(const HostTensors& in) {
  Shape shape = in[0].shape;
  shape[1] = 0;
  for (const HostTensor& x : in) shape[1] += x.shape[1];
  shape[2] *= 2;
  shape[3] *= 2;
  return from_coordinates(shape, [&](Coordinates at) {
    std::size_t k = 0;
    for (; at[1] >= in[k].shape[1]; ++k) at[1] -= in[k].shape[1];
    at[2] /= shape[2] / in[k].shape[2];
    at[3] /= shape[3] / in[k].shape[3];
    return in[k].at(at);
  });
}

OP_CASES(UpSampling) {
  c.recorded();
  c.add("a block").attr("scale", 2).attr("sample_type", "nearest").in({2, 16, 2, 3}).ref(repeated);
  c.add("blocks of two inputs")
      .attr("scale", 2)
      .attr("sample_type", "nearest")
      .attr("num_args", 2)
      .in({1, 8, 2, 2})
      .in({1, 24, 4, 4})
      .ref(repeated);
  c.add("no whole factor")
      .attr("scale", 2)
      .attr("sample_type", "nearest")
      .in({1, 2, 3, 3})
      .in({1, 2, 4, 4})
      .raises("whole factor");
  c.add("channels that are not num_filter")
      .attr("scale", 2)
      .attr("sample_type", "bilinear")
      .attr("num_filter", 3)
      .attr("num_args", 2)
      .in({1, 2, 3, 3})
      .in({2, 1, 4, 4})
      .raises("num_filter 3");
}

TEST(UpSampling, the_weight_of_bilinear_is_made_and_starts_bilinear) {
  for (const AttrDict& more : {AttrDict{}, AttrDict{{"num_args", "2"}}}) {
    AttrDict attrs{{"scale", "2"}, {"sample_type", "bilinear"}, {"num_filter", "3"}};
    attrs.insert(more.begin(), more.end());
    const Symbol net = make_symbol("UpSampling", "up", std::vector{Variable("data")}, attrs);
    EXPECT_EQ(net.list_arguments(), (std::vector<std::string>{"data", "up_weight"}));
    EXPECT_EQ(net.attr_dict().at("up_weight").at("__init__"), R"(["bilinear", {}])");
    EXPECT_EQ(net.attr_dict().at("up").at("num_args"), more.empty() ? "1" : "2");
    EXPECT_EQ(Symbol::load_json(net.tojson()).list_arguments(), net.list_arguments());
  }
}

TEST(UpSampling, nearest_takes_as_many_inputs_as_it_gets) {
  const Symbol net = make_symbol("UpSampling", "up", std::vector{Variable("a"), Variable("b")},
                                 {{"scale", "2"}, {"sample_type", "nearest"}});
  EXPECT_EQ(net.attr_dict().at("up").at("num_args"), "2");
}

}  // namespace
}  // namespace symbind
