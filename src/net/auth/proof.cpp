#include "net/auth/proof.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <fmt/format.h>

#include "base/check.h"

namespace symbind::net {
namespace {

std::string text(const char* direction, const Proof& challenge, const Hello& hello) {
  return fmt::format("symbind {} {} {} {} {}{}", direction, hello.from, hello.to, hello.generation,
                     bytes_of(challenge), bytes_of(hello.nonce));
}

}  // namespace

std::string_view bytes_of(const Proof& proof) {
  return {reinterpret_cast<const char*>(proof.data()), proof.size()};
}

Proof random_nonce() {
  Proof nonce;
  check(RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) == 1, ErrorKind::kState,
        "the system gives no random bytes");
  return nonce;
}

Proof proof_of(const std::string& token, const std::string& message) {
  Proof proof;
  unsigned int size = 0;
  const unsigned char* done = HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()),
                                   reinterpret_cast<const unsigned char*>(message.data()),
                                   message.size(), proof.data(), &size);
  check(done != nullptr && size == proof.size(), ErrorKind::kState, "HMAC-SHA256 failed");
  return proof;
}

bool same_proof(const Proof& a, const Proof& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string hello_text(const Proof& challenge, const Hello& hello) {
  return text("hello", challenge, hello);
}

std::string answer_text(const Proof& challenge, const Hello& hello) {
  return text("answer", challenge, hello);
}

}  // namespace symbind::net
