// Attributes and data of any size: overflow is an error, never a wrapped sum, and an invalid index
// is never used. Expected values come from NumPy, from MXNet 1.9.1 (where named), or from the
// mathematics.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <symbind/autograd.h>
#include <symbind/detail/op_call.h>
#include <symbind/executor.h>

namespace symbind {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// The error of a call, or "" if there is none.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

std::vector<NDArray> run(const std::string& op, const std::vector<NDArray>& inputs,
                         const AttrDict& attrs) {
  std::vector<NDArray> outputs = invoke(op, inputs, attrs);
  for (const NDArray& output : outputs) output.wait_to_read();
  return outputs;
}

NDArray whole(const std::vector<std::int64_t>& values, DType dtype = DType::kInt64) {
  return NDArray::from_vector(values, {static_cast<std::int64_t>(values.size())}).astype(dtype);
}

// ---- Shapes that cannot be ----------------------------------------------------------------------

struct Refused {
  const char* op;
  AttrDict attrs;
  std::vector<Shape> shapes;  ///< of the inputs, as users give them: 0 and () are unknown
  const char* text;           ///< that the error contains
};

const Refused kRefused[] = {
    {"Crop",
     {{"h_w", "(2, 2)"}, {"offset", "(9223372036854775807, 0)"}, {"num_args", "1"}},
     {{1, 1, 4, 4}},
     "does not fit"},
    {"_image_crop",
     {{"x", "2147483647"}, {"y", "0"}, {"width", "2147483647"}, {"height", "2"}},
     {{4, 4, 3}},
     "reaches beyond the image"},
    {"im2col",
     {{"kernel", "(1, 1, 1)"}, {"pad", "(2147483647, 2147483647, 2147483647)"}},
     {{1, 1, 4, 4, 4}},
     "the positions of the window is too large"},
    {"im2col",
     {{"kernel", "(2147483647,)"}, {"pad", "(2147483647,)"}},
     {{1, std::int64_t{1} << 40, 4}},
     "channels · taps is too large"},
    {"_contrib_box_nms", {{"coord_start", "2147483647"}}, {{1, 4, 6}}, "outside a row of 6"},
    {"_contrib_box_nms", {{"coord_start", "2147483645"}}, {{1, 4, 6}}, "outside a row of 6"},
    {"transpose", {{"axes", "(9223372036854775807, 0)"}}, {{2, 3}}, "out of range"},
    {"transpose", {{"axes", "(-9223372036854775807, 0)"}}, {{2, 3}}, "out of range"},
    {"RNN",
     {{"state_size", "2147483647"}, {"num_layers", "1"}, {"mode", "lstm"}},
     {{1, 1, 4}, {}, {}, {}},
     "need too much memory"},
    {"RNN",
     {{"state_size", "1048576"}, {"num_layers", "1"}, {"mode", "lstm"}},
     {{1, 1, std::int64_t{1} << 45}, {}, {}, {}},
     "the number of parameters is too large"},
    {"Pad",
     {{"mode", "constant"}, {"pad_width", "(0, 0, 0, 0, 0, 9223372036854775807, 0, 0)"}},
     {{1, 1, 4, 4}},
     "an axis with its border is too large"},
    {"tile", {{"reps", "(4611686018427387904,)"}}, {{4}}, "an axis times reps is too large"},
    {"repeat",
     {{"repeats", "2147483647"}},
     {{std::int64_t{1} << 40}},
     "the elements times repeats is too large"},
    {"repeat",
     {{"repeats", "2147483647"}, {"axis", "0"}},
     {{std::int64_t{1} << 40, 1}},
     "an axis times repeats is too large"},
    {"space_to_depth", {{"block_size", "2147483647"}}, {{1, 4, 0, 0}}, "channels of blocks"},
    {"depth_to_space",
     {{"block_size", "2147483647"}},
     {{1, 0, std::int64_t{1} << 40, 0}},
     "pixels of blocks"},
    {"Deconvolution",
     {{"kernel", "(1,)"}, {"stride", "(2147483647,)"}, {"num_filter", "1"}},
     {{1, 1, std::int64_t{1} << 40}, {}},
     "stride times the data is too large"},
    {"Correlation",
     {{"max_displacement", "2147483647"}, {"pad_size", "2147483647"}},
     {{1, 1, 4, 4}, {1, 1, 4, 4}},
     "the number of displacements is too large"},
    {"_contrib_Proposal",
     {{"rpn_post_nms_top_n", "2147483647"}, {"scales", "(1,)"}, {"ratios", "(1,)"}},
     {{std::int64_t{1} << 40, 2, 1, 1}, {}, {}},
     "the regions of all images is too large"},
    {"diag", {{"k", "-2147483648"}}, {{3, 3}}, "does not exist"},
    {"diag", {{"k", "-2147483648"}}, {{3}}, "more elements than any memory"},
    {"_linalg_extractdiag", {{"offset", "-2147483648"}}, {{3, 3}}, "is not a diagonal"},
    {"_linalg_extracttrian", {{"offset", "-2147483648"}}, {{3, 3}}, "is not a diagonal"},
    {"_image_resize",
     {{"size", "(4611686018427387904,)"}, {"keep_ratio", "True"}},
     {{2, 8, 3}},
     "the longer edge times size is too large"},
    {"_contrib_BilinearResize2D",
     {{"scale_height", "nan"}, {"scale_width", "1"}},
     {{1, 1, 4, 4}},
     "cannot scale an extent"},
    {"_contrib_BilinearResize2D",
     {{"scale_height", "1e30"}, {"scale_width", "1"}},
     {{1, 1, 4, 4}},
     "cannot scale an extent"},
    {"_contrib_BilinearResize2D",
     {{"scale_height", "-inf"}, {"scale_width", "1"}, {"mode", "odd_scale"}},
     {{1, 1, 5, 5}},
     "cannot scale an extent"},
    {"_zeros", {{"shape", "(1048576, 1048576, 1048576)"}}, {}, "more elements than any memory"},
    {"_arange", {{"start", "0"}, {"stop", "inf"}}, {}, "too long"},
    {"_arange", {{"start", "0"}, {"stop", "nan"}}, {}, "is empty"},
};

TEST(BadInputArithmetic, shapes_that_cannot_be) {
  for (const Refused& r : kRefused) {
    SCOPED_TRACE(std::string(r.op) + " " + r.text);
    const std::string error = error_of([&] {
      std::vector<Symbol> inputs;
      ShapeMap shapes;
      for (std::size_t i = 0; i < r.shapes.size(); ++i) {
        inputs.push_back(Variable("x" + std::to_string(i)));
        shapes["x" + std::to_string(i)] = r.shapes[i];
      }
      make_symbol(r.op, "node", inputs, r.attrs).infer_shape(shapes);
    });
    EXPECT_NE(error.find(r.text), std::string::npos) << error;
  }
}

TEST(BadInputArithmetic, an_image_without_rows_has_no_ratio) {
  const NDArray image = NDArray::zeros({0, 4, 3});
  const std::string error = error_of([&] {
    run("_image_resize", {image}, {{"size", "(2,)"}, {"keep_ratio", "True"}});
  });
  EXPECT_NE(error.find("is empty and has no ratio"), std::string::npos) << error;
}

// More than 2^47 bytes cannot be addressed, and tables as long must not be begun before that.
TEST(BadInputArithmetic, an_output_that_no_memory_holds_fails_before_its_tables) {
  const std::string large = "70368744177664";  // 2^46
  const Refused calls[] = {
      {"Pad",
       {{"mode", "edge"}, {"pad_width", "(0,0,0,0,0,0,0," + large + ")"}},
       {{1, 1, 2, 2}},
       ""},
      {"_image_resize", {{"size", "(" + large + ", 1)"}}, {{2, 2, 3}}, ""},
      {"_contrib_AdaptiveAvgPooling2D",
       {{"output_size", "(1, " + large + ")"}},
       {{1, 1, 2, 2}},
       ""},
  };
  for (const Refused& r : calls) {
    for (const bool bound : {false, true}) {
      SCOPED_TRACE(r.op);
      try {
        if (bound) {
          make_symbol(r.op, "node", std::vector{Variable("x")}, r.attrs)
              .simple_bind(cpu(), {{"x", r.shapes[0]}}, {.grad_req = "null"});
        } else {
          run(r.op, {NDArray::zeros(r.shapes[0])}, r.attrs);
        }
        FAIL();
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::kMemory) << e.what();
      }
    }
  }
}

