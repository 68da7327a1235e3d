#pragma once
// How many threads the loops of one stretch of work use, whoever's thread it runs on.

namespace symbind {

/// While it lives, num_threads() of this thread is `count`; 0 changes nothing.
class ThreadsScope {
 public:
  explicit ThreadsScope(int count);
  ~ThreadsScope();
  ThreadsScope(const ThreadsScope&) = delete;
  ThreadsScope& operator=(const ThreadsScope&) = delete;

 private:
  int before_;
};

}  // namespace symbind
