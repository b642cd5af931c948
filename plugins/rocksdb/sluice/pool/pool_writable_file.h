// Files of a pool as RocksDB writes them.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "rocksdb/file_system.h"
#include "sluice/pool/pool_session.h"

namespace sluice {

// What was appended is with the agent, as else with the kernel: it outlasts
// this process. Sync has it on the disks, and Close ends the file. What is not
// synced is kept here as well: when the agent was away, the file is made anew
// of what was synced and that, since RocksDB goes on with files that it has.
class PoolWritableFile : public ROCKSDB_NAMESPACE::FSWritableFile {
 public:
  PoolWritableFile(std::shared_ptr<PoolSession> session, std::string path,
                   PoolFile file)
      : session_(std::move(session)),
        path_(std::move(path)),
        file_(std::move(file)) {}
  ~PoolWritableFile() override;

  using FSWritableFile::Append;
  ROCKSDB_NAMESPACE::IOStatus Append(
      const ROCKSDB_NAMESPACE::Slice& data,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Append(
      const ROCKSDB_NAMESPACE::Slice& data,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      const ROCKSDB_NAMESPACE::DataVerificationInfo& verification,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Truncate(
      uint64_t bytes, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Flush(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Sync(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Close(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  bool IsSyncThreadSafe() const override { return true; }
  uint64_t GetFileSize(const ROCKSDB_NAMESPACE::IOOptions& options,
                       ROCKSDB_NAMESPACE::IODebugContext* debug) override;

 private:
  // With mutex_ held.
  ROCKSDB_NAMESPACE::IOStatus Send(std::string_view data);
  ROCKSDB_NAMESPACE::IOStatus MakeAnew();
  ROCKSDB_NAMESPACE::IOStatus Fill(const PoolFile& from,
                                   const PoolFile& to) const;
  ROCKSDB_NAMESPACE::IOStatus CopySynced(const PoolFile& from,
                                         const PoolFile& to) const;
  void NoteSynced(uint64_t length_bytes);

  const std::shared_ptr<PoolSession> session_;
  const std::string path_;

  std::mutex mutex_;
  PoolFile file_;
  uint64_t synced_bytes_ = 0;
  // What comes after that.
  std::string unsynced_;
  bool is_closed_ = false;
};

}  // namespace sluice