TEST(BadInputArithmetic, transpose_with_axes_of_no_array_is_recorded) {
  NDArray x = NDArray::ones({2, 3});
  x.attach_grad();
  for (const char* axes :
       {"(9223372036854775807, 0)", "(-9223372036854775807, 0)", "(5, 0)", "(0, 0)", "(7,)"}) {
    autograd::Record recording(true);
    EXPECT_NE(error_of([&] { run("transpose", {x}, {{"axes", axes}}); }), "") << axes;
  }
}

TEST(BadInputArithmetic, the_number_of_a_device) {
  for (const char* ctx :
       {"cpu(99999999999999999999)", "cpu(2147483648)", "cpu(-1)", "cpu(x)", "cpu(0", "cpu(0)0"}) {
    const std::string error = error_of([&] {
      run("_zeros", {}, {{"shape", "(2,)"}, {"ctx", ctx}});
    });
    EXPECT_NE(error.find("is not a context"), std::string::npos) << ctx << ": " << error;
  }
  EXPECT_EQ(run("_zeros", {}, {{"shape", "(2,)"}, {"ctx", "cpu(3)"}})[0].context(), cpu(3));
}

// ---- Numbers that are odd but right -------------------------------------------------------------

TEST(Arithmetic, a_step_beyond_the_array_takes_one_element) {
  const NDArray x({0, 1, 2, 3, 4}, {5});
  for (const char* step : {"4611686018427387904", "9223372036854775807", "5"}) {
    const AttrDict up = {
        {"begin", "(1,)"}, {"end", "(None,)"}, {"step", "(" + std::string(step) + ",)"}};
    const AttrDict down = {
        {"begin", "(3,)"}, {"end", "(None,)"}, {"step", "(-" + std::string(step) + ",)"}};
    EXPECT_EQ(run("slice", {x}, up)[0].to_vector<float>(), std::vector<float>{1}) << step;
    EXPECT_EQ(run("slice", {x}, down)[0].to_vector<float>(), std::vector<float>{3}) << step;
    AttrDict assign = up;
    assign["scalar"] = "9";
    EXPECT_EQ(run("_slice_assign_scalar", {x}, assign)[0].to_vector<float>(),
              (std::vector<float>{0, 9, 2, 3, 4}))
        << step;
  }
}

