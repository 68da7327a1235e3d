// Decided here: -1 may be anywhere, after -2 and -4 too, where MXNet 1.9.1 writes the inferred
// extent into the wrong place and fails. A 0 or -1 beyond the last source axis: 0 fails, -1 may
// be 1.

#include "ndarray/reshape_codes.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"

namespace symbind {
namespace {

class CodeReader {
 public:
  CodeReader(std::vector<std::int64_t> from, std::vector<std::int64_t> codes, std::string what)
      : from_(std::move(from)), codes_(std::move(codes)), what_(std::move(what)) {}

  std::vector<std::int64_t> run() {
    while (at_ < codes_.size()) step(codes_[at_++]);
    infer();
    return std::move(out_);
  }

 private:
  void step(std::int64_t code) {
    switch (code) {
      case 0: out_.push_back(take(0)); return;
      case -1:
        require(inferred_ < 0, "-1 occurs twice");
        inferred_ = static_cast<std::ptrdiff_t>(out_.size());
        out_.push_back(1);
        ++source_;
        return;
      case -2:
        while (source_ < from_.size()) out_.push_back(from_[source_++]);
        return;
      case -3: {
        const std::int64_t first = take(-3);
        out_.push_back(first * take(-3));
        return;
      }
      case -4: split(); return;
      default:
        require(code > 0, "code " + std::to_string(code) + " is unknown");
        out_.push_back(code);
        ++source_;
    }
  }

  void split() {
    require(at_ + 2 <= codes_.size(), "-4 needs two factors (with reverse they precede it)");
    const std::int64_t whole = take(-4);
    std::int64_t a = codes_[at_++], b = codes_[at_++];
    require(a != -1 || b != -1, "only one factor of -4 may be -1");
    require((a > 0 || a == -1) && (b > 0 || b == -1), "the factors of -4 must be positive");
    if (a == -1) a = whole / b;
    if (b == -1) b = whole / a;
    const bool fits = a > 0 && b > 0 ? whole % a == 0 && whole / a == b : whole == 0;
    require(fits, fmt::format("-4 cannot split {} into {} x {}", whole, a, b));
    out_.push_back(a);
    out_.push_back(b);
  }

  void infer() {
    const std::int64_t size = product(from_);
    if (inferred_ >= 0) {
      const std::int64_t rest = product(out_);
      require(rest > 0 && size % rest == 0,
              fmt::format("{} elements do not divide by {}", size, rest));
      out_[static_cast<std::size_t>(inferred_)] = size / rest;
      return;
    }
    const std::int64_t got = product(out_);
    require(got == size, fmt::format("given {} elements, needed {}", size, got));
  }

  std::int64_t take(int code) {
    require(source_ < from_.size(), fmt::format("no axis is left for code {}", code));
    return from_[source_++];
  }

  std::int64_t product(const std::vector<std::int64_t>& dims) const {
    require(dims.size() <= kMaxRank, "the result has too many axes");
    return Shape(dims).size();
  }

  void require(bool ok, const std::string& why) const {
    check(ok, ErrorKind::kShape, "{}: {}", what_, why);
  }

  std::vector<std::int64_t> from_, codes_, out_;
  std::string what_;
  std::size_t at_ = 0, source_ = 0;
  std::ptrdiff_t inferred_ = -1;
};

}  // namespace

Shape apply_reshape_codes(const Shape& from, const std::vector<std::int64_t>& codes, bool reverse) {
  std::string what = fmt::format("cannot reshape {} into ({}){}", from.str(),
                                 fmt::join(codes, ", "), reverse ? " with reverse" : "");
  std::vector<std::int64_t> source = from.dims(), wanted = codes;
  if (reverse) {
    std::reverse(source.begin(), source.end());
    std::reverse(wanted.begin(), wanted.end());
  }
  std::vector<std::int64_t> out = CodeReader(source, wanted, std::move(what)).run();
  if (reverse) std::reverse(out.begin(), out.end());
  return Shape(out);
}

}  // namespace symbind
