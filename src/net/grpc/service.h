#pragma once
// The scheduler as a gRPC service.

#include <memory>
#include <string>

#include "net/job.h"

namespace symbind::net {

class SchedulerService {
 public:
  virtual ~SchedulerService() = default;
  /// Waits until the job is over; returns why it failed, or "".
  virtual std::string wait() = 0;
};

/// Listens at the job's address at once. An address in use is an Error.
std::unique_ptr<SchedulerService> start_scheduler(const Job& job);

}  // namespace symbind::net
