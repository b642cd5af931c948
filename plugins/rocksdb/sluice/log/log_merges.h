// Brings what was redirected back to the fast tier.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rocksdb/file_system.h"
#include "sluice/log/log_files.h"
#include "sluice/log/log_placement.h"

namespace sluice {

// A log that is closed is copied to one file on the fast tier while that has
// nothing else to do; what it had on the slow tier is removed then. Logs that
// the store removes first are not copied. One thread, from the first of them
// on until Stop.
class LogMerges {
 public:
  // `merged` is told of the bytes of each log that was merged.
  LogMerges(ROCKSDB_NAMESPACE::FileSystem* files, LogFiles* logs,
            LogPlacement* placement, std::function<void(uint64_t)> merged)
      : files_(files),
        logs_(logs),
        placement_(placement),
        merged_(std::move(merged)) {}
  ~LogMerges() { Stop(); }

  // A log of so many bytes.
  void Add(const std::string& path, uint64_t bytes);
  void Stop();

 private:
  struct Log {
    std::string path;
    uint64_t bytes;
  };

  void Run();
  // Whether it may go on; waits while the fast tier is busy.
  bool AwaitTurn();
  ROCKSDB_NAMESPACE::IOStatus Merge(const Log& log);
  ROCKSDB_NAMESPACE::IOStatus Copy(ROCKSDB_NAMESPACE::FSSequentialFile* from,
                                   ROCKSDB_NAMESPACE::FSWritableFile* to,
                                   LogId id, uint64_t* bytes);

  ROCKSDB_NAMESPACE::FileSystem* const files_;
  LogFiles* const logs_;
  LogPlacement* const placement_;
  const std::function<void(uint64_t)> merged_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Log> waiting_;
  bool is_stopped_ = false;
  std::thread thread_;
};

}  // namespace sluice
