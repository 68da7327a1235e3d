// Decided here: a name is close if at most a third of the longer name (but always one character)
// must change, or if one contains the other and is at least three characters long. A swap of two
// neighbours counts as one change.
#include "base/nearest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

namespace symbind {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::vector<size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& now = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& second_above = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({above[j] + 1, now[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], second_above[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

std::string nearest_hint(std::string_view wrong, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 256;  // a name longer than this is no typing mistake
  constexpr size_t kShown = 3;
  if (wrong.empty() || wrong.size() > kLongest) return "";
  const std::string sought = lower(wrong);

  std::vector<std::tuple<size_t, const std::string*>> close;
  for (const std::string& candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongest) continue;
    const std::string name = lower(candidate);
    const size_t distance = edit_distance(sought, name);
    const size_t allowed = std::max<size_t>(1, std::max(sought.size(), name.size()) / 3);
    const bool inside =
        std::min(sought.size(), name.size()) >= 3 &&
        (name.find(sought) != std::string::npos || sought.find(name) != std::string::npos);
    const bool everything_changed = distance >= std::max(sought.size(), name.size());
    if ((distance <= allowed && !everything_changed) || inside)
      close.emplace_back(distance, &candidate);
  }
  std::sort(close.begin(), close.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), *std::get<1>(a)) < std::tie(std::get<0>(b), *std::get<1>(b));
  });
  close.erase(
      std::unique(close.begin(), close.end(),
                  [](const auto& a, const auto& b) { return *std::get<1>(a) == *std::get<1>(b); }),
      close.end());
  if (close.empty()) return "";
  if (close.size() > kShown) close.resize(kShown);

  std::string hint = "did you mean ";
  for (size_t i = 0; i < close.size(); ++i) {
    if (i > 0) hint += i + 1 == close.size() ? " or " : ", ";
    hint += '\'' + *std::get<1>(close[i]) + '\'';
  }
  return hint + "?";
}

}  // namespace symbind
