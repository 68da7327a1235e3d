// The examples of FIPS 180-4, and pieces of every length.

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace symbind {
namespace {

TEST(Sha256, examples_of_the_standard) {
  EXPECT_EQ(sha256(std::string_view("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string_view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, pieces_are_as_good_as_the_whole) {
  const std::string text(300, 'x');
  for (std::size_t piece = 1; piece < 150; ++piece) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece)
      hash.add(std::as_bytes(std::span(text)).subspan(at, std::min(piece, text.size() - at)));
    EXPECT_EQ(hash.digest(), sha256(text)) << piece;
  }
}

}  // namespace
}  // namespace symbind
