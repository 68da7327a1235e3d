// Decided here: each message that ends starts what depends on it, on the thread that reports the
// end: no thread waits between a part and its addition, and the bytes are in the cache. Work may
// start in a different order on each worker. Of each share only a few pieces are under way at a
// time: a worker sends the next one when a sum comes back, so an owner's memory for parts is small
// enough for the cache.

#include "net/exchange.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/interrupt.h"

namespace symbind::net {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr std::size_t kPartsBytes = std::size_t{2} << 20;  // that an owner keeps: a level-2 cache

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// How many pieces of each share are under way in a sum.
std::size_t pieces_under_way(std::size_t workers) {
  return std::max<std::size_t>(kPartsBytes / kPieceBytes / std::max<std::size_t>(workers - 1, 1),
                               4);
}

constexpr int kPieceBits = 22;  // of a tag, besides a name of 40 bits and the step

/// The kinds of messages, for each level.
enum Step : std::uint64_t { kToOwner = 0, kFromOwner = 1, kSteps = 2 };

/// Where the shares of an owner come from before they are handed out.
constexpr int kAll = -1;   ///< from all workers: the owner adds them up
constexpr int kNone = -2;  ///< the owner has them
// Else the place of the only worker that has them.

struct Piece {
  std::size_t offset, bytes;
};

/// The share of an owner, cut into pieces.
struct Share {
  std::size_t first;  ///< the number of its first piece
  std::vector<Piece> pieces;
};

/// The share of each owner. With two levels, a piece is divided once more.
std::vector<Share> shares_of(const Buffer& buffer, int owners, int groups) {
  const std::size_t n = static_cast<std::size_t>(owners);
  const std::size_t elements = buffer.bytes / buffer.element;
  const std::size_t most =
      std::max<std::size_t>(kPieceBytes / buffer.element, 1) * static_cast<std::size_t>(groups);
  std::vector<Share> all;
  std::size_t first = 0;
  std::size_t end = 0;
  for (std::size_t owner = 0; owner < n; ++owner) {
    std::size_t at = end;
    end += buffer.parts.empty() ? elements / n + (owner < elements % n ? 1 : 0)
                                : buffer.parts[owner] / buffer.element;
    all.push_back({first, {}});
    for (; at < end; at += most, ++first)
      all.back().pieces.push_back({at * buffer.element, std::min(most, end - at) * buffer.element});
  }
  return all;
}

}  // namespace

class Exchange::Work final : public Pending, public std::enable_shared_from_this<Work> {
 public:
  /// `root`: see kAll.
  Work(Exchange& exchange, const Team& team, Name name, Buffer buffer, AddPieces add, int root)
      : exchange_(exchange),
        team_(team),
        buffer_(std::move(buffer)),
        add_(std::move(add)),
        root_(root),
        pieces_under_way_(root == kAll ? pieces_under_way(team.ranks.size()) : kNoLimit),
        tag_(name << (kPieceBits + 2)),
        shares_(shares_of(buffer_, team.owners, root == kAll ? exchange.groups_ : 1)) {
    check(
        name >> 40 == 0 && (shares_.back().first + shares_.back().pieces.size()) >> kPieceBits == 0,
        "a buffer of {} bytes is too large for one exchange", buffer_.bytes);
  }

  /// The second level of a sum: piece `number` of `outer`. `then` is called at its end.
  Work(const Work& outer, const Team& team, const Piece& piece, std::size_t number,
       std::function<void(std::exception_ptr)> then)
      : exchange_(outer.exchange_),
        team_(team),
        buffer_{.data = outer.buffer_.data + piece.offset,
                .bytes = piece.bytes,
                .element = outer.buffer_.element},
        add_(outer.add_),
        root_(kAll),
        pieces_under_way_(1),
        // A share of a piece is one piece again; its owner is an end of every message about it.
        tag_(outer.tag_ | number << 2 | kSteps),
        shares_(shares_of(buffer_, team.owners, 1)),
        then_(std::move(then)) {
    for (Share& share : shares_) share.first = 0;
  }

