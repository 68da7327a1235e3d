// Decided here:
// - A synchronous job fails as a whole when a process is lost: no sum can be complete without it.
//   An asynchronous one continues without the worker, which may join again under its rank.
// - Workers that all wait, for different things, wait for ever: the job fails and says who waits
//   for what. The same holds for a wait for a worker that has left.

#include "net/scheduler.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace symbind::net {
namespace {

constexpr double kStuckAfter = 2;  // seconds in which a message that is under way arrives

}  // namespace

std::string Member::str() const {
  return fmt::format("{} {} ({}, pid {})", role_name(role), rank, host, pid);
}

bool Scheduler::belongs(const Attendee& a, Role role) const {
  return a.member.role == role && !a.left && !a.gone;
}

bool Scheduler::has_workers() const {
  return std::ranges::any_of(
      attendees_, [&](const auto& entry) { return belongs(entry.second, Role::kWorker); });
}

Scheduler::Answers Scheduler::to_all(const ToMember& message) const {
  Answers all;
  for (const auto& [connection, a] : attendees_)
    if (!a.gone && !a.left) all.push_back({connection, message});
  return all;
}

Scheduler::Answers Scheduler::fail(const std::string& reason, bool lost) {
  if (!failure_.empty() || ended_) return {};
  failure_ = reason;
  return to_all(Failed{reason, lost});
}

Scheduler::Answers Scheduler::hear(int connection, const FromMember& message, Seconds now) {
  if (const auto* joining = std::get_if<Join>(&message)) return join(connection, *joining, now);
  const auto it = attendees_.find(connection);
  if (it == attendees_.end() || it->second.gone) return {};
  Attendee& a = it->second;
  if (const auto* beat = std::get_if<Beat>(&message)) {
    a.heard = std::max(a.heard, time_of(beat->heard));
    if (beat->waits_for != a.beat.waits_for) a.waits_since = now;
    a.beat = *beat;
    return {};
  }
  if (const auto* gather = std::get_if<Gather>(&message)) return collect(connection, *gather);
  return leave(connection, std::get<Leave>(message));
}

// A member has heard the scheduler at the time of the beat it answers. So a connection that works
// in one direction only counts as silent, too.
Scheduler::Seconds Scheduler::time_of(std::int64_t number) const {
  for (const auto& [known, when] : beats_)
    if (known == number) return when;
  return 0;
}

Scheduler::Answers Scheduler::beat(Seconds now) {
  constexpr std::size_t kKept = 64;
  beats_.emplace_back(++beat_, now);
  if (beats_.size() > kKept) beats_.pop_front();
  return to_all(Alive{beat_});
}

std::optional<std::string> Scheduler::refusal(const Join& join) const {
  const Member& m = join.member;
  if (join.version != SYMBIND_VERSION)
    return fmt::format("{} runs Symbind {}, the scheduler {}", m.str(), join.version,
                       SYMBIND_VERSION);
  if (join.generation != job_.generation)
    return fmt::format("{} belongs to start {} of the job; this is start {}", m.str(),
                       join.generation, job_.generation);
  if (join.workers != job_.workers || join.servers != job_.servers)
    return fmt::format("{} expects {} workers and {} servers, the scheduler {} and {}", m.str(),
                       join.workers, join.servers, job_.workers, job_.servers);
  if (!failure_.empty()) return "the job has failed: " + failure_;
  int present = 0;
  for (const auto& [connection, a] : attendees_) {
    if (a.gone || a.member.role != m.role) continue;
    ++present;
    if (m.rank >= 0 && a.member.rank == m.rank)
      return fmt::format("two processes have one rank: {} and {}", a.member.str(), m.str());
    if (m.role == Role::kWorker && a.asynchronous != join.asynchronous)
      return fmt::format("{} and {} have stores of different kinds: one is dist_async",
                         a.member.str(), m.str());
  }
  const int places = m.role == Role::kWorker ? job_.workers : job_.servers;
  if (present >= places)
    return fmt::format("{} is one too many: the job has {} {}s and all have joined", m.str(),
                       places, role_name(m.role));
  if (running_ && !join.asynchronous)
    return fmt::format("{} comes too late: the job runs", m.str());
  return std::nullopt;
}

