// opgen: the registry as a C++ header and a manual.
//   opgen [ROOT]          writes ROOT/include/symbind/ops.h and ROOT/docs/ops.md
//   opgen --check [ROOT]  exit status 1 when the files there differ
// It must not include ops.h, so that it builds when that is stale.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "operator_page.h"

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// True when the file holds (now) what it should.
bool settle(const std::string& path, const std::string& text, bool check_only) {
  if (read(path) == text) return true;
  if (check_only) {
    std::fprintf(stderr, "%s is not what the registry says: run opgen\n", path.c_str());
    return false;
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  std::printf("wrote %s\n", path.c_str());
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  bool check_only = false;
  std::string root = ".";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--check") {
      check_only = true;
    } else {
      root = word;
    }
  }
  const std::vector<opgen::Page> pages = opgen::pages(symbind::OpRegistry::global());
  const bool header =
      settle(root + "/include/symbind/ops.h", opgen::header_text(pages), check_only);
  const bool manual = settle(root + "/docs/ops.md", opgen::manual_text(pages), check_only);
  return header && manual ? 0 : 1;
}
