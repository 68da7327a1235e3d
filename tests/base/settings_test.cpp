#include "base/settings.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/parallel.h"
#include "support/source_path.h"
#include "symbind/error.h"
#include "symbind/log.h"
#include "symbind/runtime.h"

namespace symbind {
namespace {

struct Environment {
  Environment(const char* name, const char* value) : name(name) {
    ::setenv(name, value, 1);
    settings::refresh();
  }
  ~Environment() {
    ::unsetenv(name);
    settings::refresh();
  }
  const char* name;
};

TEST(Settings, defaults_without_environment) {
  EXPECT_EQ(settings::number("SYMBIND_NUM_THREADS"), 0);
  EXPECT_FALSE(settings::flag("SYMBIND_EXACT"));
  EXPECT_TRUE(settings::flag("MXNET_ELIMINATE_COMMON_EXPR"));
  EXPECT_EQ(settings::text("SYMBIND_KERNELS"), "");
}

TEST(Settings, are_a_snapshot_that_refresh_takes) {
  EXPECT_FALSE(settings::flag("SYMBIND_CHECK"));
  const std::uint64_t before = settings::stamp();
  ::setenv("SYMBIND_CHECK", "1", 1);
  EXPECT_FALSE(settings::flag("SYMBIND_CHECK"));
  EXPECT_EQ(settings::stamp(), before);
  refresh_settings();
  EXPECT_TRUE(settings::flag("SYMBIND_CHECK"));
  EXPECT_NE(settings::stamp(), before);
  ::unsetenv("SYMBIND_CHECK");
  EXPECT_TRUE(settings::flag("SYMBIND_CHECK"));
  refresh_settings();
  EXPECT_FALSE(settings::flag("SYMBIND_CHECK"));
  EXPECT_EQ(settings::stamp(), before);  // what was prepared for these values is found again
}

int guarded = 0;

TEST(Settings, are_taken_inside_the_hosts_guard) {
  set_environment_guard([](void (*read)()) {
    ++guarded;
    read();
  });
  const Environment e("SYMBIND_CHECK", "1");
  EXPECT_EQ(guarded, 1);
  EXPECT_TRUE(settings::flag("SYMBIND_CHECK"));
  set_environment_guard(nullptr);
  settings::refresh();
  EXPECT_EQ(guarded, 1);
}

// The C library moves the table of variables when it grows, and frees values that are replaced: a
// reader of the table crashes, or the thread sanitizer reports it.
TEST(ThreadsSettings, are_read_while_the_environment_changes) {
  settings::refresh();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i)
      ::setenv(("SYMBIND_TEST_" + std::to_string(i)).c_str(), "some value", 1);
    for (int i = 0; i < 3000; ++i) ::unsetenv(("SYMBIND_TEST_" + std::to_string(i)).c_str());
    stop = true;
  });
  const std::uint64_t stamp = settings::stamp();
  std::int64_t reads = 0;
  while (!stop) {
    EXPECT_EQ(settings::stamp(), stamp);
    EXPECT_EQ(settings::text("SYMBIND_KERNELS"), "");
    EXPECT_GE(num_threads(), 1);
    ++reads;
  }
  writer.join();
  EXPECT_GT(reads, 0);
}

TEST(ThreadsSettings, readers_and_refreshers) {
  std::atomic<bool> stop{false};
  std::thread refresher([&] {
    for (int i = 0; i < 300; ++i) {
      const settings::override_for_test o("SYMBIND_KERNELS", std::to_string(i % 7));
      settings::refresh();
    }
    stop = true;
  });
  while (!stop) {
    const std::string text = settings::text("SYMBIND_KERNELS");
    EXPECT_TRUE(text.empty() || (text.size() == 1 && text[0] >= '0' && text[0] <= '6')) << text;
  }
  refresher.join();
  EXPECT_EQ(settings::text("SYMBIND_KERNELS"), "");
}

TEST(Settings, names_of_mxnet_map_unless_ours_is_set) {
  Environment theirs("MXNET_OMP_MAX_THREADS", "3");
  EXPECT_EQ(settings::number("SYMBIND_NUM_THREADS"), 3);
  Environment ours("SYMBIND_NUM_THREADS", "5");
  EXPECT_EQ(settings::number("SYMBIND_NUM_THREADS"), 5);
}

