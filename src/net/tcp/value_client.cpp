// Decided here: questions to a server travel without waiting for the answers to those before. One
// thread per server writes them, another reads the answers, which come in the same order.

#include <sys/socket.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/signals.h"
#include "net/tcp/value_frames.h"
#include "net/tcp/values.h"

namespace symbind::net {
namespace {

constexpr auto kInterruptPoll = std::chrono::milliseconds(50);

class Question final : public Asked {
 public:
  Question(ValueCall call, std::span<std::byte> into, std::shared_ptr<void> owner)
      : call_(std::move(call)), into_(into), owner_(std::move(owner)) {}

  void wait() override {
    std::unique_lock lock(guard_);
    while (!changed_.wait_for(lock, kInterruptPoll, [&] { return over_; })) {
      lock.unlock();
      interruption_point();
      lock.lock();
    }
    check(lost_.empty(), ErrorKind::kState, "{}", lost_);
  }

  const std::string& text() const override {
    if (error_kind_ >= 0) fail(static_cast<ErrorKind>(error_kind_), "{}", text_);
    return text_;
  }

  const ValueCall& call() const { return call_; }

  /// Reads an answer; a text says what is wrong with it.
  std::string read(int fd, const AnswerHeader& header) {
    const std::uint64_t expected = header.error_kind >= 0 ? 0 : into_.size();
    if (header.bytes != expected)
      return fmt::format("it sends {} bytes where {} are expected", header.bytes, expected);
    text_.resize(header.text);
    if (!read_exactly(fd, text_.data(), text_.size()) ||
        !read_exactly(fd, into_.data(), header.bytes))
      return "it closed the connection";
    error_kind_ = header.error_kind;
    return "";
  }

  /// The answer is there, or never comes.
  void end(const std::string& lost) {
    call_.owner.reset();
    owner_.reset();
    const std::lock_guard lock(guard_);
    lost_ = lost;
    over_ = true;
    changed_.notify_all();
  }

 private:
  ValueCall call_;
  std::span<std::byte> into_;
  std::shared_ptr<void> owner_;
  std::mutex guard_;
  std::condition_variable changed_;
  bool over_ = false;
  std::string lost_, text_;
  int error_kind_ = -1;
};

/// The connection with one server.
class Connection {
 public:
  Connection(const Job& job, int rank, Member server)
      : server_(std::move(server)),
        socket_(connect_member(job, rank, server_, number_of_server(server_.rank))) {
    const SignalsBlocked within;  // the threads inherit this
    writer_ = std::thread([this] { run(&Connection::write_one); });
    reader_ = std::thread([this] { run(&Connection::read_one); });
  }
  ~Connection() {
    close("the store was closed");
    writer_.join();
    reader_.join();
  }

  void start(std::shared_ptr<Question> question) {
    std::unique_lock lock(guard_);
    if (!error_.empty()) {
      lock.unlock();
      return question->end(error_);
    }
    unsent_.push_back(std::move(question));
    changed_.notify_all();
  }

  void close(const std::string& why) {
    std::deque<std::shared_ptr<Question>> open;
    {
      const std::lock_guard lock(guard_);
      if (!error_.empty()) return;
      error_ = why;
      shutdown(socket_.fd(), SHUT_RDWR);
      open = std::move(unsent_);
      changed_.notify_all();
    }
    // Those that were sent are ended by the reader, which may be writing to their memory.
    for (const auto& question : open) question->end(why);
  }

 private:
  using Queue = std::deque<std::shared_ptr<Question>>;

  void run(bool (Connection::*one)()) {
    try {
      while ((this->*one)()) {
      }
    } catch (const std::exception& e) {  // out of memory
      close(fmt::format("the connection to {} is broken: {}", server_.str(), e.what()));
    }
    if (one == &Connection::read_one) end_sent();
  }

  /// The next of a queue; null when the connection is closed.
  std::shared_ptr<Question> next(Queue& queue, bool take) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return !error_.empty() || !queue.empty(); });
    if (!error_.empty()) return nullptr;
    std::shared_ptr<Question> question = queue.front();
    if (take) queue.pop_front();
    return question;
  }

  bool write_one() {
    const std::shared_ptr<Question> question = next(unsent_, false);
    if (!question) return false;
    {
      const std::lock_guard lock(guard_);
      if (unsent_.empty()) return false;  // closed meanwhile
      unsent_.pop_front();
      sent_.push_back(question);  // its answer may come before the call below returns
      changed_.notify_all();
    }
    const ValueCall& c = question->call();
    const CallHeader header{.verb = static_cast<std::uint32_t>(c.verb),
                            .rejoined = c.rejoined,
                            .dtype = c.dtype,
                            .extents = static_cast<std::uint32_t>(c.shape.size()),
                            .key = c.key.size(),
                            .text = c.text.size(),
                            .bytes = c.bytes.size()};
    const std::span<const std::byte> parts[] = {as_part(header), std::as_bytes(std::span(c.shape)),
                                                std::as_bytes(std::span(c.key)),
                                                std::as_bytes(std::span(c.text)), c.bytes};
    if (!write_parts(socket_.fd(), parts)) close(closed_text());
    return true;
  }

  bool read_one() {
    const std::shared_ptr<Question> question = next(sent_, false);
    if (!question) return false;
    AnswerHeader header;
    const std::string wrong = read_exactly(socket_.fd(), &header, sizeof header)
                                  ? question->read(socket_.fd(), header)
                                  : "it closed the connection";
    if (!wrong.empty()) {
      close(fmt::format("{} at {} lost: {}", server_.str(), server_.address, wrong));
      return false;
    }
    {
      const std::lock_guard lock(guard_);
      sent_.pop_front();
    }
    question->end("");
    return true;
  }

  std::string closed_text() const {
    return fmt::format("{} at {} lost: it closed the connection", server_.str(), server_.address);
  }

  void end_sent() {
    Queue open;
    std::string why;
    {
      const std::lock_guard lock(guard_);
      open = std::move(sent_);
      why = error_;
    }
    for (const auto& question : open) question->end(why);
  }

  Member server_;
  Socket socket_;
  std::mutex guard_;
  std::condition_variable changed_;
  Queue unsent_, sent_;
  std::string error_;
  std::thread writer_, reader_;
};

class TcpServers final : public Servers {
 public:
  TcpServers(const Job& job, int rank, const std::vector<Member>& servers) {
    for (const Member& server : servers)
      connections_.push_back(std::make_unique<Connection>(job, rank, server));
  }
  int count() const override { return static_cast<int>(connections_.size()); }
  std::shared_ptr<Asked> start(int server, ValueCall call, std::span<std::byte> into,
                               std::shared_ptr<void> owner) override {
    auto question = std::make_shared<Question>(std::move(call), into, std::move(owner));
    connections_.at(static_cast<std::size_t>(server))->start(question);
    return question;
  }
  void cancel(const std::string& reason) override {
    for (const auto& connection : connections_) connection->close(reason);
  }

 private:
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace

std::unique_ptr<Servers> connect_servers(const Job& job, int rank,
                                         const std::vector<Member>& servers) {
  return std::make_unique<TcpServers>(job, rank, servers);
}

}  // namespace symbind::net
