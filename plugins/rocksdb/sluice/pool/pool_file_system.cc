#include "sluice/pool/pool_file_system.h"

#include <unistd.h>

#include <utility>

#include "sluice/guarded.h"
#include "sluice/pool/pool_path.h"
#include "sluice/pool/pool_status.h"
#include "sluice/pool/pool_writable_file.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::FileLock;
using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::FSRandomRWFile;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Logger;
using ROCKSDB_NAMESPACE::MemoryMappedFileBuffer;
using ROCKSDB_NAMESPACE::Status;

IOStatus OnlyGrow(const char* what) {
  return IOStatus::NotSupported(what, "files of a pool only grow");
}

// Names are on the disks when their changes return.
class PoolDirectory : public FSDirectory {
 public:
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
};

}  // namespace

PoolFileSystem::PoolFileSystem(PoolOptions options)
    : FileSystemWrapper(FileSystem::Default()), options_(std::move(options)) {
  RegisterOptions(&options_, &PoolOptionTypes());
}

Status PoolFileSystem::PrepareOptions(const ConfigOptions& options) {
  if (options_.volume.empty()) {
    return Status::InvalidArgument(
        "volume is missing: name a volume of the pool, which `sluice pool "
        "create-volume` makes");
  }
  return FileSystemWrapper::PrepareOptions(options);
}

PoolSession* PoolFileSystem::session() { return SharedSession().get(); }

std::shared_ptr<PoolSession> PoolFileSystem::SharedSession() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!session_) {
    session_ = std::make_shared<PoolSession>(
        PoolSettings{.agent_socket = options_.agent_socket,
                     .place = {options_.volume, options_.directory,
                               options_.holder, options_.outer_epoch},
                     .is_read_only = options_.read_only,
                     .wait_seconds = options_.wait_seconds},
        MonotonicClock::Default());
  }
  return session_;
}

bool PoolFileSystem::IsLocal(const std::string& path) const {
  return IsBelow(path, options_.local_directory);
}

IOStatus PoolFileSystem::HoldForWorkers(std::string* session_name) {
  return Guarded(OutOfMemory(),
                 [&] { return session()->HoldForWorkers(session_name); });
}

IOStatus PoolFileSystem::Release(const std::string& path) {
  return Guarded(OutOfMemory(),
                 [&] { return session()->Release(PoolPath(path)); });
}

IOStatus PoolFileSystem::OpenReader(const std::string& path,
                                    std::unique_ptr<PoolReader>* reader) {
  *reader = std::make_unique<PoolReader>(SharedSession(), PoolPath(path));
  return (*reader)->Open();
}

IOStatus PoolFileSystem::NewSequentialFile(
    const std::string& path, const FileOptions& options,
    std::unique_ptr<FSSequentialFile>* file, IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->NewSequentialFile(path, options, file, debug);
  }
  return Guarded(OutOfMemory(), [&] {
    std::unique_ptr<PoolReader> reader;
    IOStatus status = OpenReader(path, &reader);
    if (status.ok()) {
      *file = std::make_unique<PoolSequentialFile>(std::move(reader));
    }
    return status;
  });
}

IOStatus PoolFileSystem::NewRandomAccessFile(
    const std::string& path, const FileOptions& options,
    std::unique_ptr<FSRandomAccessFile>* file, IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->NewRandomAccessFile(path, options, file, debug);
  }
  return Guarded(OutOfMemory(), [&] {
    std::unique_ptr<PoolReader> reader;
    IOStatus status = OpenReader(path, &reader);
    if (status.ok()) {
      *file = std::make_unique<PoolRandomAccessFile>(std::move(reader));
    }
    return status;
  });
}

IOStatus PoolFileSystem::NewWritableFile(const std::string& path,
                                         const FileOptions& options,
                                         std::unique_ptr<FSWritableFile>* file,
                                         IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->NewWritableFile(path, options, file, debug);
  }
  return Guarded(OutOfMemory(), [&] {
    const std::string in_pool = PoolPath(path);
    PoolFile created;
    IOStatus status = session()->Create(in_pool, &created);
    if (status.ok()) {
      *file = std::make_unique<PoolWritableFile>(SharedSession(), in_pool,
                                                 std::move(created));
    }
    return status;
  });
}

