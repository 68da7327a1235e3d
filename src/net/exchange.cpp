// Decided here: messages are posted when work starts, so work of different names may start in a
// different order on each worker. One thread adds up the shares this worker owns; another waits for
// the shares of the others, so that the next addition does not wait for them.

#include "net/exchange.h"

#include <algorithm>
#include <exception>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/signals.h"

namespace symbind::net {
namespace {

// Pieces this small are added up while the next ones are under way; larger ones cost fewer
// messages.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

enum Step : std::uint64_t { kToOwner = 0, kFromOwner = 1 };

constexpr int kPieceBits = 23;  // of a tag, besides a name of 40 bits and the step

std::uint64_t tag(Collective::Name name, std::size_t piece, Step step) {
  return name << (kPieceBits + 1) | static_cast<std::uint64_t>(piece) << 1 | step;
}

struct Piece {
  int owner;
  std::size_t offset, bytes;
};

/// Where the shares of an owner come from before they are handed out.
constexpr int kAll = -1;   ///< from all workers: the owner adds them up
constexpr int kNone = -2;  ///< the owner has them
// Else the rank of the only worker that has them.

/// The shares, each cut into pieces.
std::vector<Piece> pieces_of(const Buffer& buffer, int workers) {
  const std::size_t n = static_cast<std::size_t>(workers);
  const std::size_t elements = buffer.bytes / buffer.element;
  const std::size_t most = std::max<std::size_t>(kPieceBytes / buffer.element, 1);
  std::vector<Piece> all;
  for (std::size_t owner = 0; owner < n; ++owner) {
    const std::size_t end = elements / n * (owner + 1) + std::min(elements % n, owner + 1);
    std::size_t at = elements / n * owner + std::min(elements % n, owner);
    for (; at < end; at += most)
      all.push_back({static_cast<int>(owner), at * buffer.element,
                     std::min(most, end - at) * buffer.element});
  }
  return all;
}

}  // namespace

class Exchange::Work final : public Pending {
 public:
  Work(Exchange& exchange, Name name, Buffer buffer, AddPieces add, int root)
      : exchange_(exchange),
        name_(name),
        buffer_(std::move(buffer)),
        add_(std::move(add)),
        root_(root),
        pieces_(pieces_of(buffer_, exchange.links_->size())) {
    check(name >> 40 == 0 && pieces_.size() >> kPieceBits == 0,
          "a buffer of {} bytes is too large for one exchange", buffer_.bytes);
  }

  ~Work() override {
    if (!scratch_) return;
    const std::lock_guard lock(exchange_.guard_);
    exchange_.scratch_.emplace(scratch_bytes_, std::move(scratch_));
  }

  /// Posts every message that needs no sum first.
  void post() {
    Links& links = *exchange_.links_;
    const int me = links.rank(), n = links.size();
    for (const Piece& p : pieces_)
      if (p.owner == me) scratch_bytes_ += p.bytes * static_cast<std::size_t>(sources());
    take_scratch();
    std::byte* free = scratch_.get();
    // Beginning after itself, so that not all send to the same worker first.
    for (int k = 0; k < n; ++k) {
      const int owner = (me + k) % n;
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const Piece& p = pieces_[i];
        if (p.owner != owner) continue;
        if (owner != me) {
          if (gives(me))
            sent_.push_back(links.send(owner, tag(name_, i, kToOwner), at(p), p.bytes));
          if (root_ != me)
            results_.push_back(links.receive(owner, tag(name_, i, kFromOwner), at(p), p.bytes));
          continue;
        }
        for (int from = 0; from < n; ++from) {
          if (from == me || !gives(from)) continue;
          std::byte* place = root_ == kAll ? free : at(p);
          if (root_ == kAll) free += p.bytes;
          parts_.push_back({place, links.receive(from, tag(name_, i, kToOwner), place, p.bytes)});
        }
      }
    }
  }

