#pragma once
// The whole result of compiling: ordered steps with prepared kernels, every tensor with its layout
// and its memory. Immutable once made; printable; shared by threads.

#include <array>
#include <map>

#include "graph/indexed_graph.h"

namespace symbind {

enum class Phase : std::uint8_t { kForward, kBackward };

/// Who owns a tensor's memory.
enum class Home : std::uint8_t {
  kNowhere,   ///< nothing reads it, and its kernel skips it
  kScratch,   ///< nothing reads it: the arena at `offset`, during the step that writes it
  kArena,     ///< the executor's arena, at `offset`
  kArgument,  ///< bound arrays, by `index`
  kAux,
  kGradient,
  kHeadGradient,
  kOutput,
};

struct PlanTensor {
  std::string name;
  TensorDesc desc;                   ///< the form it is stored in
  DType declared = DType::kFloat32;  ///< the type that users see
  Context context;
  Home home = Home::kArena;
  int index = -1;          ///< which bound array
  bool is_opaque = false;  ///< bytes that only its kernel understands
  std::size_t bytes = 0;
  std::size_t offset = 0;  ///< in the arena of `context`
  bool in_arena() const { return home == Home::kArena || home == Home::kScratch; }
};

struct PlanStep {
  NodePtr node;       ///< null for a reorder
  std::string title;  ///< "Convolution 'conv0'", "reorder 'conv0_output'"
  std::string kernel;
  std::vector<std::string> refusals;  ///< "onednn: temperature is set"
  Phase phase = Phase::kForward;
  Context context;
  std::vector<int> in, out;                  ///< tensors
  std::vector<std::pair<int, int>> inplace;  ///< {input, output} that may share memory
  std::size_t workspace_bytes = 0, workspace_offset = 0;
  std::vector<double> values;  ///< per-call attributes
  bool is_random = false;
  std::function<Prepared()> prepare;  ///< called once memory is planned
  Prepared run;
};

/// Forward runs `count` times, for one slice of the batch after another.
struct BatchSlices {
  std::int64_t count = 1;
  std::vector<bool> args;  ///< which arguments are sliced along their first axis; outputs all are
};

struct Plan {
  std::vector<PlanTensor> tensors;
  std::vector<PlanStep> steps;
  std::size_t num_forward = 0;             ///< steps [0, num_forward) are the forward phase
  std::vector<int> outputs;                ///< tensors of the heads
  std::vector<bool> needs_head_gradient;   ///< by output
  std::map<int, std::size_t> arena_bytes;  ///< by device slot, see `contexts`
  std::vector<Context> contexts;           ///< every device the plan uses; the first is the default
  std::size_t max_live_bytes = 0;
  int reorders = 0;
  std::vector<int> zero_gradients;  ///< arguments whose gradient is zero: no output depends on them
  bool predicts = false;            ///< made for is_train = false only
  BatchSlices slices;               ///< the tensors are those of one slice
  std::string precision;            ///< what compute_dtype led to; empty where none was given
  Symbol optimized;                 ///< after the passes on symbols, without gradients

  /// An output, of the whole batch.
  TensorDesc output(std::size_t i) const;
  std::size_t total_arena_bytes() const;
  int slot_of(Context context) const;
  std::string text() const;
};

enum class GradReq : std::uint8_t { kNull, kWrite, kAdd };

/// What to compile for. Arrays are described by shape, dtype and device; compiling never reads
/// data.
struct BindSpec {
  Context context;
  ContextMap group2ctx;
  std::vector<std::string> arg_names, aux_names;
  std::vector<TensorDesc> args, aux;
  std::vector<Context> arg_contexts, aux_contexts;
  std::vector<GradReq> grad_req;  ///< by argument
  bool monitored = false;         ///< every output is shown: no fusion, no memory reuse
  bool predicts = false;          ///< no gradients, and is_train is never set
  bool exact = false;             ///< kernels and fusions that trade digits for speed are forbidden
  DType compute_dtype = DType::kFloat32;  ///< as requested; see compute_dtype.h
  BatchSlices slices;                     ///< what `args` are one slice of
  bool training() const;
};

/// Symbol → Plan: the passes in order.
std::shared_ptr<const Plan> compile(const Symbol& symbol, const BindSpec& spec);

}  // namespace symbind