IOStatus PoolFileSystem::ReopenWritableFile(
    const std::string& path, const FileOptions& options,
    std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->ReopenWritableFile(path, options, file, debug);
  }
  return IOStatus::NotSupported("reopen", "files of a pool are written once");
}

IOStatus PoolFileSystem::ReuseWritableFile(
    const std::string& path, const std::string& former,
    const FileOptions& options, std::unique_ptr<FSWritableFile>* file,
    IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->ReuseWritableFile(path, former, options, file, debug);
  }
  return FileSystem::ReuseWritableFile(path, former, options, file, debug);
}

IOStatus PoolFileSystem::NewRandomRWFile(const std::string& path,
                                         const FileOptions& options,
                                         std::unique_ptr<FSRandomRWFile>* file,
                                         IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->NewRandomRWFile(path, options, file, debug);
  }
  return OnlyGrow("write in place");
}

IOStatus PoolFileSystem::NewMemoryMappedFileBuffer(
    const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* buffer) {
  if (IsLocal(path)) return target()->NewMemoryMappedFileBuffer(path, buffer);
  return IOStatus::NotSupported("files of a pool are not mapped");
}

IOStatus PoolFileSystem::NewDirectory(const std::string& path,
                                      const IOOptions& options,
                                      std::unique_ptr<FSDirectory>* directory,
                                      IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->NewDirectory(path, options, directory, debug);
  }
  bool is_directory = false;
  IOStatus status = IsDirectory(path, options, &is_directory, debug);
  if (!status.ok()) return status;
  if (!is_directory) return IOStatus::IOError(path + " is no directory");
  return Guarded(OutOfMemory(), [&] {
    *directory = std::make_unique<PoolDirectory>();
    return IOStatus::OK();
  });
}

IOStatus PoolFileSystem::NewLogger(const std::string& path,
                                   const IOOptions& options,
                                   std::shared_ptr<Logger>* logger,
                                   IODebugContext* debug) {
  if (IsLocal(path)) return target()->NewLogger(path, options, logger, debug);
  return FileSystem::NewLogger(path, options, logger, debug);
}

IOStatus PoolFileSystem::SyncFile(const std::string& path,
                                  const FileOptions& options,
                                  const IOOptions& io_options, bool use_fsync,
                                  IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->SyncFile(path, options, io_options, use_fsync, debug);
  }
  // A file is on the disks when it is closed.
  return IOStatus::OK();
}

IOStatus PoolFileSystem::LockFile(const std::string& path,
                                  const IOOptions& options, FileLock** lock,
                                  IODebugContext* debug) {
  *lock = nullptr;
  if (IsLocal(path)) return target()->LockFile(path, options, lock, debug);
  return Guarded(OutOfMemory(), [&] {
    IOStatus status = session()->Hold();
    if (!status.ok()) return status;
    auto taken = std::make_unique<PoolLock>(PoolPath(path));
    std::lock_guard<std::mutex> guard(mutex_);
    for (const auto& held : locks_) {
      if (held.second->path() == taken->path()) {
        return IOStatus::IOError("lock " + path + ": held by this process");
      }
    }
    *lock = taken.get();
    locks_[*lock] = std::move(taken);
    return status;
  });
}

IOStatus PoolFileSystem::UnlockFile(FileLock* lock, const IOOptions& options,
                                    IODebugContext* debug) {
  std::unique_lock<std::mutex> guard(mutex_);
  const auto held = locks_.find(lock);
  if (held == locks_.end()) {
    guard.unlock();
    return target()->UnlockFile(lock, options, debug);
  }
  locks_.erase(held);
  const bool is_last = locks_.empty();
  guard.unlock();
  // Others may have the directory then.
  if (is_last) session()->End();
  return IOStatus::OK();
}

IOStatus PoolFileSystem::GetTestDirectory(const IOOptions& options,
                                          std::string* path,
                                          IODebugContext* debug) {
  *path = PoolPath(options_.directory + "/rocksdb-test-" +
                   std::to_string(::geteuid()));
  return CreateDirIfMissing(*path, options, debug);
}

IOStatus PoolFileSystem::GetAbsolutePath(const std::string& path,
                                         const IOOptions& options,
                                         std::string* absolute,
                                         IODebugContext* debug) {
  if (IsLocal(path)) {
    return target()->GetAbsolutePath(path, options, absolute, debug);
  }
  *absolute = PoolPath(path);
  return IOStatus::OK();
}

}  // namespace sluice
