#pragma once
// What a layer still does to its output before it writes it: a list of short operations, in order.
// Passes make epilogues from the operators after a layer; one fused operator per layer takes any.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symbind {

/// One operation on every element x of the output. Its operands are inputs of the fused operator.
struct EpilogueItem {
  enum class Kind : std::uint8_t {
    kBatchNorm,  ///< with given statistics; a: eps, b: 1 if gamma counts as 1; gamma, beta, mean,
                 ///< variance
    kSum,        ///< x + another tensor of the output's shape
    kProduct,    ///< x times another tensor of the output's shape
    kRelu,       ///< of a NaN: 0
    kLeaky,      ///< a: the slope below 0
    kPRelu,      ///< a slope per channel, or one
    kElu,        ///< a: the factor below 0
    kClip,       ///< to [a, b]; keeps NaN
    kSigmoid,
    kTanh,
    kSoftRelu,
    kGelu,
    kSwish,  ///< x · sigmoid(x)
  };
  Kind kind = Kind::kRelu;
  double a = 0, b = 0;
  bool operator==(const EpilogueItem&) const = default;
};
using Epilogue = std::vector<EpilogueItem>;

/// How many inputs an operation reads beside x.
int num_operands(EpilogueItem::Kind kind);
/// Their names, as inputs of an operator.
std::vector<std::string> operand_names(EpilogueItem::Kind kind);
/// "batch_norm:0.001:1,sum,relu"; the numbers are exact. Empty for an empty list.
std::string epilogue_text(const Epilogue& epilogue);
/// The reverse; throws kValue.
Epilogue parse_epilogue(std::string_view text);

}  // namespace symbind
