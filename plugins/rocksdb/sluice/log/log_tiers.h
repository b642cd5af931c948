// The logs of all databases of the process that are on two tiers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/options.h"
#include "sluice/lease/lease_store.h"
#include "sluice/log/tiered_log_file_system.h"
#include "sluice/plugin_options.h"

namespace sluice {

// Safe for threads.
class LogTiers {
 public:
  LogTiers(const LeaseStore* leases, const MonotonicClock* clock)
      : leases_(leases), clock_(clock) {}

  // Where the options name a slow tier, has the logs of the database at `path`
  // written there too; nullptr where they do not, or where another opening of
  // it has them.
  std::shared_ptr<TieredLogs> Prepare(const std::string& database,
                                      const std::string& path,
                                      const PluginOptions& options,
                                      ROCKSDB_NAMESPACE::DBOptions* db_options,
                                      TieredLogFileSystem* files);

  // The database is open: from now on its devices are looked at.
  void Opened(TieredLogs* logs);

  // What has happened since the process began, and the queues now.
  void AddFigures(std::map<std::string, uint64_t>* figures) const;

 private:
  class Turn;
  // With the lock held.
  std::vector<std::shared_ptr<TieredLogs>> InUse() const;
  void RunSampler();

  const LeaseStore* const leases_;
  const MonotonicClock* const clock_;
  LogCounters counters_;
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<TieredLogs>> logs_;
  // Folders that are being looked at.
  std::set<std::string> prepared_;
  std::condition_variable prepared_changed_;
  // Ends by itself when no database is open.
  std::thread sampler_;
  bool is_sampling_ = false;
};

}  // namespace sluice
