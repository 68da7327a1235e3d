// Decided here: a thread per worker reads one call after the other and answers it. Sizes come from
// a process of the job, and are still checked: a wrong one closes that connection and nothing else.

#include <sys/socket.h>

#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/signals.h"
#include "net/tcp/value_frames.h"
#include "net/tcp/values.h"

namespace symbind::net {
namespace {

constexpr std::uint32_t kMostExtents = 32;
constexpr std::uint64_t kMostKey = 1 << 16;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 47;

class TcpValueService final : public ValueService {
 public:
  TcpValueService(const Job& job, ValueHandler handler)
      : job_(job), handler_(std::move(handler)), listener_(job.bind) {}

  ~TcpValueService() override {
    ending_ = true;
    if (acceptor_.joinable()) acceptor_.join();
    for (Connection& c : connections_) {
      shutdown(c.socket.fd(), SHUT_RDWR);
      c.thread.join();
    }
  }

  const std::string& address() const override { return listener_.address(); }

  void start(int rank) override {
    const SignalsBlocked within;  // the threads inherit this
    acceptor_ = std::thread([this, rank] { accept(rank); });
  }

 private:
  struct Connection {
    int worker;
    Socket socket;
    std::atomic<bool> over = false;
    std::thread thread;
  };

  void accept(int rank) {
    Acceptor acceptor(
        job_, number_of_server(rank), listener_,
        [this](int from) { return from >= 0 && from < job_.workers; },
        [this](int from, Socket socket) { begin(from, std::move(socket)); });
    while (!ending_) {
      try {
        acceptor.turn();
        connections_.remove_if([](Connection& c) {
          if (c.over) c.thread.join();
          return c.over.load();
        });
      } catch (const std::exception& e) {  // no memory or no thread for a connection
        std::fprintf(stderr, "server: a worker cannot connect: %s\n", e.what());
      }
    }
  }

  void begin(int from, Socket socket) {
    Connection& c = connections_.emplace_back();
    c.worker = from;
    c.socket = std::move(socket);
    try {
      c.thread = std::thread([this, &c] { serve(c); });
    } catch (...) {
      connections_.pop_back();
      throw;
    }
  }

  void serve(Connection& c) {
    try {
      while (!ending_ && serve_one(c)) {
      }
    } catch (const std::exception& e) {
      std::fprintf(stderr, "server: the connection of worker %d is closed: %s\n", c.worker,
                   e.what());
    }
    shutdown(c.socket.fd(), SHUT_RDWR);
    c.over = true;
  }

  /// Reads one call and answers it; false if the worker has closed the connection.
  bool serve_one(Connection& c) {
    const int fd = c.socket.fd();
    CallHeader h;
    if (!read_exactly(fd, &h, sizeof h)) return false;
    check(h.verb <= static_cast<std::uint32_t>(ValueCall::Verb::kLast) &&
              h.extents <= kMostExtents && h.key <= kMostKey && h.text <= kMostBytes &&
              h.bytes <= kMostBytes,
          ErrorKind::kIo, "a call has impossible sizes");
    ValueCall call;
    call.verb = static_cast<ValueCall::Verb>(h.verb);
    call.worker = c.worker;
    call.rejoined = h.rejoined != 0;
    call.dtype = h.dtype;
    call.shape.resize(h.extents);
    call.key.resize(h.key);
    call.text.resize(h.text);
    const std::shared_ptr<std::byte[]> bytes(h.bytes == 0 ? nullptr : new std::byte[h.bytes]);
    if (!read_exactly(fd, call.shape.data(), h.extents * sizeof(std::int64_t)) ||
        !read_exactly(fd, call.key.data(), h.key) || !read_exactly(fd, call.text.data(), h.text) ||
        !read_exactly(fd, bytes.get(), h.bytes))
      return false;
    call.bytes = {bytes.get(), h.bytes};
    call.owner = bytes;
    AnswerHeader header;
    ValueAnswer answer;
    try {
      answer = handler_(call, [this] { return ending_.load(); });
    } catch (const Error& e) {
      header.error_kind = static_cast<std::int32_t>(e.kind());
      answer.text = e.what();
    } catch (const std::exception& e) {
      header.error_kind = static_cast<std::int32_t>(ErrorKind::kState);
      answer.text = e.what();
    }
    header.text = answer.text.size();
    header.bytes = answer.bytes.size();
    const std::span<const std::byte> parts[] = {
        as_part(header), std::as_bytes(std::span(answer.text)), answer.bytes};
    return write_parts(fd, parts);
  }

  Job job_;
  ValueHandler handler_;
  Listener listener_;
  std::atomic<bool> ending_ = false;
  std::thread acceptor_;
  std::list<Connection> connections_;  ///< of the accepting thread
};

}  // namespace

std::unique_ptr<ValueService> make_value_service(const Job& job, ValueHandler handler) {
  return std::make_unique<TcpValueService>(job, std::move(handler));
}

}  // namespace symbind::net
