#include "kernels/onednn/internal.h"

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <string_view>

#include "base/check.h"
#include "base/signals.h"
#include "ndarray/storage.h"

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
  static const dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}

MemoryDesc describe(const Shape& shape, Layout layout) {
  return {shape.dims(), dnnl::memory::data_type::f32, tag_of(shape.rank(), layout)};
}

MemoryDesc describe_any(const Shape& shape) {
  return {shape.dims(), dnnl::memory::data_type::f32, Tag::any};
}

std::optional<Layout> layout_of(const MemoryDesc& desc, const Shape& shape) {
  for (const Layout layout : {Layout::kBlocked16, Layout::kBlocked8, Layout::kPlain}) {
    const bool divides =
        layout == Layout::kPlain ||
        (shape.rank() >= 3 && shape[1] % (layout == Layout::kBlocked16 ? 16 : 8) == 0);
    if (divides && describe(shape, layout) == desc) return layout;
  }
  return std::nullopt;
}

Layout widest_layout(const Shape& shape) {
  if (shape.rank() < 3) return Layout::kPlain;
  return shape[1] % 16 == 0 ? Layout::kBlocked16 : Layout::kPlain;
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
  void run(const dnnl::primitive& primitive, const std::initializer_list<void*>& pointers,
           void* scratch) {
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

void Call::operator()(std::initializer_list<void*> pointers, void* scratch) const {
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

/// A short name of a form: equal descriptions have equal names. It fits std::string's internal
/// buffer, so that looking up a form allocates nothing.
std::string form_key(const MemoryDesc& packed) {
  std::uint64_t hash = 1469598103934665603u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&packed.data);
  for (std::size_t i = 0; i < sizeof(packed.data); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
  return text;
}

/// One object for all primitives that read forms of this name: arrays keep a form during its
/// lifetime. So forms are freed with the plans that use them, and plans that use the same form
/// share it.
std::shared_ptr<const void> use_of(const std::string& key) {
  struct Uses {
    std::mutex guard;
    std::map<std::string, std::weak_ptr<const std::string>> by_key;
  };
  static Uses& uses = *new Uses;  // never destroyed: plans may be made after main
  const std::lock_guard lock(uses.guard);
  std::erase_if(uses.by_key, [](const auto& one) { return one.second.expired(); });
  auto& known = uses.by_key[key];
  std::shared_ptr<const std::string> use = known.lock();
  if (use == nullptr) known = use = std::make_shared<const std::string>(key);
  return use;
}

/// Where a weight is packed that users may write at any time: a form cached with the array could be
/// rewritten while another thread reads it. One block per thread, as large as the largest such
/// weight.
void* thread_buffer(std::size_t bytes) {
  thread_local std::unique_ptr<DerivedForm> buffer;
  if (buffer == nullptr || buffer->bytes() < bytes)
    buffer = std::make_unique<DerivedForm>(cpu(), bytes);
  return buffer->data();
}

}  // namespace

Packing::Packing(const MemoryDesc& plain, const MemoryDesc& packed, bool constant,
                 Carver& workspace)
    : constant_(constant) {
  if (plain == packed) return;
  bytes_ = packed.get_size();
  reorder_ = make_reorder(plain, packed, scratch_bytes_);
  key_ = form_key(packed);
  if (constant_)
    use_ = use_of(key_);
  else
    offset_ = workspace.take(bytes_);
}

void* Packing::pack(const TensorArg& weight, void* into, void* scratch) const {
  reorder_({weight.data, into}, scratch);
  return into;
}

void* Packing::operator()(const Args& args, int input, void* scratch) const {
  const TensorArg& weight = args.inputs[input];
  if (bytes_ == 0) return weight.data;
  if (!constant_) return pack(weight, at(args, offset_), scratch);
  SYMBIND_ASSERT(weight.storage != nullptr);
  if (weight.storage->escaped()) return pack(weight, thread_buffer(bytes_), scratch);
  const auto offset = static_cast<char*>(weight.data) - static_cast<char*>(weight.storage->data());
  DerivedForm& form = weight.storage->derived(key_, bytes_, static_cast<std::size_t>(offset), use_);
  form.refresh(*weight.storage, [&](void* into) { pack(weight, into, scratch); });
  return form.data();
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
