// A pool as RocksDB's file system: file_system={id=sluice-pool;volume=orders},
// or --fs_uri=sluice-pool://orders of RocksDB's programs.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"
#include "sluice/pool/pool_files.h"
#include "sluice/pool/pool_options.h"
#include "sluice/pool/pool_session.h"

namespace sluice {

// The lease keeps other processes out, this keeps the rest of this one out.
class PoolLock : public ROCKSDB_NAMESPACE::FileLock {
 public:
  explicit PoolLock(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

// Nothing here throws.
class PoolFileSystem : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  static constexpr char kId[] = "sluice-pool";

  explicit PoolFileSystem(PoolOptions options);

  static const char* kClassName() { return kId; }
  const char* Name() const override { return kId; }
  ROCKSDB_NAMESPACE::Status PrepareOptions(
      const ROCKSDB_NAMESPACE::ConfigOptions& options) override;

  // Whether a path is one of the volume, and not of this node.
  bool IsInPool(const std::string& path) const { return !IsLocal(path); }
  // As of the session.
  ROCKSDB_NAMESPACE::IOStatus HoldForWorkers(std::string* session_name);
  ROCKSDB_NAMESPACE::IOStatus Release(const std::string& path);

  ROCKSDB_NAMESPACE::IOStatus NewSequentialFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSSequentialFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NewRandomAccessFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NewWritableFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus ReopenWritableFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus ReuseWritableFile(
      const std::string& path, const std::string& former,
      const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NewRandomRWFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomRWFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NewMemoryMappedFileBuffer(
      const std::string& path,
      std::unique_ptr<ROCKSDB_NAMESPACE::MemoryMappedFileBuffer>* buffer)
      override;
  ROCKSDB_NAMESPACE::IOStatus NewDirectory(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSDirectory>* directory,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NewLogger(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      std::shared_ptr<ROCKSDB_NAMESPACE::Logger>* logger,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;

  ROCKSDB_NAMESPACE::IOStatus FileExists(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetChildren(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      std::vector<std::string>* names,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetChildrenFileAttributes(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      std::vector<ROCKSDB_NAMESPACE::FileAttributes>* attributes,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetFileSize(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      uint64_t* bytes, ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetFileModificationTime(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      uint64_t* time, ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus IsDirectory(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      bool* is_directory, ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NumFileLinks(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      uint64_t* count, ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus AreFilesSame(
      const std::string& first, const std::string& second,
      const ROCKSDB_NAMESPACE::IOOptions& options, bool* is_same,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetFreeSpace(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      uint64_t* bytes, ROCKSDB_NAMESPACE::IODebugContext* debug) override;

  ROCKSDB_NAMESPACE::IOStatus DeleteFile(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Truncate(
      const std::string& path, size_t bytes,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus CreateDir(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus CreateDirIfMissing(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus DeleteDir(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus RenameFile(
      const std::string& source, const std::string& target,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus LinkFile(
      const std::string& source, const std::string& target,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus SyncFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      const ROCKSDB_NAMESPACE::IOOptions& io_options, bool use_fsync,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;

  ROCKSDB_NAMESPACE::IOStatus LockFile(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::FileLock** lock,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus UnlockFile(
      ROCKSDB_NAMESPACE::FileLock* lock,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetTestDirectory(
      const ROCKSDB_NAMESPACE::IOOptions& options, std::string* path,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetAbsolutePath(
      const std::string& path, const ROCKSDB_NAMESPACE::IOOptions& options,
      std::string* absolute, ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  void SupportedOps(int64_t& operations) override { operations = 0; }

 private:
  PoolSession* session();
  std::shared_ptr<PoolSession> SharedSession();
  ROCKSDB_NAMESPACE::IOStatus OpenReader(const std::string& path,
                                         std::unique_ptr<PoolReader>* reader);
  bool IsLocal(const std::string& path) const;
  ROCKSDB_NAMESPACE::IOStatus Stat(const std::string& path, Json* found);
  ROCKSDB_NAMESPACE::IOStatus Change(const char* method,
                                     const std::string& path);
  ROCKSDB_NAMESPACE::IOStatus Move(const char* method,
                                   const std::string& source,
                                   const std::string& target);
  ROCKSDB_NAMESPACE::IOStatus List(const std::string& path,
                                   std::vector<PoolName>* names);

  PoolOptions options_;
  std::shared_ptr<PoolSession> session_;
  std::mutex mutex_;
  // Those that are held.
  std::map<ROCKSDB_NAMESPACE::FileLock*, std::unique_ptr<PoolLock>> locks_;
};

}  // namespace sluice
