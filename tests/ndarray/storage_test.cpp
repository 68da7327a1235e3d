#include "ndarray/storage.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <symbind/ndarray.h>

#include "ndarray/access.h"

namespace symbind {
namespace {

Error broken(const char* text) { return Error(ErrorKind::kValue, text); }

TEST(Storage, every_write_bumps_the_version) {
  NDArray a = NDArray::zeros({4, 2});
  std::uint64_t last = a.storage()->version();
  const auto grew = [&] {
    const bool more = a.storage()->version() > last;
    last = a.storage()->version();
    return more;
  };
  a.set(1);
  EXPECT_TRUE(grew());
  a.set({Index(1)}, 5);
  EXPECT_TRUE(grew());
  a.set({Index::all(), Index(1)}, NDArray::ones({4}));
  EXPECT_TRUE(grew());
  NDArray::ones({4, 2}).copy_to(a);
  EXPECT_TRUE(grew());
  a.at(2).set(3);  // a view writes through
  EXPECT_TRUE(grew());
  a.to_vector<float>();
  a.copy();
  a.str();
  EXPECT_FALSE(grew());
}

TEST(Storage, derived_forms_are_kept_and_go_stale) {
  NDArray a = NDArray::ones({8});
  Storage& storage = *a.storage();
  DerivedForm& form = storage.derived("doubled", 32);
  EXPECT_FALSE(form.current(storage));
  int made = 0;
  const auto refresh = [&] {
    form.refresh(storage, [&](void* data) {
      ++made;
      for (int i = 0; i < 8; ++i)
        static_cast<float*>(data)[i] = 2 * static_cast<const float*>(storage.data())[i];
    });
  };
  refresh();
  refresh();
  EXPECT_EQ(made, 1);
  EXPECT_TRUE(form.current(storage));
  EXPECT_EQ(&storage.derived("doubled", 32), &form);
  EXPECT_NE(&storage.derived("doubled", 64), &form);
  EXPECT_NE(&storage.derived("doubled", 32, std::size_t{1} << 28), &form) << "of another part";
  a.set(3);
  EXPECT_FALSE(form.current(storage));
  refresh();
  EXPECT_EQ(static_cast<float*>(form.data())[7], 6);
}

TEST(Storage, forms_go_with_their_users) {
  const NDArray a = NDArray::ones({8});
  Storage& storage = *a.storage();
  auto user = std::make_shared<const int>(1);
  DerivedForm& form = storage.derived("packed", 32, 0, user);
  storage.derived("kept", 32);
  EXPECT_EQ(storage.num_derived(), 2U);
  user.reset();
  auto again = std::make_shared<const int>(2);
  EXPECT_EQ(&storage.derived("packed", 32, 0, again), &form) << "still there for the next user";
  storage.derived("other", 32, 0, again);
  EXPECT_EQ(storage.num_derived(), 3U);
  again.reset();
  storage.derived("new", 32);  // makes room
  EXPECT_EQ(storage.num_derived(), 2U);
}

TEST(Storage, an_escaped_pointer_counts_as_changed_for_ever) {
  NDArray a = NDArray::ones({1});
  DerivedForm& form = a.storage()->derived("copy", 4);
  form.refresh(*a.storage(), [](void*) {});
  EXPECT_TRUE(form.current(*a.storage()));
  a.mutable_data();
  form.refresh(*a.storage(), [](void*) {});
  EXPECT_FALSE(form.current(*a.storage()));
}

TEST(Storage, wrapped_memory_is_given_back) {
  float numbers[2] = {1, 2};
  int released = 0;
  {
    NDArray a(Storage::wrap(numbers, sizeof numbers, cpu(), [&] { ++released; }), {2},
              DType::kFloat32);
    const NDArray view = a.slice(1, 2);
    a = NDArray();
    EXPECT_EQ(view.scalar(), 2);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Errors, are_raised_once_by_the_next_wait) {
  const NDArray a = NDArray::zeros({3});
  a.storage()->set_error(broken("first"));
  EXPECT_TRUE(a.storage()->has_error());
  EXPECT_THROW(a.wait_to_read(), Error);
  a.wait_to_read();
  EXPECT_EQ(a.slice(0, 2).to_vector<float>(), (std::vector<float>{0, 0}));
  waitall();
}

TEST(Errors, reading_on_a_view_raises_too) {
  const NDArray a = NDArray::zeros({3});
  a.storage()->set_error(broken("first"));
  EXPECT_THROW(a.at(1).scalar(), Error);
  EXPECT_EQ(a.at(1).scalar(), 0);
  waitall();
}

TEST(Errors, waitall_raises_the_first_and_clears_all) {
  const NDArray a = NDArray::zeros({1}), b = NDArray::zeros({1});
  a.storage()->set_error(broken("first"));
  b.storage()->set_error(broken("second"));
  try {
    waitall();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "first");
  }
  waitall();
  a.wait_to_read();
  b.wait_to_read();
}

TEST(Errors, an_error_outlives_its_array_until_waitall) {
  NDArray::zeros({1}).storage()->set_error(broken("lost"));
  EXPECT_THROW(waitall(), Error);
  waitall();
}

// As in MXNet: raising one error clears waitall's list. The arrays keep their errors.
TEST(Errors, reading_one_silences_waitall) {
  const NDArray a = NDArray::zeros({1}), b = NDArray::zeros({1});
  a.storage()->set_error(broken("first"));
  b.storage()->set_error(broken("second"));
  EXPECT_THROW(b.wait_to_read(), Error);
  waitall();
  EXPECT_THROW(a.wait_to_read(), Error);
}

TEST(Errors, go_along_with_copies) {
  const NDArray a = NDArray::zeros({2, 2});
  a.storage()->set_error(broken("first"));
  const NDArray copied = a.copy();
  const NDArray column = a.index({Index::all(), Index(0)});
  NDArray target = NDArray::zeros({2, 2});
  target.set(a);
  EXPECT_TRUE(copied.storage()->has_error());
  EXPECT_TRUE(column.storage()->has_error());
  EXPECT_TRUE(target.storage()->has_error());
  EXPECT_THROW(copied.wait_to_read(), Error);
  // One error, read once: everything it befell is free again.
  column.wait_to_read();
  a.wait_to_read();
  waitall();
}

TEST(ThreadsStorage, derived_forms_are_made_once) {
  const NDArray a = NDArray::ones({16});
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      DerivedForm& form = a.storage()->derived("packed", 64);
      form.refresh(*a.storage(), [&](void* data) {
        ++made;
        static_cast<float*>(data)[0] = 7;
      });
      EXPECT_EQ(static_cast<float*>(form.data())[0], 7);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(ThreadsStorage, errors_are_read_once) {
  const NDArray a = NDArray::ones({1});
  a.storage()->set_error(broken("first"));
  std::atomic<int> raised{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      try {
        if (t % 2 == 0)
          a.wait_to_read();
        else
          waitall();
      } catch (const Error&) {
        ++raised;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(raised, 1);
}

}  // namespace
}  // namespace symbind
