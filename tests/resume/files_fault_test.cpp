// A save that fails at any of its system calls: the error is clear, a complete set loads, and no
// temporary file remains.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include <fmt/format.h>

#include "resume/sets.h"

namespace symbind {
namespace {

using testing::HasSubstr;

enum class Fault { kNone, kFail, kFailFromHere, kShortThenFail };

struct Plan {
  FileCalls real;
  int at = -1;  // the call that is hit
  int count = 0;
  Fault fault = Fault::kNone;
  int code = EIO;
  bool cut = false;       // a short write was made: the next one fails
  int folder = -1;        // the descriptor of a folder, whose names are synchronised
  int file = -1;          // the one that was opened last for writing
  bool harmless = false;  // the call that was hit was on a folder: the file is whole without it
};
Plan* plan = nullptr;

/// Whether this call is the one.
bool hit() {
  const int number = plan->count++;
  const bool now = number == plan->at || (number > plan->at && plan->fault == Fault::kFailFromHere);
  return now && plan->fault != Fault::kNone;
}

int failed() {
  errno = plan->code;
  return -1;
}

/// Counts the calls of files, and lets one of them fail.
struct Calls {
  explicit Calls(Plan given) : own(given) {
    own.real = file_calls();
    plan = &own;
    file_calls() = {[](const char* path, int flags, unsigned mode) {
                      const bool on_folder = (flags & O_DIRECTORY) != 0;
                      if (hit()) {
                        plan->harmless = on_folder;
                        return failed();
                      }
                      const int file = plan->real.open(path, flags, mode);
                      (on_folder ? plan->folder : plan->file) = file;
                      return file;
                    },
                    [](int file, const void* data, size_t size) -> std::int64_t {
                      if (plan->cut) return failed();
                      if (!hit()) return plan->real.write(file, data, size);
                      if (plan->fault != Fault::kShortThenFail) return failed();
                      plan->cut = true;
                      return plan->real.write(file, data, size / 2);
                    },
                    [](int file) {
                      if (!hit()) return plan->real.fsync(file);
                      plan->harmless = file == plan->folder;
                      return failed();
                    },
                    [](int file) {
                      const int done = plan->real.close(file);  // a failing close closes, too
                      const bool on_folder = file == plan->folder;
                      const bool written = file == plan->file;
                      if (on_folder) plan->folder = -1;
                      if (written) plan->file = -1;
                      if (!hit()) return done;
                      plan->harmless = on_folder || !written;  // or was only read
                      return failed();
                    },
                    [](const char* from, const char* to) {
                      return hit() ? failed() : plan->real.rename(from, to);
                    },
                    [](const char* path) { return hit() ? failed() : plan->real.unlink(path); }};
  }
  ~Calls() {
    file_calls() = own.real;
    plan = nullptr;
  }
  Plan own;
};

int calls_of_a_save(int epoch) {
  const Folder folder;
  Checkpointer saver(direct(folder.prefix()));
  saver.save(state_of(1, 1));
  const Calls calls({});
  saver.save(state_of(2, epoch));
  return plan->count;
}

struct Way {
  const char* name;
  Fault fault;
  int code;
};
constexpr Way kWays[] = {{"ENOSPC", Fault::kFail, ENOSPC},
                         {"EIO", Fault::kFail, EIO},
                         {"short write", Fault::kShortThenFail, ENOSPC}};

TEST(BadInputCheckpoint, every_call_of_a_save_fails_once) {
  const int total = calls_of_a_save(2);
  ASSERT_GE(total, 20);
  int errors = 0;
  for (const Way& way : kWays) {
    for (int at = 0; at < total; ++at) {
      SCOPED_TRACE(fmt::format("{} at call {} of {}", way.name, at, total));
      const Folder folder;
      Checkpointer saver(direct(folder.prefix()));
      saver.save(state_of(1, 1));
      bool refused = false, harmless = false;
      {
        const Calls calls({.real = {}, .at = at, .fault = way.fault, .code = way.code});
        try {
          saver.save(state_of(2, 2));
        } catch (const Error& error) {
          refused = true;
          EXPECT_EQ(error.kind(), ErrorKind::kIo);
          EXPECT_THAT(error.what(), HasSubstr("model-0002"));
          EXPECT_THAT(error.what(), HasSubstr(std::strerror(way.code)));
          EXPECT_THAT(error.what(), HasSubstr("the last complete one is"));
          EXPECT_THAT(error.what(), HasSubstr("model-0001.manifest.json"));
        }
        harmless = plan->harmless;
      }
      EXPECT_EQ(refused, !harmless);
      errors += refused ? 1 : 0;
      EXPECT_EQ(loaded_mark(folder.prefix()), refused ? 1 : 2);  // said so, or done
      EXPECT_EQ(leftovers(folder), std::vector<std::string>());
    }
  }
  EXPECT_GE(errors, 3 * 15);  // only folders that cannot be synchronised are ignored
}

TEST(BadInputCheckpoint, a_set_that_is_replaced_fails) {
  // The same epoch again, as in a restarted training: the old set or the new one, never a mix.
  const int total = calls_of_a_save(1);
  int old_sets = 0, new_sets = 0;
  for (int at = 0; at < total; ++at) {
    SCOPED_TRACE(at);
    const Folder folder;
    Checkpointer saver(direct(folder.prefix()));
    saver.save(state_of(1, 1));
    {
      const Calls calls({.real = {}, .at = at, .fault = Fault::kFail});
      try {
        saver.save(state_of(2, 1));
      } catch (const Error&) {
      }
    }
    (one_set_loads(folder) == 1 ? old_sets : new_sets) += 1;
  }
  EXPECT_GT(old_sets, 0);
  EXPECT_GT(new_sets, 0);
}

TEST(Checkpoint, an_error_in_the_background_is_thrown_at_the_next_save_or_at_the_end) {
  const Folder folder;
  Checkpointer saver({.prefix = folder.prefix()});
  {
    const Calls calls({.real = {}, .at = 3, .fault = Fault::kFail, .code = ENOSPC});
    saver.save(state_of(1, 1));
    try {
      saver.finish();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("model-0001"));
      EXPECT_THAT(error.what(), HasSubstr("there is no complete one before it"));
    }
  }
  saver.save(state_of(2, 2));  // thrown once
  saver.finish();
  EXPECT_EQ(loaded_mark(folder.prefix()), 2);
}

TEST(Checkpoint, training_stops_when_its_checkpoints_fail) {
  const Folder folder;
  Module module(mlp());
  const DataBatch all = batch(24);
  NDArrayIter data(all.data[0], all.label[0], {.batch_size = 8});
  const Calls calls({.real = {}, .at = 60, .fault = Fault::kFailFromHere, .code = ENOSPC});
  std::atomic<int> batches = 0;
  try {
    module.fit(data, {.batch_end_callback = [&](const BatchEndParam&) { ++batches; },
                      .num_epoch = 40,
                      .checkpoint = CheckpointOptions{.prefix = folder.prefix()}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
  }
  EXPECT_LT(batches, 40 * 3);
  EXPECT_TRUE(load_training(folder.prefix()).has_value());
}

}  // namespace
}  // namespace symbind
