// Decided here: one push at a time acts, at once and as a whole. The first value of a key and the
// optimizer are those of worker 0; the others wait for them, because the workers do not start at
// the same moment. A worker 0 that was lost and joins again changes neither.

#include "kvstore/value_server.h"

#include <chrono>

#include <fmt/format.h>

#include "base/check.h"
#include "kvstore/compression.h"
#include "kvstore/wire.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

/// "float32 (2, 3)"
std::string kind_text(DType dtype, const Shape& shape) {
  return fmt::format("{} {}", dtype_name(dtype), shape.str());
}

void check_sent(const net::ValueCall& call, const Key& key, const NDArray& value) {
  const Shape shape = sent_shape(call);
  check(value.shape() == shape && static_cast<int>(value.dtype()) == call.dtype, ErrorKind::kShape,
        "kvstore: key {} is {}, but worker {} gives {}", key_text(key),
        kind_text(value.dtype(), value.shape()), call.worker, kind_text(sent_dtype(call), shape));
}

/// The gradient of a push, of the type of the value.
NDArray gradient_of(const net::ValueCall& call, const Key& key, const NDArray& value) {
  if (call.text.empty()) return sent_array(call);
  const auto compression = GradientCompression::from_text(call.text);
  const Shape shape = sent_shape(call);
  check(static_cast<std::int64_t>(call.bytes.size()) == compression.compressed_bytes(shape.size()),
        ErrorKind::kShape, "kvstore: a compressed push of key {} has {} bytes", key_text(key),
        call.bytes.size());
  GradientCompression::check_dtype(key, value.dtype());
  NDArray gradient(shape, cpu(), value.dtype());
  compression.decompress(call.bytes, {reinterpret_cast<float*>(write_pointer(gradient)),
                                      static_cast<std::size_t>(gradient.size())});
  return gradient;
}

}  // namespace

net::ValueAnswer ValueServer::answer(const net::ValueCall& call,
                                     const std::function<bool()>& ending) {
  using Verb = net::ValueCall::Verb;
  net::ValueAnswer answer;
  switch (call.verb) {
    case Verb::kInit: init(call); break;
    case Verb::kExpect: expect(call, ending); break;
    case Verb::kPush: push(call); break;
    case Verb::kPull: return pull(call);
    case Verb::kAssign: assign(call); break;
    case Verb::kSetOptimizer: set_optimizer(call); break;
    case Verb::kAwaitOptimizer: {
      Lock lock(guard_);
      await(lock, ending, [&] { return update_.has_value(); });
      break;
    }
    case Verb::kStates: {
      const Lock lock(guard_);
      answer.text = update().states();
      break;
    }
    case Verb::kSetStates: {
      const Lock lock(guard_);
      if (!call.rejoined) update().set_states(call.text);
      break;
    }
  }
  return answer;
}

void ValueServer::await(Lock& lock, const std::function<bool()>& ending,
                        const std::function<bool()>& there) {
  while (!changed_.wait_for(lock, kBetweenLooks, there))
    check(!ending(), ErrorKind::kState, "the server ends");
}

NDArray& ValueServer::stored(const net::ValueCall& call) {
  const Key key = key_from_wire(call.key);
  const auto it = values_.find(key);
  check(it != values_.end(), ErrorKind::kName,
        "kvstore: key {} has not been initialised\n  fix:  call init first", key_text(key));
  return it->second;
}

ServerUpdate& ValueServer::update() {
  check(update_.has_value(), ErrorKind::kState,
        "kvstore: dist_async updates its values on the servers, which have no optimizer\n  fix:  "
        "call set_optimizer first");
  return *update_;
}

void ValueServer::init(const net::ValueCall& call) {
  const Key key = key_from_wire(call.key);
  NDArray value = sent_array(call);
  const Lock lock(guard_);
  if (!values_.emplace(key, std::move(value)).second) check_sent(call, key, values_.at(key));
  changed_.notify_all();
}

void ValueServer::expect(const net::ValueCall& call, const std::function<bool()>& ending) {
  const Key key = key_from_wire(call.key);
  Lock lock(guard_);
  await(lock, ending, [&] { return values_.contains(key); });
  check_sent(call, key, values_.at(key));
}

void ValueServer::push(const net::ValueCall& call) {
  const Key key = key_from_wire(call.key);
  const Lock lock(guard_);
  NDArray& value = stored(call);
  const NDArray gradient = gradient_of(call, key, value);
  check(gradient.shape() == value.shape(), ErrorKind::kShape,
        "kvstore: key {} has the shape {}, worker {} pushes {}", key_text(key), value.shape().str(),
        call.worker, gradient.shape().str());
  update().update(key, gradient, value);
}

void ValueServer::assign(const net::ValueCall& call) {
  const Key key = key_from_wire(call.key);
  const NDArray value = sent_array(call);
  const Lock lock(guard_);
  NDArray& into = stored(call);
  check_sent(call, key, into);
  if (!call.rejoined) value.copy_to(into);
}

net::ValueAnswer ValueServer::pull(const net::ValueCall& call) {
  const Lock lock(guard_);
  auto copy = std::make_shared<NDArray>(stored(call).copy());
  return {.text = {},
          .bytes = {reinterpret_cast<const std::byte*>(read_pointer(*copy)), copy->nbytes()},
          .owner = copy};
}

void ValueServer::set_optimizer(const net::ValueCall& call) {
  const Lock lock(guard_);
  if (call.rejoined && update_) return;
  update_ = make_(call.key, call.text);
  changed_.notify_all();
}

}  // namespace symbind