  void start() {
    under_way_ = 1;  // this call
    try {
      exchange_.links_->size() == 1 ? copy_given() : post();
    } catch (...) {
      fail(std::current_exception());
    }
    release();
  }

  void wait() override {
    constexpr auto kBetweenPolls = std::chrono::milliseconds(50);
    std::unique_lock lock(guard_);
    while (!ended_.wait_for(lock, kBetweenPolls, [&] { return over_; })) {
      lock.unlock();
      interruption_point();
      lock.lock();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// Posts every message that needs no other one first.
  void post() {
    if (owns()) {
      const std::size_t count = mine().pieces.size();
      missing_ = std::make_unique<std::atomic<int>[]>(count);
      for (std::size_t i = 0; i < count; ++i) missing_[i] = givers();
      if (root_ == kAll && count > 0) {
        slot_bytes_ = mine().pieces.front().bytes;
        scratch_bytes_ =
            slot_bytes_ * std::min(count, pieces_under_way_) * static_cast<std::size_t>(givers());
        scratch_ = exchange_.take_scratch(scratch_bytes_);
      }
    }
    // Receives come first: what arrives before its receive is copied twice.
    each_other([&](int other) {
      if (is_owner(other) && root_ != team_.me)
        for (std::size_t i = 0; i < share(other).pieces.size(); ++i) receive_result(other, i);
    });
    for (std::size_t i = 0; owns() && i < mine().pieces.size() && i < pieces_under_way_; ++i)
      receive_parts(i);
    for (std::size_t i = 0; i < pieces_under_way_ && i < most_pieces(); ++i)
      each_other([&](int other) { send_part(other, i); });
    for (std::size_t i = 0; owns() && givers() == 0 && i < mine().pieces.size(); ++i) complete(i);
  }

  /// The sum of one worker.
  void copy_given() {
    if (root_ != kAll || buffer_.bytes == 0) return;
    const std::byte* in[] = {given()};
    if (given() != buffer_.data) add_(in, buffer_.data, buffer_.bytes);
    if (buffer_.copy != nullptr) std::memcpy(buffer_.copy, buffer_.data, buffer_.bytes);
  }

  bool owns() const { return is_owner(team_.me); }
  bool is_owner(int place) const { return place < team_.owners; }
  const Share& share(int owner) const { return shares_[static_cast<std::size_t>(owner)]; }
  const Share& mine() const { return share(team_.me); }
  std::size_t most_pieces() const {
    std::size_t most = 0;
    for (const Share& s : shares_) most = std::max(most, s.pieces.size());
    return most;
  }
  bool gives(int place) const { return root_ == kAll || place == root_; }
  /// How many other workers send this owner its share.
  int givers() const {
    if (root_ == kAll) return static_cast<int>(team_.ranks.size()) - 1;
    return root_ == kNone || root_ == team_.me ? 0 : 1;
  }
  const std::byte* given() const { return buffer_.from != nullptr ? buffer_.from : buffer_.data; }
  std::byte* slot(std::size_t i, int giver) const {
    const std::size_t row = i % pieces_under_way_ * static_cast<std::size_t>(givers());
    return scratch_.get() +
           (row + static_cast<std::size_t>(giver - (giver > team_.me))) * slot_bytes_;
  }

  /// Begins after this worker, so that not all send to the same one first.
  template <class F>
  void each_other(F&& f) const {
    const int n = static_cast<int>(team_.ranks.size());
    for (int k = 1; k < n; ++k) f((team_.me + k) % n);
  }

  std::uint64_t tag(const Share& share, std::size_t i, Step step) const {
    return tag_ | (share.first + i) << 2 | step;
  }

  /// Calls `next` when a message has ended; the work ends when no message is under way.
  template <class F>
  Links::Ended then(F next) {
    ++under_way_;
    return [self = shared_from_this(), next](const std::string& error) {
      try {
        check(error.empty(), ErrorKind::kState, "{}", error);
        if (!self->failed_) next(*self);
      } catch (...) {
        self->fail(std::current_exception());
      }
      self->release();
    };
  }

  void send_part(int owner, std::size_t i) {
    if (!is_owner(owner) || !gives(team_.me) || i >= share(owner).pieces.size()) return;
    const Piece& p = share(owner).pieces[i];
    links().send(rank(owner), tag(share(owner), i, kToOwner), given() + p.offset, p.bytes,
                 then([](Work&) {}));
  }

  void receive_parts(std::size_t i) {
    const Piece& p = mine().pieces[i];
    each_other([&](int giver) {
      if (!gives(giver)) return;
      std::byte* place = root_ == kAll ? slot(i, giver) : buffer_.data + p.offset;
      links().receive(rank(giver), tag(mine(), i, kToOwner), place, p.bytes, then([i](Work& work) {
                        if (--work.missing_[i] == 0) work.complete(i);
                      }));
    });
  }

  void receive_result(int owner, std::size_t i) {
    const Piece& p = share(owner).pieces[i];
    links().receive(rank(owner), tag(share(owner), i, kFromOwner), buffer_.data + p.offset, p.bytes,
                    then([owner, i](Work& work) {
                      if (work.root_ == kAll) work.send_part(owner, i + work.pieces_under_way_);
                      work.copy(work.share(owner).pieces[i]);
                    }));
  }

  /// This owner has all parts of piece `i`.
  void complete(std::size_t i) {
    const Piece& p = mine().pieces[i];
    if (root_ == kAll) {
      std::vector<const std::byte*> in;
      for (int giver = 0; giver < static_cast<int>(team_.ranks.size()); ++giver)
        in.push_back(giver == team_.me ? given() + p.offset : slot(i, giver));
      add_(in, buffer_.data + p.offset, p.bytes);
    }
    if (root_ != kAll || then_ || !exchange_.across_) return hand_out(i);
    ++under_way_;
    const auto inner =
        std::make_shared<Work>(*this, *exchange_.across_, p, mine().first + i,
                               [self = shared_from_this(), i](const std::exception_ptr& error) {
                                 if (error)
                                   self->fail(error);
                                 else if (!self->failed_)
                                   self->hand_out(i);
                                 self->release();
                               });
    inner->start();
  }

  void hand_out(std::size_t i) {
    if (root_ == kAll && i + pieces_under_way_ < mine().pieces.size())
      receive_parts(i + pieces_under_way_);
    const Piece& p = mine().pieces[i];
    each_other([&](int other) {
      if (other == root_) return;
      links().send(rank(other), tag(mine(), i, kFromOwner), buffer_.data + p.offset, p.bytes,
                   then([](Work&) {}));
    });
    copy(p);
  }

  void copy(const Piece& p) const {
    if (buffer_.copy != nullptr)
      std::memcpy(buffer_.copy + p.offset, buffer_.data + p.offset, p.bytes);
  }

  /// The first error ends all messages.
  void fail(const std::exception_ptr& error) {
    {
      const std::lock_guard lock(guard_);
      if (error_) return;
      error_ = error;
    }
    failed_ = true;
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      links().cancel(e.what());
    }
  }

  /// A message, or the call that starts the work, has ended.
  void release() {
    if (--under_way_ > 0) return;
    if (scratch_) exchange_.give_scratch(scratch_bytes_, std::move(scratch_));
    if (then_) return then_(error_);
    buffer_.owner.reset();
    {
      const std::lock_guard lock(guard_);
      over_ = true;
      ended_.notify_all();
    }
    const std::lock_guard lock(exchange_.guard_);
    if (--exchange_.active_ == 0) exchange_.idle_.notify_all();
  }

  Links& links() const { return *exchange_.links_; }
  int rank(int place) const { return team_.ranks[static_cast<std::size_t>(place)]; }

  Exchange& exchange_;
  const Team& team_;
  Buffer buffer_;
  AddPieces add_;
  int root_;
  std::size_t pieces_under_way_;  ///< of each share; without limit where no sum comes back
  std::uint64_t tag_;
  std::vector<Share> shares_;  ///< by owner
  std::function<void(std::exception_ptr)> then_;
  std::size_t slot_bytes_ = 0, scratch_bytes_ = 0;
  Memory scratch_;
  std::unique_ptr<std::atomic<int>[]> missing_;  ///< parts of each piece of this owner
  std::atomic<int> under_way_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex guard_;
  std::condition_variable ended_;
  bool over_ = false;
  std::exception_ptr error_;
};

Exchange::Exchange(std::shared_ptr<Links> links, int most_in_one_level) : links_(std::move(links)) {
  const int n = links_->size();
  for (int rank = 0; rank < n; ++rank) all_.ranks.push_back(rank);
  all_.owners = n;
  all_.me = links_->rank();
  if (n > most_in_one_level) make_levels(n, all_.me);
}

// About as many groups as members of a group. Groups differ by one member at most; shares have as
// many owners as the smallest group has members, so that all groups divide a buffer alike.
void Exchange::make_levels(int workers, int rank) {
  while (groups_ * groups_ < workers) ++groups_;
  const int owners = workers / groups_;
  const auto first = [&](int group) { return group * owners + std::min(group, workers % groups_); };
  int mine = 0;
  while (first(mine + 1) <= rank) ++mine;
  group_.emplace();
  for (int r = first(mine); r < first(mine + 1); ++r) group_->ranks.push_back(r);
  group_->owners = owners;
  group_->me = rank - first(mine);
  if (group_->me >= owners) return;
  across_.emplace();
  for (int group = 0; group < groups_; ++group) across_->ranks.push_back(first(group) + group_->me);
  across_->owners = groups_;
  across_->me = mine;
}

Exchange::~Exchange() {
  links_->cancel("the store was closed");
  std::unique_lock lock(guard_);
  idle_.wait(lock, [&] { return active_ == 0; });
}

Exchange::Memory Exchange::take_scratch(std::size_t bytes) {
  {
    const std::lock_guard lock(guard_);
    if (const auto it = scratch_.find(bytes); it != scratch_.end()) {
      Memory found = std::move(it->second);
      scratch_.erase(it);
      return found;
    }
  }
  return std::make_unique_for_overwrite<std::byte[]>(bytes);
}

void Exchange::give_scratch(std::size_t bytes, Memory memory) {
  const std::lock_guard lock(guard_);
  scratch_.emplace(bytes, std::move(memory));
}

std::shared_ptr<Pending> Exchange::start(std::shared_ptr<Work> work) {
  {
    const std::lock_guard lock(guard_);
    ++active_;
  }
  work->start();
  return work;
}

std::shared_ptr<Pending> Exchange::start_sum(Name name, const Buffer& buffer, AddPieces add) {
  const Team& team = group_ ? *group_ : all_;
  return start(std::make_shared<Work>(*this, team, name, buffer, std::move(add), kAll));
}

std::shared_ptr<Pending> Exchange::start_gather(Name name, const Buffer& buffer) {
  const std::size_t n = static_cast<std::size_t>(links_->size());
  const std::vector<std::size_t>& parts = buffer.parts;
  SYMBIND_ASSERT(parts.empty()
                     ? buffer.bytes % (buffer.element * n) == 0
                     : parts.size() == n && std::accumulate(parts.begin(), parts.end(),
                                                            std::size_t{0}) == buffer.bytes);
  return start(std::make_shared<Work>(*this, all_, name, buffer, AddPieces(), kNone));
}

std::shared_ptr<Pending> Exchange::start_copy(Name name, const Buffer& buffer, int root) {
  return start(std::make_shared<Work>(*this, all_, name, buffer, AddPieces(), root));
}

}  // namespace symbind::net
