#pragma once
// What a fuzzer calls: each function reads bytes as a file of one kind and uses what it has read.
// It returns how far they came: 0 refused, 1 loaded, 2 used to the end.
//
// An Error is a good answer. Whatever else leaves a loader, a property that does not hold, a crash,
// a sanitizer's report, a wait of more than 10 s or more than 2 GB is a finding.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace symbind::fuzz {

using Bytes = std::span<const std::uint8_t>;

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int params(Bytes bytes);
int symbol(Bytes bytes);
int states(Bytes bytes);
int manifest(Bytes bytes);
int idx(Bytes bytes);
int rec(Bytes bytes);
int csv(Bytes bytes);
int libsvm(Bytes bytes);

struct Loader {
  const char* name;
  int (*run)(Bytes);
};
inline constexpr Loader kLoaders[] = {
    {"params", params}, {"symbol", symbol}, {"states", states}, {"manifest", manifest},
    {"idx", idx},       {"rec", rec},       {"csv", csv},       {"libsvm", libsvm}};

/// A manifest as a training writes it, in the form that `manifest` reads.
std::string manifest_seed();

/// Lowers the limits of the library so that a case stays small and quick, and keeps its log quiet.
/// Once per process, before the first case.
void prepare();

}  // namespace symbind::fuzz
