#pragma once
// Values on servers over TCP: a connection per worker and server.

#include <memory>
#include <string>
#include <vector>

#include "net/tcp/connect.h"
#include "net/values.h"

namespace symbind::net {

/// A server's end. It answers from start() to its destruction.
class ValueService {
 public:
  virtual ~ValueService() = default;
  /// "host:port"
  virtual const std::string& address() const = 0;
  virtual void start(int rank) = 0;
};
std::unique_ptr<ValueService> make_value_service(const Job& job, ValueHandler handler);

/// A worker's end; `servers` are by rank.
std::unique_ptr<Servers> connect_servers(const Job& job, int rank,
                                         const std::vector<Member>& servers);

}  // namespace symbind::net
