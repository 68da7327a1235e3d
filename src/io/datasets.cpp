// Data sets that are already on this machine.
//
// Decided here: MNIST and Fashion-MNIST have the same file names, so the first labels decide which
// one a folder holds. A folder must have all four files.
#include <symbind/datasets.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <symbind/io.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/settings.h"

namespace symbind::datasets {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDebian = "/usr/share/datasets";

/// The path of an idx file, plain or gzipped; empty if there is none.
std::string file_in(const std::string& folder, const char* name) {
  std::error_code error;
  for (const char* ending : {"", ".gz"}) {
    std::string path = (fs::path(folder) / (std::string(name) + ending)).string();
    if (fs::is_regular_file(path, error)) return path;
  }
  return {};
}

std::string name_of(const std::string& labels) {
  const std::vector<int> first = read_idx(labels).to_vector<int>();
  const auto begins = [&](std::initializer_list<int> with) {
    return first.size() >= with.size() && std::equal(with.begin(), with.end(), first.begin());
  };
  if (begins({5, 0, 4, 1, 9, 2, 1, 3})) return "MNIST";
  if (begins({9, 0, 0, 3, 0, 2, 7, 2})) return "Fashion-MNIST";
  return "unknown";
}

/// Letters only, lower case.
std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::vector<std::string> roots() {
  std::vector<std::string> result;
  settings::refresh();
  const std::string given = settings::text("SYMBIND_DATA");
  for (std::size_t at = 0; at < given.size();) {
    const std::size_t end = std::min(given.find(':', at), given.size());
    if (end > at) result.push_back(given.substr(at, end - at));
    at = end + 1;
  }
  result.emplace_back("data");
  result.emplace_back(kDebian);
  return result;
}

}  // namespace

std::vector<std::string> folders() {
  std::vector<std::string> result;
  for (const std::string& root : roots())
    for (const char* inside : {"", "mnist", "fashion-mnist"})
      result.push_back(*inside == '\0' ? root : (fs::path(root) / inside).string());
  return result;
}

ImageSet find_images(std::string_view name) {
  const std::string wanted = plain(name);
  check(wanted.empty() || wanted == "mnist" || wanted == "fashionmnist", ErrorKind::kName,
        "there is no data set '{}'; {}", name, nearest_hint(name, {"MNIST", "Fashion-MNIST"}));
  const std::vector<std::string> looked = folders();
  for (const std::string& folder : looked) {
    ImageSet set{"",
                 folder,
                 file_in(folder, "train-images-idx3-ubyte"),
                 file_in(folder, "train-labels-idx1-ubyte"),
                 file_in(folder, "t10k-images-idx3-ubyte"),
                 file_in(folder, "t10k-labels-idx1-ubyte")};
    if (set.train_images.empty() || set.train_labels.empty() || set.test_images.empty() ||
        set.test_labels.empty())
      continue;
    set.name = name_of(set.train_labels);
    if (!wanted.empty() && plain(set.name) != wanted) continue;
    log_info(fmt::format("data set {} from {}", set.name, set.folder));
    return set;
  }
  fail(
      ErrorKind::kIo,
      "{}: the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, "
      "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, plain or .gz, are in none of {}. Install "
      "Debian's package (apt install dataset-fashion-mnist), or put the files into data/, or set "
      "SYMBIND_DATA to their folder",
      name.empty() ? "no MNIST and no Fashion-MNIST" : fmt::format("no {}", name),
      fmt::join(looked, ", "));
}

}  // namespace symbind::datasets
