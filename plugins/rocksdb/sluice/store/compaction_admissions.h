// Lets no more compactions begin than orders allow.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sluice/io/pace.h"
#include "sluice/lease/lease_store.h"

namespace sluice {

// Between the question whether a compaction may begin and its begin the store
// asks for others. One that may begin counts as if it ran, until it is heard
// of or has had the time to: the store may find nothing to compact.
class CompactionAdmissions {
 public:
  static constexpr double kWaitSeconds = 0.1;

  CompactionAdmissions(const LeaseStore* leases, Pace* pace)
      : leases_(leases), pace_(pace) {}

  // Whether another compaction may begin in all of these scopes.
  bool Admit(const std::vector<std::string>& scopes, TimePoint now);

  // Puts one that begins among the running tasks. It counts once at any time.
  void Begin(std::shared_ptr<Task> task);

 private:
  struct Admitted {
    std::vector<std::string> scopes;
    TimePoint at;
  };

  size_t CountIn(const std::string& scope) const;

  const LeaseStore* const leases_;
  Pace* const pace_;
  std::mutex mutex_;
  std::vector<Admitted> admitted_;
};

}  // namespace sluice