TEST(Settings, overrides_nest) {
  Environment e("SYMBIND_LOG", "passes");
  {
    settings::override_for_test outer("SYMBIND_LOG", "dispatch, passes");
    {
      settings::override_for_test inner("SYMBIND_LOG", "");
      EXPECT_EQ(settings::text("SYMBIND_LOG"), "");
    }
    EXPECT_TRUE(settings::has_item("SYMBIND_LOG", "dispatch"));
    EXPECT_TRUE(settings::has_item("SYMBIND_LOG", "passes"));
    EXPECT_FALSE(settings::has_item("SYMBIND_LOG", "pass"));
  }
  EXPECT_EQ(settings::text("SYMBIND_LOG"), "passes");
}

TEST(Settings, ignored_ones_are_noted_once) {
  Environment e("MXNET_GPU_WORKER_NSTREAMS", "2");
  std::vector<std::string> seen;
  set_log_sink([&](LogLevel, std::string_view text) { seen.emplace_back(text); });
  settings::note_ignored();
  settings::note_ignored();
  set_log_sink({});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].find("MXNET_GPU_WORKER_NSTREAMS is ignored: "), 0u) << seen[0];
}

/// The rows of the page's tables: cells without backticks, by variable.
std::map<std::string, std::vector<std::string>> rows_of_the_page() {
  std::ifstream page(source_path("docs/settings.md"));
  std::map<std::string, std::vector<std::string>> rows;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    std::erase(line, '`');
    std::vector<std::string> cells;
    for (size_t begin = 1, end; (end = line.find('|', begin)) != std::string::npos;
         begin = end + 1) {
      std::string cell = line.substr(begin, end - begin);
      cell.erase(0, cell.find_first_not_of(' '));
      cell.erase(cell.find_last_not_of(' ') + 1);
      cells.push_back(cell);
    }
    EXPECT_TRUE(rows.emplace(cells[0], cells).second) << cells[0] << " is on the page twice";
  }
  return rows;
}

TEST(Settings, the_page_is_the_table) {
  auto page = rows_of_the_page();
  std::set<std::string> names;
  for (const auto& row : settings::table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is in the table twice";
    const std::string name = row.name, mapped = row.maps_to;
    std::vector<std::string> wanted = {name, row.help};
    if (row.treatment == settings::Treatment::kHonoured)
      wanted = {name, row.default_value, row.help};
    if (row.treatment == settings::Treatment::kMapped) {
      EXPECT_NO_THROW(settings::text(row.maps_to)) << row.name;
      wanted = {name, mapped + ", unless that is set", row.help};
    }
    EXPECT_EQ(page[name], wanted) << "docs/settings.md differs";
    page.erase(name);
  }
  for (const auto& [name, cells] : page) ADD_FAILURE() << name << " is on the page only";
}

TEST(Settings, every_variable_that_mxnet_documents) {
  std::set<std::string> known;
  for (const auto& row : settings::table()) known.insert(row.name);
  std::ifstream names(source_path("tests/golden/mxnet_variables.txt"));
  int count = 0;
  for (std::string name; std::getline(names, name); ++count)
    EXPECT_TRUE(known.contains(name)) << name << " is not in the table";
  EXPECT_GT(count, 60);
}

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(kind_name(e.kind())) + ": " + e.what();
  }
  return "no error";
}

TEST(BadInputSettings, invalid_values) {
  settings::override_for_test a("SYMBIND_EXACT", "maybe");
  EXPECT_EQ(message_of([] { settings::flag("SYMBIND_EXACT"); }),
            "ValueError: setting SYMBIND_EXACT is 'maybe'; it takes 0 or 1");
  for (const char* bad : {"two", "", "2x", "99999999999999999999"}) {
    settings::override_for_test b("SYMBIND_NUM_THREADS", bad);
    EXPECT_EQ(message_of([] { settings::number("SYMBIND_NUM_THREADS"); }),
              "ValueError: setting SYMBIND_NUM_THREADS is '" + std::string(bad) +
                  "'; it takes a whole number");
  }
}

TEST(BadInputSettings, numbers_out_of_range) {
  settings::override_for_test a("SYMBIND_NUM_THREADS", "7");
  EXPECT_EQ(message_of([] { settings::number("SYMBIND_NUM_THREADS", 0, 6); }),
            "ValueError: setting SYMBIND_NUM_THREADS is '7'; it takes 0 to 6");
}

TEST(BadInputSettings, unknown_name) {
  EXPECT_EQ(message_of([] { settings::text("SYMBIND_NUM_THREAD"); }),
            "NameError: there is no setting 'SYMBIND_NUM_THREAD'; did you mean "
            "'SYMBIND_NUM_THREADS' or 'SYMBIND_LIMIT_THREADS'?");
}

}  // namespace
}  // namespace symbind
