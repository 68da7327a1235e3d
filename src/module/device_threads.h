#pragma once
// Runs the devices of a group in parallel.
//
// Decided here: the allowed threads are divided evenly, so that four CPU devices on two cores do
// not use eight threads. Devices are bound and run by the same workers, because kernels must run
// with the thread count they were prepared with. An error of any device is raised in the caller,
// that of the lowest device first. Where only one thread is allowed, and in a forked child (whose
// threads are gone), the devices run one after the other in the calling thread. Devices that wait
// for each other during a run (SyncBatchNorm) have a thread each, however few threads are allowed:
// all but the last sleep while they wait.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/team.h"

namespace symbind {

class DeviceThreads : public Team {
 public:
  explicit DeviceThreads(std::size_t devices);
  /// From the next run on, the devices wait for each other.
  void give_each_a_thread();
  ~DeviceThreads() override;
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  /// Calls work(device) for every device and waits for all.
  void run(const std::function<void(std::size_t)>& work) { run(devices_, work); }
  /// The same threads for something else: a loop of the caller between two runs.
  void run(std::size_t count, const std::function<void(std::size_t)>& work) override;
  /// Itself for a TeamScope; null where the devices run in the calling thread.
  Team* team();

 private:
  void serve(std::size_t worker, std::uint64_t seen);

  std::size_t devices_;
  bool each_a_thread_ = false;
  std::vector<std::thread> workers_;
  std::mutex guard_;
  std::condition_variable called_, done_;
  std::uint64_t round_ = 0;  ///< increases with every run
  std::size_t busy_ = 0, count_ = 0;
  bool stop_ = false;
  const std::function<void(std::size_t)>* work_ = nullptr;
  int threads_per_device_ = 1;
  std::vector<std::exception_ptr> errors_;  ///< by what was called
};

}  // namespace symbind