TEST(Arithmetic, eye_far_from_its_diagonal_is_zero) {
  for (const char* k : {"9223372036854775807", "-9223372036854775808", "2", "-3"})
    EXPECT_EQ(run("_eye", {}, {{"N", "3"}, {"M", "2"}, {"k", k}})[0].to_vector<float>(),
              std::vector<float>(6, 0))
        << k;
  EXPECT_EQ(run("_eye", {}, {{"N", "2"}, {"M", "2"}, {"k", "-1"}})[0].to_vector<float>(),
            (std::vector<float>{0, 0, 1, 0}));
}

// The window of (2^31 − 1)³ places holds one element and counts its padding.
TEST(Arithmetic, an_average_over_more_places_than_64_bits_count) {
  const std::string kernel = "(2147483647, 2147483647, 2147483647)";
  const std::string pad = "(2147483646, 2147483646, 2147483646)";
  const NDArray y =
      run("Pooling", {NDArray::ones({1, 1, 1, 1, 1})},
          {{"kernel", kernel}, {"stride", kernel}, {"pad", pad}, {"pool_type", "avg"}})
          .at(0);
  const double side = 2147483647.0;
  ASSERT_EQ(y.shape(), (Shape{1, 1, 1, 1, 1}));
  EXPECT_NEAR(y.to_vector<float>()[0] * side * side * side, 1, 1e-5);
}

