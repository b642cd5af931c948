// The socket of the process, which may come late.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "sluice/monotonic_clock.h"
#include "sluice/protocol/server.h"

namespace sluice {

// Where the socket cannot be made when the first database is opened, or is
// removed later, it is tried again. Safe for threads.
class OrderSocket {
 public:
  static constexpr double kRetrySeconds = 5;

  OrderSocket(Requests* requests, const MonotonicClock* clock)
      : requests_(requests), clock_(clock) {}

  void Open(std::string folder, std::string instance);
  // Tries again if it is time to.
  void Keep();
  void Close();

  bool IsOpen() const;
  // For the log: where orders are taken, or why none are.
  std::string State() const;

 private:
  void Try();

  Requests* const requests_;
  const MonotonicClock* const clock_;
  mutable std::mutex mutex_;
  // Empty while it is closed.
  std::string folder_;
  std::string instance_;
  std::unique_ptr<Server> server_;
  std::string error_;
  TimePoint tried_at_;
};

}  // namespace sluice
