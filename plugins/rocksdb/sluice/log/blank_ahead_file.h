// A file that is appended to, with blank space behind what was appended.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "rocksdb/file_system.h"

namespace sluice {

// What is appended takes the place of zeros that are allocated and written
// already: a sync of it is one of data alone, without the file system's own
// journal, which takes a disk several times as long. Not safe for threads but
// for syncs.
class BlankAheadFile : public ROCKSDB_NAMESPACE::FSWritableFile {
 public:
  static constexpr uint64_t kBlankBytes = 1 << 20;

  // The file has so many bytes, and is appended to behind them.
  BlankAheadFile(std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomRWFile> file,
                 uint64_t bytes)
      : file_(std::move(file)),
        appended_(bytes),
        touched_(bytes),
        blank_end_(bytes) {}

  using FSWritableFile::Append;
  ROCKSDB_NAMESPACE::IOStatus Append(
      const ROCKSDB_NAMESPACE::Slice& data,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  // Has zeros from there on, and goes on there.
  ROCKSDB_NAMESPACE::IOStatus Truncate(
      uint64_t bytes, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Close(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Flush(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Sync(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Fsync(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  uint64_t GetFileSize(const ROCKSDB_NAMESPACE::IOOptions&,
                       ROCKSDB_NAMESPACE::IODebugContext*) override {
    return appended_;
  }

 private:
  void AddBlank(const ROCKSDB_NAMESPACE::IOOptions& options,
                ROCKSDB_NAMESPACE::IODebugContext* debug);

  const std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomRWFile> file_;
  uint64_t appended_;
  // Up to there something may have been written, also by an append that failed.
  uint64_t touched_;
  uint64_t blank_end_;
};

}  // namespace sluice
