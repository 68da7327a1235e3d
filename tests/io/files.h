#pragma once
// Files of a test's own, recordings, and the text of an error.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include <symbind/error.h>

#include "support/source_path.h"

namespace symbind {

/// A file that is gone at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& contents = "")
      : path_((std::filesystem::path(testing::TempDir()) /
               fmt::format("io-{}-{}", ::getpid(), static_cast<const void*>(this)))
                  .string()) {
    write(contents);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  void write(const std::string& contents) const {
    std::ofstream(path_, std::ios::binary) << contents;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string golden_path(const std::string& name) {
  return source_path("tests/golden/io/" + name);
}
inline nlohmann::json recorded_values(const std::string& name) {
  return nlohmann::json::parse(contents_of(golden_path(name)));
}

inline std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// Runs `call`, which must throw an Error of this kind with all these parts in its text.
template <class F, class... Parts>
void expect_error(ErrorKind kind, F&& call, const Parts&... parts) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    for (const std::string& part : {std::string(parts)...})
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << e.what();
  }
}

}  // namespace symbind
