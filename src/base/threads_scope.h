#pragma once
// How many threads the loops of one piece of work use, on any calling thread.

namespace symbind {

/// During its lifetime, num_threads() of this thread is `count`; 0 changes nothing.
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
