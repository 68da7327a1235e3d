// Shape inference of a case, both ways: run on the operator's rule alone.

#include <gtest/gtest.h>

#include "tests/support/op_run.h"

namespace symbind {
namespace {

struct Known {
  std::vector<Shape> in, out;
  std::vector<DType> in_dtypes, out_dtypes;
};

class Rule {
 public:
  explicit Rule(const OpCase& c) : case_(c), op_(definition(c)), attrs_(parsed_attrs(c)) {
    for (const OpCase::Input& i : c.inputs()) truth_.in.push_back(i.value.shape);
    truth_.in_dtypes = input_dtypes(c, c.types().at(0));
    truth_.out.assign(op_.output_names(attrs_.get()).size(), Shape::unknown());
    truth_.out_dtypes.assign(truth_.out.size(), DType::kUnknown);
    run(truth_);
    run(truth_);
  }

  const Known& truth() const { return truth_; }

  /// What follows must not contradict the truth.
  Known follow(Known known, const std::string& what) {
    try {
      for (int i = 0; i < 3; ++i) run(known);
    } catch (const Inference::Conflict& e) {
      ADD_FAILURE() << what << ": contradiction, given " << e.given << ", needed " << e.needed
                    << " because " << e.because;
    } catch (const Error& e) {
      ADD_FAILURE() << what << ": " << e.what();
    }
    agree(known.in, truth_.in, what + ": input ");
    agree(known.out, truth_.out, what + ": output ");
    for (std::size_t i = 0; i < known.in_dtypes.size(); ++i) {
      EXPECT_TRUE(known.in_dtypes[i] == DType::kUnknown ||
                  known.in_dtypes[i] == truth_.in_dtypes[i])
          << what << ": dtype of input " << i;
    }
    return known;
  }

 private:
  void run(Known& k) {
    Inference io(k.in, k.out, k.in_dtypes, k.out_dtypes);
    op_.infer(attrs_.get(), io);
  }
  void agree(const std::vector<Shape>& found, const std::vector<Shape>& truth,
             const std::string& what) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      Shape merged = found[i];
      EXPECT_TRUE(!truth[i].known() || merge(merged, truth[i]))
          << what << i << " became " << found[i].str() << ", it is " << truth[i].str();
    }
  }

  const OpCase& case_;
  const OpDef& op_;
  std::shared_ptr<const void> attrs_;
  Known truth_;
};

}  // namespace

void check_op_shapes(const OpCase& c) {
  Rule rule(c);
  const Known& truth = rule.truth();
  if (!c.is_imperative()) {
    BoundCase bound(c, {.dtype = c.types().at(0)});
    const HostTensors out = bound.forward();
    for (std::size_t o = 0; o < out.size(); ++o)
      EXPECT_EQ(out[o].shape.str(), truth.out[o].str()) << "shape of output " << o;
  }
  for (std::size_t i = 0; i < truth.in.size(); ++i) {
    const std::string what = "without input " + std::to_string(i);
    Known k = truth;
    k.in[i] = Shape::unknown();
    rule.follow(k, what);
    k.in[i] = Shape::of_rank(truth.in[i].rank());
    rule.follow(k, what + "'s extents");
    for (int axis = 0; axis < truth.in[i].rank(); ++axis) {
      k = truth;
      k.in[i][axis] = kUnknownDim;
      rule.follow(k, what + "'s extent " + std::to_string(axis));
      k.out.assign(truth.out.size(), Shape::unknown());
      rule.follow(k, what + "'s extent " + std::to_string(axis) + " and the outputs");
    }
    k = truth;
    k.out.assign(truth.out.size(), Shape::unknown());
    k.in[i] = Shape::unknown();
    k.in_dtypes[i] = DType::kUnknown;
    rule.follow(k, what + " and the outputs");
  }
  Known k = truth;
  k.in.assign(truth.in.size(), Shape::unknown());
  rule.follow(k, "outputs only");
  k.out.assign(truth.out.size(), Shape::unknown());
  rule.follow(k, "no shape at all");
  k.in_dtypes.assign(truth.in.size(), DType::kUnknown);
  k.out_dtypes.assign(truth.out.size(), DType::kUnknown);
  rule.follow(k, "nothing at all");
  if (c.recovered().empty()) return;
  k = truth;
  if (c.recovered().size() < truth.in.size()) k.out.assign(truth.out.size(), Shape::unknown());
  for (const int i : c.recovered()) k.in[static_cast<std::size_t>(i)] = Shape::unknown();
  const Known found = rule.follow(k, "without the inputs that follow");
  for (const int i : c.recovered())
    EXPECT_EQ(found.in[static_cast<std::size_t>(i)].str(),
              truth.in[static_cast<std::size_t>(i)].str())
        << "input " << i << " follows from the others";
}

}  // namespace symbind