TEST(Arithmetic, as_many_bins_as_an_attribute_can_say) {
  const auto shapes = make_symbol("_histogram", "h", std::vector{Variable("x")},
                                  {{"bin_cnt", "2147483647"}, {"range", "(0, 1)"}})
                          .infer_shape({{"x", {4}}});
  EXPECT_EQ(shapes.outputs[1], (Shape{2147483648}));
}

TEST(Arithmetic, bytes_averaged_over_a_large_area) {
  const NDArray image = NDArray::full({4096, 4096, 1}, 255, cpu(), DType::kUint8);
  const NDArray mean = run("_image_resize", {image}, {{"size", "(1, 1)"}, {"interp", "3"}}).at(0);
  EXPECT_EQ(mean.to_vector<std::uint8_t>(), std::vector<std::uint8_t>{255});
}

// MXNet 1.9.1 gives these numbers.
TEST(Arithmetic, integers_wrap_around) {
  constexpr std::int64_t k62 = std::int64_t{1} << 62,
                         kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(run("sum", {whole({k62, k62, k62})}, {})[0].to_vector<std::int64_t>()[0], -k62);
  EXPECT_EQ(run("prod", {whole({k62, 2})}, {})[0].to_vector<std::int64_t>()[0], kLeast);
  EXPECT_EQ(run("cumsum", {whole({2147483647, 1}, DType::kInt32)}, {{"axis", "0"}})[0]
                .to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{2147483647, -2147483648}));
  EXPECT_EQ(run("_Power", {whole({2, 1, -1, -1}), whole({-1, -3, -3, -2})}, {})[0]
                .to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, -1, 1}));
  EXPECT_EQ(run("_Power", {whole({0}), whole({-1})}, {})[0].to_vector<std::int64_t>()[0], kLeast);
  EXPECT_EQ(
      run("_ravel_multi_index", {whole({k62, 3}).reshape(Shape{2, 1})}, {{"shape", "(1, 4)"}})[0]
          .to_vector<std::int64_t>()[0],
      3);
}

TEST(Arithmetic, hypot_of_integers_ends_at_the_largest) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(run("_hypot", {whole({3, kMost}), whole({4, kMost})}, {})[0].to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{5, kMost}));
}

// ---- Numbers of the data that are no index ------------------------------------------------------

std::vector<float> gradient_of(const char* op, const NDArray& x, const NDArray& label,
                               const AttrDict& attrs = {}) {
  const Symbol net = make_symbol(op, "head", std::vector{Variable("x"), Variable("label")}, attrs);
  Executor exe = net.simple_bind(cpu(), {{"x", x.shape()}, {"label", label.shape()}});
  x.copy_to(exe.arg_dict()["x"]);
  label.copy_to(exe.arg_dict()["label"]);
  exe.forward(true);
  exe.backward();
  return exe.grad_dict()["x"].to_vector<float>();
}

// MXNet 1.9.1 gives these numbers: dx = p where the label is no class.
TEST(Arithmetic, a_label_that_is_nan_or_infinite_is_no_class) {
  const NDArray x({1, 2, 3, 1, 2, 3, 1, 2, 3}, {3, 3}), label({kNan, kInf, 1}, {3});
  const std::vector<float> p = {0.09003057f, 0.24472848f, 0.66524094f};
  const std::vector<float> soft = gradient_of("SoftmaxOutput", x, label);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(soft[i], p[i % 3] - (i == 7 ? 1 : 0), 1e-6) << i;
  EXPECT_EQ(gradient_of("SVMOutput", x, label), (std::vector<float>{4, 6, 8, 4, 6, 8, 4, -0.f, 8}));
  // An ignore_label that is no class ignores what is none.
  const std::vector<float> ignored =
      gradient_of("SoftmaxOutput", x, label, {{"use_ignore", "True"}, {"ignore_label", "nan"}});
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(ignored[i], 0) << i;
}

