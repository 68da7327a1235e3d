#pragma once
// One call of an operator, drawn at random or read from a line of JSON, and run with everything a
// user could do to it: by itself, under autograd, bound; some outputs unread; heads that do not
// fit.

#include <string>
#include <vector>

#include <symbind/attributes.h>
#include <symbind/shape.h>

namespace symbind::fuzz {

struct CallInput {
  std::vector<std::int64_t> shape;
  std::string dtype = "float32";
  std::string fill = "usual";  ///< one of kFills
  std::uint64_t seed = 0;
};

struct OperatorCall {
  std::string op;
  AttrDict attrs = {};
  std::vector<CallInput> inputs = {};
  std::string way = "invoke";  ///< "invoke", "record" (autograd), "bind"
  bool train = true;
  std::uint64_t unread = 0;   ///< a bit for each output that nothing reads
  std::string heads = "fit";  ///< "fit", "none", "shape", "dtype", "wild"
  std::string out = "fresh";  ///< "fresh", "dtype", "shape", "input": the out= of an invoke
  bool overwrites = false;    ///< outputs are written over between forward and backward
};

/// Operators that users and files may call.
std::vector<std::string> operators_to_call();
/// The same seed draws the same call, given the same base.
OperatorCall draw_call(const std::string& op, std::uint64_t seed);
/// Calls that are known to run, one a line with op, attrs and inputs: from now on most calls are
/// drawn as one of them with something changed. Returns how many there are.
std::size_t use_base(const std::string& path);

std::string to_line(const OperatorCall& call);
OperatorCall from_line(const std::string& line);

enum class Outcome { kRan, kRefused, kSkipped };
/// Runs a call. Refused: it ended in an Error. Skipped: its outputs would take over 16 MB. Whatever
/// else leaves it is a finding.
Outcome run_call(const OperatorCall& call);

/// The call as a network of one node, with shapes and types on its variables: a seed for `symbol`.
std::string to_symbol_json(const OperatorCall& call);

}  // namespace symbind::fuzz
