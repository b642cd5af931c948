// The folder of the logs, as the store syncs it.
#pragma once

#include <memory>
#include <utility>

#include "rocksdb/file_system.h"
#include "sluice/log/log_files.h"
#include "sluice/log/tiered_logs.h"

namespace sluice {

// Has nothing synced while the names of all logs that were written to, and of
// all other files, survive a crash. The store syncs the folder for each log,
// and the device would be waited for because the next one has been made
// meanwhile.
class LogDirectory : public ROCKSDB_NAMESPACE::FSDirectoryWrapper {
 public:
  LogDirectory(std::unique_ptr<ROCKSDB_NAMESPACE::FSDirectory> directory,
               std::shared_ptr<TieredLogs> logs)
      : FSDirectoryWrapper(std::move(directory)), logs_(std::move(logs)) {}

  ROCKSDB_NAMESPACE::IOStatus Fsync(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override {
    return logs_->files()->names()->SyncNeeded(
        [&] { return FSDirectoryWrapper::Fsync(options, debug); });
  }
  ROCKSDB_NAMESPACE::IOStatus FsyncWithDirOptions(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug,
      const ROCKSDB_NAMESPACE::DirFsyncOptions& why) override {
    return logs_->files()->names()->SyncNeeded([&] {
      return FSDirectoryWrapper::FsyncWithDirOptions(options, debug, why);
    });
  }

 private:
  const std::shared_ptr<TieredLogs> logs_;
};

}  // namespace sluice
