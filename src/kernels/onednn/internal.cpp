#include "kernels/onednn/internal.h"

#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/cpu_isa.h"
#include "base/settings.h"
#include "base/signals.h"

namespace symbind::onednn {

namespace {

Tag tag_of(int rank, Layout layout) {
  switch (layout) {
    case Layout::kBlocked16:
      return rank == 3 ? Tag::nCw16c : rank == 4 ? Tag::nChw16c : Tag::nCdhw16c;
    case Layout::kBlocked8: return rank == 3 ? Tag::nCw8c : rank == 4 ? Tag::nChw8c : Tag::nCdhw8c;
    case Layout::kChannelsLast: return rank == 3 ? Tag::nwc : rank == 4 ? Tag::nhwc : Tag::ndhwc;
    default: break;
  }
  constexpr Tag kPlainTags[] = {Tag::a,    Tag::a,     Tag::ab,    Tag::abc,
                                Tag::abcd, Tag::abcde, Tag::abcdef};
  SYMBIND_ASSERT(rank >= 1 && rank <= 6);
  return kPlainTags[rank];
}

dnnl::memory::data_type type_of(DType dtype) {
  SYMBIND_ASSERT(dtype == DType::kFloat32 || dtype == DType::kBFloat16);
  return dtype == DType::kFloat32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

void check_status(dnnl_status_t status) {
  check(status == dnnl_success, ErrorKind::kState, "oneDNN failed with status {}",
        static_cast<int>(status));
}

/// Whether this primitive multiplies matrices by the code that base/signals.h is about.
bool moves_the_stack(const dnnl::primitive& primitive) {
  const char* name = nullptr;
  check_status(dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_impl_info_str,
                                         0, &name));
  return std::string_view(name).find("gemm") != std::string_view::npos;
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine e = [] {
    // Before the first primitive: later oneDNN accepts no limit. A limit of the user's is kept.
    if (amx_has_no_tiles() && settings::text("ONEDNN_MAX_CPU_ISA").empty())
      dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx512_core_bf16);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return e;
}

MemoryDesc describe(const Shape& shape, Layout layout, DType dtype) {
  return {shape.dims(), type_of(dtype), tag_of(shape.rank(), layout)};
}

MemoryDesc describe_any(const Shape& shape, DType dtype) {
  return {shape.dims(), type_of(dtype), Tag::any};
}

std::optional<Layout> layout_of(const MemoryDesc& desc, const Shape& shape, DType dtype) {
  for (const Layout layout : {Layout::kBlocked16, Layout::kBlocked8, Layout::kPlain}) {
    const bool divides =
        layout == Layout::kPlain ||
        (shape.rank() >= 3 && shape[1] % (layout == Layout::kBlocked16 ? 16 : 8) == 0);
    if (divides && describe(shape, layout, dtype) == desc) return layout;
  }
  if (dtype == DType::kBFloat16 && shape.rank() >= 3 &&
      describe(shape, Layout::kChannelsLast, dtype) == desc)
    return Layout::kChannelsLast;
  return std::nullopt;
}

bool is_stored_in_bfloat16(const KernelRequest& request, std::size_t input) {
  return request.compute_dtype == DType::kBFloat16 && request.in[input].dtype == DType::kFloat32 &&
         request.stored_dtype(input) == DType::kBFloat16;
}

Layout widest_layout(const Shape& shape) {
  if (shape.rank() < 3) return Layout::kPlain;
  // oneDNN has only its reference for blocks that are wider than a vector.
  if (cpu_isa() == Isa::kAvx512) return shape[1] % 16 == 0 ? Layout::kBlocked16 : Layout::kPlain;
  return shape[1] % 8 == 0 ? Layout::kBlocked8 : Layout::kPlain;
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// ---- Call ---------------------------------------------------------------------------------------

/// The memory objects of one run at a time: making them costs more than setting their pointers.
struct Call::Lane {
  explicit Lane(const Arguments& arguments) {
    for (const auto& [argument, desc] : arguments) {
      memories.push_back(dnnl::memory(desc, engine(), DNNL_MEMORY_NONE));
      given.push_back({argument, memories.back().get()});
    }
  }
  void run(const dnnl::primitive& primitive, std::span<void* const> pointers, void* scratch) {
    std::size_t i = 0;
    for (void* p : pointers) memories[i++].set_data_handle(p);
    if (i < memories.size()) memories[i].set_data_handle(scratch);
    check_status(dnnl_primitive_execute(primitive.get(), stream().get(),
                                        static_cast<int>(given.size()), given.data()));
  }
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> given;
};

struct Call::Shared {
  Shared(const dnnl::primitive& p, Arguments a)
      : primitive(p),
        needs_signals_blocked(moves_the_stack(p)),
        arguments(std::move(a)),
        lane(arguments) {}
  dnnl::primitive primitive;
  bool needs_signals_blocked;
  Arguments arguments;
  Lane lane;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
};

Call::Call(const dnnl::primitive& primitive, const MemoryDesc& scratch, Arguments arguments)
    : threads_(VendorThreads::current()) {
  if (scratch.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, scratch);
  shared_ = std::make_shared<Shared>(primitive, std::move(arguments));
}

void Call::operator()(std::span<void* const> pointers, void* scratch) const {
  const VendorThreads threads(threads_);
  note_region(threads_);
  std::optional<SignalsBlocked> blocked;
  if (shared_->needs_signals_blocked) {
    blocked.emplace();
    block_signals_in_workers(threads_);
  }
  if (shared_->busy.test_and_set(std::memory_order_acquire)) {
    Lane(shared_->arguments)
        .run(shared_->primitive, pointers, scratch);  // another thread runs it now
    return;
  }
  struct Release {
    std::atomic_flag& flag;
    ~Release() { flag.clear(std::memory_order_release); }
  } release{shared_->busy};
  shared_->lane.run(shared_->primitive, pointers, scratch);
}

// ---- Packing ------------------------------------------------------------------------------------

namespace {

Call make_reorder(const MemoryDesc& from, const MemoryDesc& to, std::size_t& scratch_bytes) {
  const dnnl::reorder::primitive_desc pd(engine(), from, engine(), to, user_scratchpad());
  scratch_bytes = pd.scratchpad_desc().get_size();
  return Call(dnnl::reorder(pd), pd.scratchpad_desc(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

}  // namespace

Packing::Packing(const MemoryDesc& plain, const MemoryDesc& packed, bool constant,
                 Carver& workspace, const LayerInputs& inputs)
    : inputs_(inputs), bytes_(packed.get_size()), reorders_(plain != packed) {
  if (reorders_) reorder_ = make_reorder(plain, packed, scratch_bytes_);
  if (is_needed())
    layer_ = LayerWeights(form_key(&packed.data, sizeof(packed.data)), bytes_,
                          static_cast<std::int64_t>(plain.get_size() / sizeof(float)), constant,
                          workspace, inputs);
}

LayerWeights::Form Packing::operator()(const Args& args, void* scratch) const {
  if (!is_needed())
    return {args.inputs[inputs_.weight].data,
            inputs_.bias < 0 ? nullptr : args.in<float>(inputs_.bias), false};
  return layer_.get(args, [&](const float* plain, void* packed) {
    if (reorders_)
      reorder_({const_cast<float*>(plain), packed}, scratch);  // oneDNN takes no const pointers
    else
      std::memcpy(packed, plain, bytes_);
  });
}

Unpacking::Unpacking(const MemoryDesc& packed, const MemoryDesc& plain, Carver& workspace)
    : needed_(packed != plain) {
  if (!needed_) return;
  offset_ = workspace.take(packed.get_size());
  reorder_ = make_reorder(packed, plain, scratch_bytes_);
}

void* Unpacking::target(const Args& args, int output) const {
  return needed_ ? at(args, offset_) : args.outputs[output].data;
}

void Unpacking::operator()(const Args& args, int output, void* scratch) const {
  if (needed_) reorder_({at(args, offset_), args.outputs[output].data}, scratch);
}

}  // namespace symbind::onednn
