#pragma once
// Messages as they travel, and as the rest of net/ knows them.

#include <dist.grpc.pb.h>

#include "net/auth/proof.h"
#include "net/messages.h"

namespace symbind::net {

dist::FromMember encode(const FromMember& message);
dist::ToMember encode(const ToMember& message);
/// Nothing if the message is empty.
std::optional<FromMember> decode(const dist::FromMember& message);
std::optional<ToMember> decode(const dist::ToMember& message);

/// What the proofs of joining cover.
std::string join_text(std::string_view challenge, const dist::Join& join);
std::string welcome_text(std::string_view challenge, std::string_view nonce);

}  // namespace symbind::net