  /// Adds up the pieces this worker owns and sends the sums back.
  void own() {
    Links& links = *exchange_.links_;
    const int me = links.rank(), n = links.size();
    std::size_t next = 0;
    std::vector<const std::byte*> in;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& p = pieces_[i];
      if (p.owner != me) continue;
      in.clear();
      for (int from = 0; from < n; ++from) {
        if (!gives(from)) continue;
        if (from == me) {
          in.push_back(at(p));
          continue;
        }
        parts_[next].transfer->wait();
        in.push_back(parts_[next++].place);
      }
      if (root_ == kAll) add_(in, at(p), p.bytes);
      for (int k = 1; k < n; ++k)
        if (const int to = (me + k) % n; to != root_)
          sent_.push_back(links.send(to, tag(name_, i, kFromOwner), at(p), p.bytes));
    }
  }

  void finish() {
    for (const auto& transfer : results_) transfer->wait();
    for (const auto& transfer : sent_) transfer->wait();
    end(nullptr);
  }

  /// The work is over; with an error, none of its memory is in use any more.
  void end(std::exception_ptr error) {
    results_.clear();
    sent_.clear();
    parts_.clear();
    buffer_.owner.reset();
    const std::lock_guard lock(exchange_.guard_);
    error_ = std::move(error);
    over_ = true;
    exchange_.changed_.notify_all();
  }

  void wait() override {
    constexpr auto kBetweenPolls = std::chrono::milliseconds(50);
    std::unique_lock lock(exchange_.guard_);
    while (!exchange_.changed_.wait_for(lock, kBetweenPolls, [&] { return over_; })) {
      lock.unlock();
      interruption_point();
      lock.lock();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct Part {
    std::byte* place;
    std::unique_ptr<Transfer> transfer;
  };

  std::byte* at(const Piece& p) const { return buffer_.data + p.offset; }
  bool gives(int rank) const { return root_ == kAll || rank == root_; }
  /// How many of the others' pieces an owner keeps besides the buffer.
  int sources() const { return root_ == kAll ? exchange_.links_->size() - 1 : 0; }

  void take_scratch() {
    if (scratch_bytes_ == 0) return;
    {
      const std::lock_guard lock(exchange_.guard_);
      if (const auto it = exchange_.scratch_.find(scratch_bytes_); it != exchange_.scratch_.end()) {
        scratch_ = std::move(it->second);
        exchange_.scratch_.erase(it);
        return;
      }
    }
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(scratch_bytes_);
  }

  Exchange& exchange_;
  Name name_;
  Buffer buffer_;
  AddPieces add_;
  int root_;
  std::vector<Piece> pieces_;
  std::size_t scratch_bytes_ = 0;
  std::unique_ptr<std::byte[]> scratch_;
  std::vector<Part> parts_;  ///< of the pieces this worker owns, by piece and rank
  std::vector<std::unique_ptr<Transfer>> sent_, results_;
  bool over_ = false;
  std::exception_ptr error_;
};

Exchange::Exchange(std::shared_ptr<Links> links) : links_(std::move(links)) {
  const SignalsBlocked within;  // the threads inherit this
  owning_.thread = std::thread([this] { run(owning_, &Work::own, &finishing_); });
  finishing_.thread = std::thread([this] { run(finishing_, &Work::finish, nullptr); });
}

Exchange::~Exchange() {
  links_->cancel("the store was closed");
  {
    const std::lock_guard lock(guard_);
    ending_ = true;
    changed_.notify_all();
  }
  owning_.thread.join();
  finishing_.thread.join();
}

void Exchange::put(Stage& stage, std::shared_ptr<Work> work) {
  const std::lock_guard lock(guard_);
  stage.queue.push_back(std::move(work));
  changed_.notify_all();
}

void Exchange::run(Stage& stage, void (Work::*part)(), Stage* next) {
  while (true) {
    std::shared_ptr<Work> work;
    {
      std::unique_lock lock(guard_);
      changed_.wait(lock, [&] { return ending_ || !stage.queue.empty(); });
      if (stage.queue.empty()) return;
      work = std::move(stage.queue.front());
      stage.queue.pop_front();
    }
    try {
      ((*work).*part)();
      if (next != nullptr) put(*next, std::move(work));
    } catch (...) {
      work->end(std::current_exception());
    }
  }
}

std::shared_ptr<Pending> Exchange::start(std::shared_ptr<Work> work) {
  if (links_->size() == 1) {
    work->end(nullptr);
    return work;
  }
  try {
    work->post();
  } catch (...) {
    work->end(std::current_exception());
    throw;
  }
  put(owning_, work);
  return work;
}

std::shared_ptr<Pending> Exchange::start_sum(Name name, const Buffer& buffer, AddPieces add) {
  return start(std::make_shared<Work>(*this, name, buffer, std::move(add), kAll));
}

std::shared_ptr<Pending> Exchange::start_gather(Name name, const Buffer& buffer) {
  SYMBIND_ASSERT(buffer.bytes % (buffer.element * static_cast<std::size_t>(links_->size())) == 0);
  return start(std::make_shared<Work>(*this, name, buffer, AddPieces(), kNone));
}

std::shared_ptr<Pending> Exchange::start_copy(Name name, const Buffer& buffer, int root) {
  return start(std::make_shared<Work>(*this, name, buffer, AddPieces(), root));
}

}  // namespace symbind::net
