// The logs of one database on two tiers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"
#include "sluice/log/log_files.h"
#include "sluice/log/log_merges.h"
#include "sluice/log/log_placement.h"
#include "sluice/log/slow_folder.h"

namespace sluice {

// What has happened to logs, for the figures of the process.
struct LogCounters {
  std::atomic<uint64_t> fast_bytes{0};
  std::atomic<uint64_t> slow_bytes{0};
  std::atomic<uint64_t> slow_writes{0};
  std::atomic<uint64_t> merged_logs{0};
  std::atomic<uint64_t> merged_bytes{0};
};

// The folders of a database and its logs.
struct LogFolders {
  std::string database;
  std::string logs;
  std::string slow_logs;
};

class TieredLogs : public std::enable_shared_from_this<TieredLogs> {
 public:
  TieredLogs(ROCKSDB_NAMESPACE::FileSystem* files, const LogFolders& folders,
             std::unique_ptr<LogPlacement> placement, LogCounters* counters);

  LogFiles* files() { return &log_files_; }
  // Whether the folder of the logs is not that of the database.
  bool has_own_folder() const { return has_own_folder_; }
  LogPlacement* placement() { return placement_.get(); }

  // Looks at the slow tier, below `root`, before the database is opened.
  // Without one nothing is redirected. Where the store would open without what
  // it cannot read, all logs are read before.
  ROCKSDB_NAMESPACE::IOStatus Prepare(const std::string& root, bool reads_all);
  // Why the database must stay closed, where logs or parts of them are lost.
  const ROCKSDB_NAMESPACE::IOStatus& refusal() const { return refusal_; }
  // For the log of the program: what Prepare has found.
  const std::string& state() const { return state_; }

  ROCKSDB_NAMESPACE::IOStatus NewLog(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* log);

  // Nothing is merged from then on, and nothing redirected.
  void Shutdown();

  // From the opening of the database to its shutdown: no other one has logs in
  // the folder then.
  void SetInUse();
  bool is_in_use() const { return is_in_use_; }
  // Before that it is those of an opening, or of an open database.
  bool is_shut_down() const { return is_shut_down_; }

 private:
  class Place;
  // Removes nothing unless the folder on the slow tier was claimed.
  ROCKSDB_NAMESPACE::IOStatus LookForLost(bool is_claimed);
  void RefuseWithout(const std::vector<uint64_t>& lost);

  ROCKSDB_NAMESPACE::FileSystem* const files_;
  LogFiles log_files_;
  const bool has_own_folder_;
  const std::unique_ptr<LogPlacement> placement_;
  LogCounters* const counters_;
  SlowFolder slow_folder_;
  LogMerges merges_;
  ROCKSDB_NAMESPACE::IOStatus refusal_;
  std::string state_;
  std::atomic<bool> has_slow_tier_{false};
  std::atomic<bool> is_in_use_{false};
  std::atomic<bool> is_shut_down_{false};
};

}  // namespace sluice
