#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "symbind/error.h"
#include "symbind/log.h"

namespace symbind {
namespace {

struct Environment {
  Environment(const char* name, const char* value) : name(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name); }
  const char* name;
};

TEST(Settings, DefaultsWithoutEnvironment) {
  EXPECT_EQ(settings::number("SYMBIND_NUM_THREADS"), 0);
  EXPECT_FALSE(settings::flag("SYMBIND_EXACT"));
  EXPECT_TRUE(settings::flag("MXNET_ELIMINATE_COMMON_EXPR"));
  EXPECT_EQ(settings::text("SYMBIND_KERNELS"), "");
}

TEST(Settings, ReadAtUse) {
  EXPECT_FALSE(settings::flag("SYMBIND_CHECK"));
  {
    Environment e("SYMBIND_CHECK", "1");
    EXPECT_TRUE(settings::flag("SYMBIND_CHECK"));
  }
  EXPECT_FALSE(settings::flag("SYMBIND_CHECK"));
}

TEST(Settings, NamesOfMxnetMapUnlessOursIsSet) {
  Environment theirs("MXNET_OMP_MAX_THREADS", "3");
  EXPECT_EQ(settings::number("SYMBIND_NUM_THREADS"), 3);
  Environment ours("SYMBIND_NUM_THREADS", "5");
  EXPECT_EQ(settings::number("SYMBIND_NUM_THREADS"), 5);
}

TEST(Settings, OverridesNest) {
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

TEST(Settings, IgnoredOnesAreNotedOnce) {
  Environment e("MXNET_BACKWARD_DO_MIRROR", "1");
  std::vector<std::string> seen;
  set_log_sink([&](LogLevel, std::string_view text) { seen.emplace_back(text); });
  settings::note_ignored();
  settings::note_ignored();
  set_log_sink({});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].find("MXNET_BACKWARD_DO_MIRROR is ignored: "), 0u) << seen[0];
}

TEST(Settings, ThePageNamesEveryRow) {
  std::ifstream page(SYMBIND_SOURCE_DIR "/docs/settings.md");
  std::stringstream text;
  text << page.rdbuf();
  std::set<std::string> names;
  for (const auto& row : settings::table()) {
    EXPECT_NE(text.str().find("| `" + std::string(row.name) + "` |"), std::string::npos)
        << "docs/settings.md does not name " << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice in the table";
    if (row.treatment == settings::Treatment::kMapped) {
      EXPECT_NO_THROW(settings::text(row.maps_to)) << row.name;
    }
  }
}

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(kind_name(e.kind())) + ": " + e.what();
  }
  return "no error";
}

TEST(BadInputSettings, ValuesThatAreNone) {
  settings::override_for_test a("SYMBIND_EXACT", "maybe");
  EXPECT_EQ(message_of([] { settings::flag("SYMBIND_EXACT"); }),
            "ValueError: setting SYMBIND_EXACT is 'maybe'; it takes 0 or 1");
  for (const char* bad : {"two", "", "2x", "99999999999"}) {
    settings::override_for_test b("SYMBIND_NUM_THREADS", bad);
    EXPECT_EQ(message_of([] { settings::number("SYMBIND_NUM_THREADS"); }),
              "ValueError: setting SYMBIND_NUM_THREADS is '" + std::string(bad) +
                  "'; it takes a whole number");
  }
}

TEST(BadInputSettings, UnknownName) {
  EXPECT_EQ(message_of([] { settings::text("SYMBIND_NUM_THREAD"); }),
            "NameError: there is no setting 'SYMBIND_NUM_THREAD'; did you mean "
            "'SYMBIND_NUM_THREADS'?");
}

}  // namespace
}  // namespace symbind
