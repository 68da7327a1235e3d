// The text of an epilogue. It is an attribute of fused operators, so it must identify the
// operations exactly: numbers have as many digits as reading them back needs.

#include <symbind/epilogue.h>

#include <charconv>

#include <fmt/format.h>

#include "base/check.h"

namespace symbind {
namespace {

using Kind = EpilogueItem::Kind;

struct Row {
  Kind kind;
  const char* name;
  int numbers;
  std::vector<std::string> operands;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {Kind::kBatchNorm, "batch_norm", 2, {"gamma", "beta", "moving_mean", "moving_var"}},
      {Kind::kSum, "sum", 0, {"sum_data"}},
      {Kind::kProduct, "product", 0, {"product_data"}},
      {Kind::kRelu, "relu", 0, {}},
      {Kind::kLeaky, "leaky", 1, {}},
      {Kind::kPRelu, "prelu", 0, {"slope"}},
      {Kind::kElu, "elu", 1, {}},
      {Kind::kClip, "clip", 2, {}},
      {Kind::kSigmoid, "sigmoid", 0, {}},
      {Kind::kTanh, "tanh", 0, {}},
      {Kind::kSoftRelu, "softrelu", 0, {}},
      {Kind::kGelu, "gelu", 0, {}},
      {Kind::kSwish, "swish", 0, {}},
  };
  return all;
}

const Row& row_of(Kind kind) {
  for (const Row& row : rows())
    if (row.kind == kind) return row;
  SYMBIND_ASSERT(false);
  return rows().front();
}

/// The text up to `separator`, which is removed from `text` with it.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

double number_of(std::string_view text, std::string_view whole) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size(), ErrorKind::kValue,
        "'{}' in the epilogue '{}' is not a number", text, whole);
  return value;
}

}  // namespace

int num_operands(Kind kind) { return static_cast<int>(row_of(kind).operands.size()); }

std::vector<std::string> operand_names(Kind kind) { return row_of(kind).operands; }

std::string epilogue_text(const Epilogue& epilogue) {
  std::string text;
  for (const EpilogueItem& item : epilogue) {
    const Row& row = row_of(item.kind);
    if (!text.empty()) text += ',';
    text += row.name;
    if (row.numbers > 0) text += fmt::format(":{}", item.a);
    if (row.numbers > 1) text += fmt::format(":{}", item.b);
  }
  return text;
}

Epilogue parse_epilogue(std::string_view text) {
  const std::string_view whole = text;
  Epilogue epilogue;
  while (!text.empty()) {
    std::string_view part = take(text, ',');
    const std::string_view name = take(part, ':');
    const Row* found = nullptr;
    for (const Row& row : rows())
      if (row.name == name) found = &row;
    check(found != nullptr, ErrorKind::kValue, "the epilogue '{}' has an unknown operation '{}'",
          whole, name);
    EpilogueItem item{.kind = found->kind};
    if (found->numbers > 0) item.a = number_of(take(part, ':'), whole);
    if (found->numbers > 1) item.b = number_of(take(part, ':'), whole);
    check(part.empty(), ErrorKind::kValue, "'{}' in the epilogue '{}' has too many numbers", name,
          whole);
    epilogue.push_back(item);
  }
  return epilogue;
}

}  // namespace symbind
