#include "net/grpc/convert.h"

namespace symbind::net {
namespace {

void put(dist::Member& out, const Member& m) {
  out.set_role(static_cast<int>(m.role));
  out.set_rank(m.rank);
  out.set_host(m.host);
  out.set_pid(m.pid);
  out.set_address(m.address);
}

Member member_of(const dist::Member& in) {
  Member m;
  m.role = in.role() == static_cast<int>(Role::kServer) ? Role::kServer : Role::kWorker;
  m.rank = in.rank();
  m.host = in.host();
  m.pid = in.pid();
  m.address = in.address();
  return m;
}

struct FromMemberWriter {
  dist::FromMember out;
  void operator()(const Join& join) {
    dist::Join& j = *out.mutable_join();
    put(*j.mutable_member(), join.member);
    j.set_workers(join.workers);
    j.set_servers(join.servers);
    j.set_generation(join.generation);
    j.set_asynchronous(join.asynchronous);
    j.set_version(join.version);
  }
  void operator()(const Beat& beat) {
    out.mutable_beat()->set_updates(beat.updates);
    out.mutable_beat()->set_waits_for(beat.waits_for);
    out.mutable_beat()->set_heard(beat.heard);
  }
  void operator()(const Gather& gather) {
    out.mutable_gather()->set_name(gather.name);
    out.mutable_gather()->set_part(gather.part);
  }
  void operator()(const Leave& leave) { out.mutable_leave()->set_error(leave.error); }
};

struct ToMemberWriter {
  dist::ToMember out;
  void operator()(const Welcome& welcome) {
    out.mutable_welcome()->set_rank(welcome.rank);
    out.mutable_welcome()->set_rejoined(welcome.rejoined);
    for (const Member& m : welcome.members) put(*out.mutable_welcome()->add_members(), m);
  }
  void operator()(const Gathered& gathered) {
    out.mutable_gathered()->set_name(gathered.name);
    for (const std::string& part : gathered.parts) out.mutable_gathered()->add_parts(part);
  }
  void operator()(const Alive& alive) { out.mutable_alive()->set_number(alive.number); }
  void operator()(const Failed& failed) {
    out.mutable_failed()->set_reason(failed.reason);
    out.mutable_failed()->set_lost(failed.lost);
  }
  void operator()(const Ended&) { out.mutable_ended(); }
};

}  // namespace

dist::FromMember encode(const FromMember& message) {
  FromMemberWriter writer;
  std::visit(writer, message);
  return writer.out;
}

dist::ToMember encode(const ToMember& message) {
  ToMemberWriter writer;
  std::visit(writer, message);
  return writer.out;
}

std::optional<FromMember> decode(const dist::FromMember& m) {
  switch (m.what_case()) {
    case dist::FromMember::kJoin:
      return Join{.member = member_of(m.join().member()),
                  .workers = m.join().workers(),
                  .servers = m.join().servers(),
                  .generation = m.join().generation(),
                  .asynchronous = m.join().asynchronous(),
                  .version = m.join().version()};
    case dist::FromMember::kBeat:
      return Beat{m.beat().updates(), m.beat().waits_for(), m.beat().heard()};
    case dist::FromMember::kGather: return Gather{m.gather().name(), m.gather().part()};
    case dist::FromMember::kLeave: return Leave{m.leave().error()};
    default: return std::nullopt;
  }
}

std::optional<ToMember> decode(const dist::ToMember& m) {
  switch (m.what_case()) {
    case dist::ToMember::kWelcome: {
      Welcome welcome{m.welcome().rank(), m.welcome().rejoined(), {}};
      for (const dist::Member& one : m.welcome().members())
        welcome.members.push_back(member_of(one));
      return welcome;
    }
    case dist::ToMember::kGathered:
      return Gathered{m.gathered().name(),
                      {m.gathered().parts().begin(), m.gathered().parts().end()}};
    case dist::ToMember::kAlive: return Alive{m.alive().number()};
    case dist::ToMember::kFailed: return Failed{m.failed().reason(), m.failed().lost()};
    case dist::ToMember::kEnded: return Ended{};
    default: return std::nullopt;
  }
}

std::string join_text(std::string_view challenge, const dist::Join& join) {
  dist::Join covered = join;
  covered.clear_proof();
  return "symbind join " + std::string(challenge) + covered.SerializeAsString();
}

std::string welcome_text(std::string_view challenge, std::string_view nonce) {
  return "symbind welcome " + std::string(challenge) + std::string(nonce);
}

}  // namespace symbind::net
