#pragma once
// How two processes prove to each other that they belong to the same job.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace symbind::net {

inline constexpr std::size_t kProofBytes = 32;
using Proof = std::array<unsigned char, kProofBytes>;

Proof random_nonce();
std::string_view bytes_of(const Proof& proof);
/// HMAC-SHA256 of `text` under the job's token.
Proof proof_of(const std::string& token, const std::string& text);
/// Compares in constant time.
bool same_proof(const Proof& a, const Proof& b);

/// What the connecting end of a link sends.
struct Hello {
  Proof nonce{};
  std::int32_t from = 0, to = 0, generation = 0;
  Proof proof{};
};
/// The proofs cover both nonces, both ranks and the direction.
std::string hello_text(const Proof& challenge, const Hello& hello);
std::string answer_text(const Proof& challenge, const Hello& hello);

}  // namespace symbind::net
