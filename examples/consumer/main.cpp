// A program outside the project: it sees what was installed and nothing else.
#include <symbind/error.h>
#include <symbind/log.h>

#include <cstdio>
#include <string>

int main() {
  std::string seen;
  symbind::set_log_sink([&](symbind::LogLevel, std::string_view text) { seen = text; });
  symbind::log_info("hello");
  const symbind::Error error(symbind::ErrorKind::kShape, "as expected");
  std::printf("consumer: %s, %s\n", seen.c_str(), symbind::kind_name(error.kind()));
  return seen == "hello" ? 0 : 1;
}
