#pragma once
// Links over connected sockets.

#include <memory>
#include <vector>

#include "net/links.h"
#include "net/tcp/connect.h"

namespace symbind::net {

/// `sockets` are by rank, none for this one.
std::shared_ptr<Links> make_tcp_links(int rank, std::vector<Socket> sockets);

}  // namespace symbind::net
