// A file system that counts and paces what flushes and compactions do.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "sluice/io/pace.h"
#include "sluice/log/tiered_log_file_system.h"

namespace sluice {

// Each table or blob file that is written belongs to the task of the thread
// that makes it, whichever thread appends to it later. Reads are counted for
// the task of the thread that reads; they never wait, since a reader may hold
// locks of the table cache that requests need.
class TaggingFileSystem : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  TaggingFileSystem(std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> target,
                    Pace* pace)
      : FileSystemWrapper(std::move(target)), pace_(pace) {}

  const char* Name() const override { return "SluiceTaggingFileSystem"; }

  ROCKSDB_NAMESPACE::IOStatus NewWritableFile(
      const std::string& name, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;

  ROCKSDB_NAMESPACE::IOStatus NewRandomAccessFile(
      const std::string& name, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;

 private:
  Pace* const pace_;
};

// The environment `base` with such a file system. It lives as long as the
// process: a database gives it to threads that may outlive it.
ROCKSDB_NAMESPACE::Env* TaggingEnvOver(ROCKSDB_NAMESPACE::Env* base,
                                       Pace* pace);

// What such an environment has between itself and `base`.
TieredLogFileSystem* TieredLogsIn(ROCKSDB_NAMESPACE::Env* tagging_env);

// Whether below such an environment there are the files of this node.
bool HasLocalFiles(ROCKSDB_NAMESPACE::Env* tagging_env);

}  // namespace sluice
