// The open files of a log on two tiers.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/file_system.h"
#include "sluice/log/log_frame.h"

namespace sluice {

// At the end of the name of a file on the slow tier whose log is about to be
// removed.
inline constexpr char kObsoleteEnd[] = ".obsolete";

// Both are of that id; `slow` is nothing if there is none.
struct OpenedLog {
  LogId id = 0;
  std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile> fast;
  std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile> slow;
};

// NotFound or PathNotFound if there is no log of that path, IOError if it is
// none on two tiers.
ROCKSDB_NAMESPACE::IOStatus OpenLog(ROCKSDB_NAMESPACE::FileSystem* files,
                                    const std::string& path,
                                    const std::string& slow_path,
                                    OpenedLog* log);

ROCKSDB_NAMESPACE::IOStatus OpenWithHead(
    ROCKSDB_NAMESPACE::FileSystem* files, const std::string& path,
    std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile>* file,
    LogHead* head);

}  // namespace sluice
