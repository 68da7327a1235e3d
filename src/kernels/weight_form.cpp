#include "kernels/weight_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "kernels/element_type.h"
#include "ndarray/storage.h"

namespace symbind {

namespace {

/// One object for all kernels that read forms of this name: arrays keep a form during its
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

/// Where a form is made whose arrays users may write at any time: a form kept with the array could
/// be rewritten while another thread reads it. One block per thread, as large as the largest.
void* thread_buffer(std::size_t bytes) {
  thread_local std::unique_ptr<DerivedForm> buffer;
  if (buffer == nullptr || buffer->bytes() < bytes)
    buffer = std::make_unique<DerivedForm>(cpu(), bytes);
  return buffer->data();
}

std::size_t offset_of(const TensorArg& array) {
  return static_cast<std::size_t>(static_cast<char*>(array.data) -
                                  static_cast<char*>(array.storage->data()));
}

std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// A form with its bias has the channels' biases after the weight, and a last number: whether a
/// BatchNorm is folded in.
std::size_t bytes_of(std::size_t weight, const LayerInputs& inputs) {
  if (inputs.batch_norm < 0 && !inputs.narrow_bias()) return weight;
  return rounded(weight) + (static_cast<std::size_t>(inputs.channels) + 1) * sizeof(float);
}

std::string key_of(const std::string& weight, const LayerInputs& inputs) {
  const bool narrow = inputs.narrow_weight() || inputs.narrow_bias();
  const auto types = static_cast<std::size_t>(inputs.weight_dtype) * 16 +
                     static_cast<std::size_t>(inputs.bias_dtype);
  if (inputs.batch_norm < 0) return narrow ? fmt::format("{}n{:x}", weight, types) : weight;
  const std::size_t fold =
      std::hash<double>()(inputs.fix_gamma ? -inputs.eps : inputs.eps) ^ (types * 0x9e3779b1u);
  return fmt::format("{}{:x}", weight, (fold ^ (fold >> 32)) & 0xfffffff);
}

}  // namespace

std::string form_key(const void* bytes, std::size_t count) {
  std::uint64_t hash = 1469598103934665603u;
  const auto* all = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ all[i]) * 1099511628211u;
  char text[16];
  std::snprintf(text, sizeof(text), "%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
  return text;
}

std::string form_key(std::initializer_list<std::int64_t> numbers) {
  return form_key(numbers.begin(), numbers.size() * sizeof(std::int64_t));
}

WeightForm::WeightForm(std::string key, std::size_t bytes, bool constant, Carver& workspace)
    : bytes_(bytes), constant_(constant), key_(std::move(key)) {
  SYMBIND_ASSERT(key_.size() <= 15);
  if (constant_)
    use_ = use_of(key_);
  else
    offset_ = workspace.take(bytes_);
}

void* WeightForm::get(const Args& args, std::span<const int> sources,
                      FunctionRef<void(void*)> make) const {
  if (!constant_) {
    make(at(args, offset_));
    return at(args, offset_);
  }
  std::array<const Storage*, 1 + std::tuple_size_v<FormSources>> storages{};
  FormSources also{};
  SYMBIND_ASSERT(!sources.empty() && sources.size() <= storages.size());
  bool escaped = false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const TensorArg& array = args.inputs[sources[i]];
    SYMBIND_ASSERT(array.storage != nullptr);
    storages[i] = array.storage;
    escaped |= array.storage->escaped();
    if (i > 0) also[i - 1] = {array.storage->id(), offset_of(array)};
  }
  if (escaped) {
    void* memory = thread_buffer(bytes_);
    make(memory);
    return memory;
  }
  const TensorArg& owner = args.inputs[sources[0]];
  DerivedForm& form = owner.storage->derived(key_, bytes_, offset_of(owner), use_, also);
  form.refresh(std::span(storages.data(), sources.size()), make);
  return form.data();
}

LayerInputs layer_inputs(bool bias, std::int64_t channels, const Epilogue& epilogue,
                         const KernelRequest& request) {
  LayerInputs inputs{.bias = bias ? 2 : -1, .channels = channels};
  if (!epilogue.empty() && epilogue.front().kind == EpilogueItem::Kind::kBatchNorm) {
    inputs.batch_norm = bias ? 3 : 2;
    inputs.eps = epilogue.front().a;
    inputs.fix_gamma = epilogue.front().b != 0;
  }
  const auto is_kept_narrow = [&](std::size_t input) {
    return request.constant.size() > input && request.constant[input] &&
           is_narrow(request.stored_dtype(input));
  };
  if (is_kept_narrow(1)) inputs.weight_dtype = request.stored_dtype(1);
  if (bias && request.constant.size() > 1 && request.constant[1] && is_kept_narrow(2))
    inputs.bias_dtype = request.stored_dtype(2);
  return inputs;
}