Scheduler::Answers Scheduler::join(int connection, const Join& join, Seconds now) {
  if (attendees_.contains(connection)) return {};
  if (const auto reason = refusal(join)) return {{connection, Failed{*reason}}};
  attendees_[connection] = {.member = join.member,
                            .asynchronous = join.asynchronous,
                            .heard = now,
                            .beat = {},
                            .waits_since = now};
  last_join_ = now;
  if (running_) {
    Attendee& a = attendees_[connection];
    for (int rank = 0; a.member.rank < 0; ++rank)
      if (std::ranges::none_of(attendees_, [&](const auto& entry) {
            return belongs(entry.second, a.member.role) && entry.second.member.rank == rank;
          }))
        a.member.rank = rank;
    return {{connection, Welcome{a.member.rank, true, members()}}};
  }
  return static_cast<int>(attendees_.size()) == job_.workers + job_.servers ? welcome_all()
                                                                            : Answers{};
}

std::vector<Member> Scheduler::members() const {
  std::vector<Member> all;
  for (const auto& [connection, a] : attendees_)
    if (!a.gone) all.push_back(a.member);
  std::ranges::sort(all, {}, [](const Member& m) { return std::pair(m.role, m.rank); });
  return all;
}

// Those without a rank get the free ones, in the order they joined.
Scheduler::Answers Scheduler::welcome_all() {
  for (const Role role : {Role::kWorker, Role::kServer}) {
    std::vector<bool> taken(static_cast<std::size_t>(job_.workers + job_.servers));
    for (const auto& [connection, a] : attendees_)
      if (a.member.role == role && a.member.rank >= 0)
        taken[static_cast<std::size_t>(a.member.rank)] = true;
    std::size_t next = 0;
    for (auto& [connection, a] : attendees_) {
      if (a.member.role != role || a.member.rank >= 0) continue;
      while (taken[next]) ++next;
      a.member.rank = static_cast<int>(next++);
    }
  }
  running_ = true;
  Answers all;
  for (const auto& [connection, a] : attendees_)
    all.push_back({connection, Welcome{a.member.rank, false, members()}});
  return all;
}

Scheduler::Answers Scheduler::collect(int connection, const Gather& gather) {
  const Attendee& a = attendees_.at(connection);
  collections_[gather.name][a.member.rank] = gather.part;
  return complete(gather.name);
}

// Answers once every worker that is there has given its part.
Scheduler::Answers Scheduler::complete(const std::string& name) {
  const Parts& parts = collections_.at(name);
  Gathered gathered{name, {}};
  for (const auto& [connection, a] : attendees_)
    if (belongs(a, Role::kWorker) && !parts.contains(a.member.rank)) return {};
  for (const auto& [rank, part] : parts) gathered.parts.push_back(part);
  Answers all;
  for (const auto& [connection, a] : attendees_)
    if (belongs(a, Role::kWorker)) all.push_back({connection, gathered});
  collections_.erase(name);
  return all;
}

Scheduler::Answers Scheduler::complete_all() {
  Answers all;
  for (const auto& [name, parts] : std::map(collections_))
    for (Answer& answer : complete(name)) all.push_back(std::move(answer));
  return all;
}

Scheduler::Answers Scheduler::leave(int connection, const Leave& leave) {
  Attendee& a = attendees_.at(connection);
  if (!leave.error.empty() && a.asynchronous) return lose(a, leave.error);
  a.left = true;
  if (!leave.error.empty())
    return fail(
        fmt::format("{} ended at update {}: {}", a.member.str(), a.beat.updates, leave.error),
        true);
  if (!running_) return {};
  if (has_workers()) return a.asynchronous ? complete_all() : Answers{};
  return some_may_return() ? Answers{} : end();
}

Scheduler::Answers Scheduler::end() {
  ended_ = true;
  return to_all(Ended{});
}

// Whether a worker was lost, and no process of its rank has joined since.
bool Scheduler::some_may_return() const {
  std::map<int, bool> lost;
  for (const auto& [connection, a] : attendees_)
    if (a.member.role == Role::kWorker) lost[a.member.rank] = a.gone && !a.left;
  return std::ranges::any_of(lost, [](const auto& one) { return one.second; });
}

