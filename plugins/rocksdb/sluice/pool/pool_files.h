// Files of a pool as RocksDB reads them.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/file_system.h"
#include "sluice/pool/pool_session.h"

namespace sluice {

// A file that is read, in whichever session.
class PoolReader {
 public:
  PoolReader(std::shared_ptr<PoolSession> session, std::string path)
      : session_(std::move(session)), path_(std::move(path)) {}
  ~PoolReader();

  PoolReader(const PoolReader&) = delete;
  PoolReader& operator=(const PoolReader&) = delete;

  // Before anything else. Again, it gives what was added since.
  ROCKSDB_NAMESPACE::IOStatus Open();

  // The result is shorter where the file ends.
  ROCKSDB_NAMESPACE::IOStatus Read(uint64_t offset, size_t bytes, char* scratch,
                                   ROCKSDB_NAMESPACE::Slice* result);

  uint64_t length_bytes();
  // Of the file, not of its path.
  const std::string& id() const { return id_; }

 private:
  PoolFile Current();
  ROCKSDB_NAMESPACE::IOStatus ReadPart(uint64_t offset, size_t bytes, char* to,
                                       size_t* count);

  const std::shared_ptr<PoolSession> session_;
  const std::string path_;
  // Set by the first Open alone.
  std::string id_;
  std::mutex mutex_;
  PoolFile current_;
};

class PoolSequentialFile : public ROCKSDB_NAMESPACE::FSSequentialFile {
 public:
  explicit PoolSequentialFile(std::unique_ptr<PoolReader> reader)
      : reader_(std::move(reader)) {}

  ROCKSDB_NAMESPACE::IOStatus Read(
      size_t bytes, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::Slice* result, char* scratch,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Skip(uint64_t bytes) override;

 private:
  const std::unique_ptr<PoolReader> reader_;
  uint64_t offset_ = 0;
};

class PoolRandomAccessFile : public ROCKSDB_NAMESPACE::FSRandomAccessFile {
 public:
  explicit PoolRandomAccessFile(std::unique_ptr<PoolReader> reader)
      : reader_(std::move(reader)) {}

  ROCKSDB_NAMESPACE::IOStatus Read(
      uint64_t offset, size_t bytes,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::Slice* result, char* scratch,
      ROCKSDB_NAMESPACE::IODebugContext* debug) const override;
  ROCKSDB_NAMESPACE::IOStatus GetFileSize(uint64_t* bytes) override;
  size_t GetUniqueId(char* id, size_t room) const override;

 private:
  const std::unique_ptr<PoolReader> reader_;
};

}  // namespace sluice
