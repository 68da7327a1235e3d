#include "fuzz/support.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <symbind/log.h>

#include "base/settings.h"

namespace symbind::fuzz {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder()
      : path((fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()) /
             fmt::format("symbind-fuzz-{}", ::getpid())) {
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
};

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

void prepare() {
  static const settings::override_for_test kLimits[] = {
      {"SYMBIND_LIMIT_FILE_BYTES", "67108864"},   {"SYMBIND_LIMIT_FILE_ARRAYS", "10000"},
      {"SYMBIND_LIMIT_SPARSE_BYTES", "16777216"}, {"SYMBIND_LIMIT_NODE_INPUTS", "1024"},
      {"SYMBIND_LIMIT_NODE_OUTPUTS", "1024"},     {"SYMBIND_LIMIT_DEVICE_WAIT", "0"},
  };
  set_log_sink([](LogLevel, std::string_view) {});
}

void must(bool holds, std::string_view property) {
  if (holds) return;
  fmt::print(stderr, "fuzz: this does not hold: {}\n", property);
  std::abort();
}

const std::string& folder() {
  static const Folder kFolder;
  return kFolder.path;
}

std::string write_file(const std::string& name, std::string_view contents) {
  std::string path = folder() + "/" + name;
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wb"));
  must(file != nullptr &&
           std::fwrite(contents.data(), 1, contents.size(), file.get()) == contents.size(),
       "a file of the fuzzer can be written: " + path);
  return path;
}

}  // namespace symbind::fuzz