void take_stored(Offer& offer, const KernelRequest& request, const LayerInputs& inputs) {
  if (!inputs.narrow_weight() && !inputs.narrow_bias()) return;
  if (offer.in_dtypes.empty()) state_dtypes(offer, request);
  if (inputs.narrow_weight())
    offer.in_dtypes[static_cast<std::size_t>(inputs.weight)] = inputs.weight_dtype;
  if (inputs.narrow_bias())
    offer.in_dtypes[static_cast<std::size_t>(inputs.bias)] = inputs.bias_dtype;
}

namespace {

/// Numbers of an array as float32: its own, or converted ones.
class Floats {
 public:
  Floats(const void* data, DType dtype, std::int64_t count) {
    if (dtype == DType::kFloat32) {
      data_ = static_cast<const float*>(data);
      return;
    }
    converted_.resize(static_cast<std::size_t>(count));
    fast_converter(dtype, DType::kFloat32)(data, converted_.data(), count);
    data_ = converted_.data();
  }
  const float* data() const { return data_; }

 private:
  std::vector<float> converted_;
  const float* data_;
};

}  // namespace

LayerWeights::LayerWeights(const std::string& key, std::size_t bytes, std::int64_t size,
                           bool constant, Carver& workspace, const LayerInputs& inputs)
    : weight_bytes_(rounded(bytes)),
      row_(size / std::max<std::int64_t>(1, inputs.channels)),
      size_(size),
      is_plain_(key.empty()),
      inputs_(inputs) {
  SYMBIND_ASSERT(constant || (!keeps_bias() && !inputs_.narrow_weight()));
  if (has_form())
    form_ = WeightForm(key_of(key, inputs), bytes_of(bytes, inputs), constant, workspace);
}

LayerWeights::Form LayerWeights::get(const Args& args, Pack pack) const {
  const bool bias = inputs_.bias >= 0;
  if (!keeps_bias()) {
    const float* plain_bias = bias ? args.in<float>(inputs_.bias) : nullptr;
    if (!has_form()) return {args.inputs[inputs_.weight].data, plain_bias, false};
    void* form = form_(args, inputs_.weight, [&](void* plain, void* into) {
      pack(Floats(plain, inputs_.weight_dtype, size_).data(), into);
    });
    return {form, plain_bias, false};
  }
  std::array<int, 6> sources{inputs_.weight};
  std::size_t count = 1;
  for (int i = 0; folds() && i < 4; ++i) sources[count++] = inputs_.batch_norm + i;
  if (bias) sources[count++] = inputs_.bias;
  void* memory = form_.get(args, std::span(sources.data(), count),
                           [&](void* into) { make(args, into, pack); });
  const float* tail = reinterpret_cast<const float*>(static_cast<char*>(memory) + weight_bytes_);
  return {memory, tail, tail[inputs_.channels] != 0};
}

void LayerWeights::make_unfolded(const float* weight, const float* bias, void* memory,
                                 Pack pack) const {
  float* tail = reinterpret_cast<float*>(static_cast<char*>(memory) + weight_bytes_);
  for (std::int64_t c = 0; c < inputs_.channels; ++c) tail[c] = bias == nullptr ? 0 : bias[c];
  tail[inputs_.channels] = 0;
  pack(weight, memory);
}

void LayerWeights::make(const Args& args, void* memory, Pack pack) const {
  const Floats weights(args.inputs[inputs_.weight].data, inputs_.weight_dtype, size_);
  const Floats biases(inputs_.bias < 0 ? nullptr : args.inputs[inputs_.bias].data,
                      inputs_.bias < 0 ? DType::kFloat32 : inputs_.bias_dtype, inputs_.channels);
  const float *w = weights.data(), *bias = biases.data();
  if (!folds()) return make_unfolded(w, bias, memory, pack);
  const float *gamma = args.in<float>(inputs_.batch_norm),
              *beta = args.in<float>(inputs_.batch_norm + 1),
              *mean = args.in<float>(inputs_.batch_norm + 2),
              *variance = args.in<float>(inputs_.batch_norm + 3);
  float* tail = reinterpret_cast<float*>(static_cast<char*>(memory) + weight_bytes_);
  std::vector<float> folded(static_cast<std::size_t>(inputs_.channels * row_));
  bool finite = true;
  for (std::int64_t c = 0; c < inputs_.channels; ++c) {
    const double scale = (inputs_.fix_gamma ? 1.0 : static_cast<double>(gamma[c])) /
                         std::sqrt(static_cast<double>(variance[c]) + inputs_.eps);
    const double b = bias == nullptr ? 0.0 : static_cast<double>(bias[c]);
    tail[c] = static_cast<float>((b - static_cast<double>(mean[c])) * scale +
                                 static_cast<double>(beta[c]));
    finite &= std::isfinite(scale) && std::isfinite(tail[c]);
    for (std::int64_t i = c * row_; i < (c + 1) * row_; ++i) {
      const float value = static_cast<float>(static_cast<double>(w[i]) * scale);
      finite &= std::isfinite(value);
      folded[static_cast<std::size_t>(i)] = value;
    }
  }
  if (!finite) return make_unfolded(w, bias, memory, pack);
  tail[inputs_.channels] = 1;
  pack(folded.data(), memory);
}

}  // namespace symbind