Scheduler::Answers Scheduler::lose(Attendee& lost, const std::string& how) {
  lost.gone = true;
  if (!failure_.empty() || ended_) return {};
  if (lost.asynchronous && running_ && lost.member.role == Role::kWorker) return complete_all();
  return fail(
      running_ ? fmt::format("{} lost at update {}: {}", lost.member.str(), lost.beat.updates, how)
               : fmt::format("{} lost before the job began: {}", lost.member.str(), how),
      true);
}

Scheduler::Answers Scheduler::closed(int connection, Seconds) {
  const auto it = attendees_.find(connection);
  if (it == attendees_.end() || it->second.gone) return {};
  if (it->second.left) {
    it->second.gone = true;
    return {};
  }
  return lose(it->second, "its connection is closed");
}

std::string Scheduler::missing() const {
  std::vector<std::string> names;
  for (const auto& [role, places] :
       {std::pair(Role::kWorker, job_.workers), std::pair(Role::kServer, job_.servers)}) {
    int here = 0;
    for (const auto& [connection, a] : attendees_) here += belongs(a, role);
    if (here < places)
      names.push_back(fmt::format("{} of {} {}s", places - here, places, role_name(role)));
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

std::optional<std::string> Scheduler::stuck(Seconds now) const {
  std::vector<const Attendee*> waiting;
  const Attendee* leaver = nullptr;
  bool same = true;
  for (const auto& [connection, a] : attendees_) {
    if (a.member.role != Role::kWorker || (a.gone && !a.left)) continue;
    if (a.left) {
      if (!a.asynchronous) leaver = &a;
      continue;
    }
    if (a.beat.waits_for.empty() || now - a.waits_since < kStuckAfter) return std::nullopt;
    same = same && (waiting.empty() || waiting.front()->beat.waits_for == a.beat.waits_for);
    waiting.push_back(&a);
  }
  if (waiting.empty() || (same && leaver == nullptr)) return std::nullopt;
  std::ranges::sort(waiting, {}, [](const Attendee* a) { return a->member.rank; });
  std::vector<std::string> lines;
  if (leaver != nullptr)
    lines.push_back(
        fmt::format("{} has left after update {}", leaver->member.str(), leaver->beat.updates));
  for (const Attendee* a : waiting) {
    if (lines.size() == 8) {
      lines.push_back(fmt::format("and {} more", waiting.size() - 7));
      break;
    }
    lines.push_back(fmt::format("{} waits for {}", a->member.str(), a->beat.waits_for));
  }
  return fmt::format(
      "the workers wait for different things, so none can continue:\n  {}\n  fix:  every worker "
      "must "
      "make the same calls: the same network, optimizer and keys, and as many batches per epoch",
      fmt::join(lines, "\n  "));
}

Scheduler::Answers Scheduler::tick(Seconds now) {
  if (!failure_.empty() || ended_) return {};
  if (last_join_ < 0) last_join_ = now;
  if (!running_ && now - last_join_ > job_.join_wait)
    return fail(fmt::format(
        "{} did not join within {:g} s of the last one (SYMBIND_DIST_JOIN_WAIT)\n  fix:  start as "
        "many processes as DMLC_NUM_WORKER and DMLC_NUM_SERVER say",
        missing(), job_.join_wait));
  Answers all;
  for (auto& [connection, a] : attendees_) {
    if (a.gone || a.left || now - a.heard <= job_.dead_after) continue;
    const std::string how =
        fmt::format("it is silent for {:.1f} s (SYMBIND_DIST_DEAD_AFTER)", now - a.heard);
    for (Answer& answer : lose(a, how)) all.push_back(std::move(answer));
    // It may still run, and hear this.
    all.push_back({connection, Failed{fmt::format("{} lost: {}", a.member.str(), how), true}});
  }
  if (has_workers()) worker_seen_ = now;
  if (running_ && now - worker_seen_ > job_.join_wait) {
    if (std::ranges::any_of(attendees_, [](const auto& entry) { return entry.second.left; }))
      return end();
    return fail(
        fmt::format("no worker is left, and none joined again within {:g} s", job_.join_wait),
        true);
  }
  if (running_ && failure_.empty())
    if (const auto reason = stuck(now)) return fail(*reason);
  return all;
}

bool Scheduler::is_over() const {
  if (!ended_ && failure_.empty()) return false;
  return std::ranges::all_of(
      attendees_, [](const auto& entry) { return entry.second.gone || entry.second.left; });
}

}  // namespace symbind::net