// A region of the image 0 … 15: NaN makes it none, a far corner reaches as far as the image does.
TEST(Arithmetic, regions_of_nan_and_of_far_corners) {
  std::vector<float> pixels(16);
  for (std::size_t i = 0; i < 16; ++i) pixels[i] = static_cast<float>(i + 1);
  const NDArray image = NDArray::from_vector(pixels, {1, 1, 4, 4});
  const auto pooled = [&](const std::vector<float>& roi) {
    return run("ROIPooling", {image, NDArray::from_vector(roi, {1, 5})},
               {{"pooled_size", "(1, 1)"}, {"spatial_scale", "1"}})
        .at(0)
        .to_vector<float>()[0];
  };
  EXPECT_EQ(pooled({0, 1, 1, 2, 2}), 11);
  EXPECT_EQ(pooled({0, 0, 0, kInf, kInf}), 16);
  EXPECT_EQ(pooled({0, -1e6f, -1e6f, 1, 1e6f}), 14);
  EXPECT_EQ(pooled({0, 1e30f, 0, 2e30f, 3}), 0);
  for (int i = 0; i < 5; ++i) {
    std::vector<float> roi = {0, 0, 0, 3, 3};
    roi[static_cast<std::size_t>(i)] = kNan;
    EXPECT_EQ(pooled(roi), 0) << i;
  }
  EXPECT_EQ(pooled({1e30f, 0, 0, 3, 3}), 0);
  EXPECT_EQ(pooled({-kInf, 0, 0, 3, 3}), 0);
}

// MXNet 1.9.1 reads beside a table here.
TEST(Arithmetic, a_pixel_that_is_nan_spoils_no_other) {
  for (const float odd : {kNan, kInf, -kInf}) {
    const NDArray image({odd, 1, 2, 10, 200, 30, 7, odd, 7}, {1, 3, 3});
    const NDArray plain({0, 1, 2, 10, 200, 30, 7, 0, 7}, {1, 3, 3});
    for (const AttrDict& attrs : {AttrDict{{"min_factor", "0.2"}, {"max_factor", "0.2"}}}) {
      const auto got = run("_image_random_hue", {image}, attrs)[0].to_vector<float>(),
                 want = run("_image_random_hue", {plain}, attrs)[0].to_vector<float>();
      for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(got[i], want[i]) << i;
    }
    const auto jittered =
        run("_image_random_color_jitter", {image},
            {{"brightness", "0.1"}, {"contrast", "0"}, {"saturation", "0.1"}, {"hue", "0.5"}})
            .at(0)
            .to_vector<float>();
    for (std::size_t i = 3; i < 6; ++i) EXPECT_TRUE(std::isfinite(jittered[i])) << i;
  }
}

TEST(Arithmetic, background_anchors_of_any_ratio) {
  const NDArray anchors({0, 0, 1, 1, 0, 0, .1f, .1f, .8f, .8f, .9f, .9f}, {1, 3, 4});
  const NDArray label({0, 0, 0, 1, 1}, {1, 1, 5}), scores = NDArray::ones({1, 2, 3});
  for (const char* ratio : {"2", "1e30", "inf"})
    EXPECT_EQ(run("_contrib_MultiBoxTarget", {anchors, label, scores},
                  {{"negative_mining_ratio", ratio}})[2]
                  .to_vector<float>(),
              (std::vector<float>{1, 0, 0}))
        << ratio;
}

}  // namespace
}  // namespace symbind
