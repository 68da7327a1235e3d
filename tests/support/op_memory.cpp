// What a kernel writes: of a case some outputs of which are unread, of memory that holds something
// before, and of arrays without elements.

#include <set>

#include <gtest/gtest.h>

#include "base/settings.h"
#include "executor/executor_impl.h"
#include "tests/support/op_run.h"

namespace symbind {
namespace {

std::vector<std::string> requests(const OpCase& c, DType dtype) {
  return has_gradient(c) && is_float(dtype) ? all_gradients(c) : std::vector<std::string>{};
}

/// Every output alone, all but one, and the shape alone.
std::set<std::vector<int>> parts_of(int outputs) {
  std::set<std::vector<int>> parts{{}};
  for (int o = 0; o < outputs && outputs > 1; ++o) {
    std::vector<int> others;
    for (int k = 0; k < outputs; ++k)
      if (k != o) others.push_back(k);
    parts.insert({{o}, others});
  }
  return parts;
}

std::string text(const std::vector<int>& reads) {
  if (reads.empty()) return "only the shape is read";
  std::string all = "read outputs:";
  for (const int o : reads) all += " " + std::to_string(o);
  return all;
}

HostTensors written_inputs(const OpCase& c, const BoundCase& bound) {
  HostTensors all;
  const HostTensors inputs = bound.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (definition(c).mutates(parsed_attrs(c).get(), static_cast<int>(i))) all.push_back(inputs[i]);
  return all;
}

void expect_equal(const HostTensors& got, const HostTensors& want, Tolerance tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(near(got[i], want[i], tolerance)) << what << " " << i;
}

void check_part(const OpCase& c, DType dtype, const std::vector<int>& reads) {
  const std::vector<std::string> req = requests(c, dtype);
  const std::string what =
      text(reads) + ", in " + std::string(dtype_name(dtype)) + (req.empty() ? "" : ", training");
  BoundCase all(c, {.dtype = dtype, .grad_req = req});
  BoundCase part(c, {.dtype = dtype, .grad_req = req, .reads = reads});
  part.fill_memory(0xFF);
  const HostTensors whole = all.forward(), got = part.forward();
  Tolerance tolerance = c.tolerance_for(dtype);
  for (const DType t : all.output_dtypes())
    if (is_float(t) && size_of(t) < 4) tolerance = c.tolerance_for(t);
  HostTensors want;
  for (const int o : reads) want.push_back(whole[static_cast<std::size_t>(o)]);
  if (reads.empty()) {
    EXPECT_EQ(Shape(std::vector<std::int64_t>(got[0].values.begin(), got[0].values.end())),
              whole[0].shape)
        << what;
  } else {
    expect_equal(got, want, tolerance, what + ", output");
  }
  expect_equal(written_inputs(c, part), written_inputs(c, all), tolerance,
               what + ", written input");
  if (req.empty()) return;
  HostTensors heads = all.random_heads(), part_heads;
  for (std::size_t o = 0; o < heads.size(); ++o) {
    if (std::find(reads.begin(), reads.end(), static_cast<int>(o)) != reads.end())
      part_heads.push_back(heads[o]);
    else
      heads[o].values.assign(heads[o].size(), 0.0);
  }
  const HostTensors some = part.backward(reads.empty() ? part.random_heads() : part_heads);
  if (reads.empty()) return;  // nothing arrives: whether a gradient runs at all is the operator's
  const HostTensors every = all.backward(heads);
  expect_equal(some, every, {tolerance.relative * 4, tolerance.absolute * 4}, what + ", gradient");
}

/// The bytes of everything a run writes into memory that is full of `byte`.
std::vector<std::string> run_over(BoundCase& bound, const HostTensors& values, unsigned char byte,
                                  bool training) {
  bound.load(values);
  bound.fill_memory(byte);
  bound.forward();
  if (training) bound.backward(bound.random_heads());
  return bound.bytes();
}

void expect_written(const OpCase& c, const HostTensors& values, const std::string& what) {
  const DType dtype = main_type(c);
  const std::vector<std::string> req = requests(c, dtype);
  BoundCase bound(c, {.dtype = dtype, .grad_req = req, .values = values});
  const auto first = run_over(bound, values, 0xFF, !req.empty());
  const auto second = run_over(bound, values, 0x5A, !req.empty());
  const std::size_t outputs = bound.num_outputs(), inputs = c.inputs().size();
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == second[i]) continue;
    const std::string name = i < outputs ? "output " + std::to_string(i)
                             : i < outputs + inputs
                                 ? "the gradient of input " + std::to_string(i - outputs)
                                 : "input " + std::to_string(i - outputs - inputs);
    ADD_FAILURE() << what << name << " holds what was in memory before";
  }
}

bool is_ours(const Error& e) {
  return std::string_view(e.what()).find("a bug in Symbind") != std::string_view::npos;
}

/// The shapes of a case with an extent set to 0: of one axis alone, of that axis in every input
/// that has the extent there, of every axis that has the extent.
std::set<std::vector<std::vector<std::int64_t>>> empty_shapes(const OpCase& c) {
  std::vector<std::vector<std::int64_t>> given;
  for (const OpCase::Input& i : c.inputs()) given.push_back(i.value.shape.dims());
  std::set<std::vector<std::vector<std::int64_t>>> all;
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (std::size_t axis = 0; axis < given[i].size(); ++axis) {
      const std::int64_t extent = given[i][axis];
      auto alone = given, same_axis = given, everywhere = given;
      alone[i][axis] = 0;
      for (std::size_t k = 0; k < given.size(); ++k) {
        if (axis < given[k].size() && given[k][axis] == extent) same_axis[k][axis] = 0;
        std::replace(everywhere[k].begin(), everywhere[k].end(), extent, std::int64_t{0});
      }
      all.insert({alone, same_axis, everywhere});
    }
  }
  all.erase(given);
  return all;
}

std::string text(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::string all = "inputs of shape";
  for (const auto& s : shapes) all += " " + Shape(s).str();
  return all + ": ";
}

}  // namespace

void check_op_unread(const OpCase& c) {
  if (c.is_imperative()) return;
  const auto attrs = parsed_attrs(c);
  const int outputs = definition(c).num_visible(attrs.get());
  const bool often = outputs > 1 || definition(c).mutates_any(attrs.get());
  for (const DType dtype : often ? c.types() : std::vector{main_type(c)})
    for (const std::vector<int>& reads : parts_of(outputs)) check_part(c, dtype, reads);
}

void check_op_written(const OpCase& c) {
  if (!c.is_imperative()) expect_written(c, c.values(), "");
}

void check_op_empty(const OpCase& c) {
  for (const auto& shapes : empty_shapes(c)) {
    HostTensors values = c.values();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      values[i].shape = Shape(shapes[i]);
      values[i].values.resize(static_cast<std::size_t>(values[i].shape.size()));
    }
    try {
      run_invoke(c, main_type(c), values);
      if (c.is_imperative()) continue;
      expect_written(c, values, text(shapes));
      const settings::override_for_test kernels("SYMBIND_KERNELS", "-onednn,-blas,-native");
      expect_written(c, values, "by the reference, " + text(shapes));
    } catch (
        const Error& e) {  // refused by name: the shapes do not fit, or there is nothing to pick
      EXPECT_FALSE(is_ours(e)) << text(shapes) << e.what();
    }
  }
}

}  // namespace symbind
