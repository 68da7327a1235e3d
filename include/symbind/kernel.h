#pragma once
// What a kernel is: it returns an Offer before layouts and memory are decided, then prepares a
// callable that runs with fixed descriptions. A step itself looks up and decides nothing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <symbind/context.h>
#include <symbind/dtype.h>
#include <symbind/shape.h>

namespace symbind {

class Storage;

/// The memory layout of a tensor of rank ≥ 3 inside an executor. Users only ever see kPlain.
/// kBlocked16 is N, C/16, spatial…, 16 (C must divide); kChannelsLast is N, spatial…, C.
enum class Layout : std::uint8_t { kPlain, kBlocked8, kBlocked16, kChannelsLast };
const char* layout_name(Layout layout);

struct TensorDesc {
  Shape shape;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kPlain;

  std::size_t bytes() const;
  bool operator==(const TensorDesc&) const = default;
};
/// Whether two layouts of this shape are the same bytes (a 1×1 image, a single channel block).
bool same_bytes(const Shape& shape, Layout a, Layout b);

/// What is known of a node when its kernels make offers.
struct KernelRequest {
  DeviceType device = DeviceType::kCpu;
  Context context;  ///< where it will run
  /// With the layouts the producers chose and the type to compute in: a 16-bit input may be
  /// described as float32, and is then converted unless the offer asks for the type it is stored
  /// in.
  std::vector<TensorDesc> in;
  std::vector<TensorDesc> out;  ///< the kernel chooses the layouts; opaque ones have no shape
  std::vector<bool> wanted;     ///< outputs that something reads
  std::vector<bool>
      constant;               ///< inputs worth keeping in derived form: parameters without gradient
  std::vector<DType> stored;  ///< the types in which the inputs are stored; empty: as in `in`
  bool training = false;      ///< a backward pass follows
  bool exact = false;         ///< kernels that trade digits for speed must refuse
  /// kBFloat16: kernels may round their inputs and outputs to bfloat16.
  DType compute_dtype = DType::kFloat32;
  int threads = 1;

  DType stored_dtype(std::size_t input) const {
    return stored.empty() ? in[input].dtype : stored[input];
  }
};

/// What a kernel can do for a node: its inputs' and outputs' layouts and types and the memory it
/// needs; or why it refuses.
struct Offer {
  std::string refusal;  ///< empty when the kernel accepts
  std::vector<Layout> in_layouts, out_layouts;
  std::vector<DType> in_dtypes, out_dtypes;  ///< empty: those of the request
  std::size_t workspace_bytes = 0;
  std::vector<std::size_t> opaque_bytes;  ///< sizes of the opaque outputs, by output index
  /// {input, output} that may share memory; instead of those that the operator declares.
  std::optional<std::vector<std::pair<int, int>>> inplace;
  std::shared_ptr<const void> plan;  ///< private data for `prepare`
  bool accepted() const { return refusal.empty(); }
  /// The type of one input or output; `requested` is that of the request.
  DType in_dtype(std::size_t i, DType requested) const {
    return in_dtypes.empty() ? requested : in_dtypes[i];
  }
  DType out_dtype(std::size_t i, DType requested) const {
    return out_dtypes.empty() ? requested : out_dtypes[i];
  }
};
Offer refuse(std::string reason);
/// Plain layouts everywhere, no workspace.
Offer accept_plain(const KernelRequest& request, std::size_t workspace_bytes = 0);
/// Sets the offer's types to those of the request: kernels then change some of them.
void state_dtypes(Offer& offer, const KernelRequest& request);
/// For elementwise kernels: every tensor of the common shape uses the blocked layout if one of them
/// has it.
Offer accept_same_layout(const KernelRequest& request);

/// One tensor at run time.
struct TensorArg {
  /// Null for an unread output that the operator skips (OpBuilder::skips_unread), and for an input
  /// of which only the shape is read.
  void* data = nullptr;
  Storage* storage = nullptr;  ///< of bound arrays: owns cached derived forms
};

/// The state a step runs in.
struct RunState {
  bool is_train = false;
  void* stream = nullptr;  ///< the device's native stream
  std::uint64_t random_seed = 0;
  std::uint64_t random_draw = 0;  ///< distinct for every random step that runs
};

/// What a prepared kernel receives.
struct Args {
  const TensorArg* inputs = nullptr;
  const TensorArg* outputs = nullptr;
  void* workspace = nullptr;
  const double* values = nullptr;         ///< per-call attributes, in the order they are described
  const double* device_values = nullptr;  ///< the same on the device, where there is one
  const RunState* run = nullptr;

  template <class T>
  const T* in(int i) const {
    return static_cast<const T*>(inputs[i].data);
  }
  template <class T>
  T* out(int i) const {
    return static_cast<T*>(outputs[i].data);
  }
  /// Inputs that the operator declared mutable.
  template <class T>
  T* mutable_in(int i) const {
    return static_cast<T*>(inputs[i].data);
  }
  /// Whether output i has memory. False only where the operator declares that it skips unread
  /// outputs; elsewhere an unread output has scratch memory and is written like any other.
  bool wants(int i) const { return outputs[i].data != nullptr; }
};

using Prepared = std::function<void(const Args&)>;

/// A kernel as the registry stores it; attributes are type-erased.
struct KernelDef {
  DeviceType device = DeviceType::kCpu;
  std::string name;
  std::function<Offer(const void* attrs, const KernelRequest&)> offer;
  std::function<Prepared(const void* attrs, const KernelRequest&, const Offer&)> prepare;
};

}  // namespace symbind
