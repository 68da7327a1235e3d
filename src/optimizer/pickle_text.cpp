// The texts of pickles as UTF-8: what Python 2 wrote as bytes, and the escapes of protocol 0.
#include <algorithm>
#include <charconv>

#include "optimizer/pickle.h"

namespace symbind {
namespace {

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (c >> 18 & 0x07));
    out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (c & 0x3f));
  }
}

}  // namespace

std::string pickle_from_latin(std::string_view raw) {
  std::string utf8;
  for (const char c : raw) append_utf8(utf8, static_cast<unsigned char>(c));
  return utf8;
}

std::string pickle_unescaped(PickleHeap& heap, std::string_view s, bool unicode) {
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto plain = static_cast<unsigned char>(s[i]);
    if (s[i] != '\\' || i + 1 >= s.size() || (unicode && s[i + 1] != 'u' && s[i + 1] != 'U')) {
      unicode ? append_utf8(out, plain) : void(out += s[i]);
      continue;
    }
    const char kind = s[++i];
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0 || (kind != 'x') != unicode) {
      constexpr std::string_view kFrom = "abfnrtv", kTo = "\a\b\f\n\r\t\v";
      const std::size_t place = kFrom.find(kind);
      out += place == std::string_view::npos ? kind : kTo[place];
      continue;
    }
    std::uint32_t value = 0;
    const char* begin = s.data() + i + 1;
    const std::size_t left = s.size() - i - 1;
    const auto [end, error] = std::from_chars(begin, begin + std::min(digits, left), value, 16);
    if (error != std::errc() || end != begin + digits || value > 0x10ffff)
      heap.fail("a damaged escape in a string");
    unicode ? append_utf8(out, value) : void(out += static_cast<char>(value));
    i += digits;
  }
  return out;
}

}  // namespace symbind
