#include "sluice/log/tiered_log_file_system.h"

#include <exception>
#include <utility>

#include "sluice/log/log_directory.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;

// Where memory runs out, an error is what the store can live with.
template <typename Action>
IOStatus Tried(const Action& action) noexcept {
  try {
    return action();
  } catch (const std::exception& error) {
    return IOStatus::Aborted("logs on two tiers", error.what());
  }
}

}  // namespace

void TieredLogFileSystem::Add(std::shared_ptr<TieredLogs> logs) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string folder = logs->files()->directory();
  by_folder_[folder] = std::move(logs);
  has_any_ = true;
}

bool TieredLogFileSystem::Remove(const std::string& folder) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_folder_.find(PlainPath(folder));
  if (found == by_folder_.end()) return true;
  if (!found->second->is_shut_down()) return false;
  by_folder_.erase(found);
  has_any_ = !by_folder_.empty();
  return true;
}

std::shared_ptr<TieredLogs> TieredLogFileSystem::LogsOf(
    const std::string& path) {
  if (!has_any_) return nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [folder, logs] : by_folder_) {
    if (logs->files()->IsLog(path)) return logs;
  }
  return nullptr;
}

void TieredLogFileSystem::NoteOther(const std::string& path) {
  if (!has_any_) return;
  const std::string folder = PlainPath(path.substr(0, path.rfind('/')));
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_folder_.find(folder);
  if (found != by_folder_.end()) found->second->files()->names()->MadeOther();
}

IOStatus TieredLogFileSystem::TieredLogsOf(const std::string& path,
                                           std::shared_ptr<TieredLogs>* logs) {
  *logs = LogsOf(path);
  if (*logs == nullptr) return IOStatus::OK();
  bool is_tiered = false;
  IOStatus status = (*logs)->files()->IsTiered(path, &is_tiered);
  if (!is_tiered) logs->reset();
  return status;
}

IOStatus TieredLogFileSystem::NewWritableFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) {
  return Tried([&] {
    const auto logs = LogsOf(name);
    if (logs) return logs->NewLog(name, options, file);
    IOStatus status = target()->NewWritableFile(name, options, file, debug);
    NoteOther(name);
    return status;
  });
}

IOStatus TieredLogFileSystem::ReuseWritableFile(
    const std::string& name, const std::string& old_name,
    const FileOptions& options, std::unique_ptr<FSWritableFile>* file,
    IODebugContext* debug) {
  return Tried([&] {
    IOStatus status =
        target()->ReuseWritableFile(name, old_name, options, file, debug);
    NoteOther(name);
    return status;
  });
}

// RocksDB opens a log again to cut off what was allocated for it and not
// written, and can do without.
IOStatus TieredLogFileSystem::ReopenWritableFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) {
  return Tried([&] {
    std::shared_ptr<TieredLogs> logs;
    IOStatus status = TieredLogsOf(name, &logs);
    if (status.ok() && logs) {
      return IOStatus::NotSupported(name, "a log on two tiers");
    }
    status = target()->ReopenWritableFile(name, options, file, debug);
    NoteOther(name);
    return status;
  });
}

IOStatus TieredLogFileSystem::NewSequentialFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<FSSequentialFile>* file, IODebugContext* debug) {
  return Tried([&] {
    std::shared_ptr<TieredLogs> logs;
    IOStatus status = TieredLogsOf(name, &logs);
    if (!status.ok()) return status;
    return logs ? logs->files()->OpenForStore(name, file)
                : target()->NewSequentialFile(name, options, file, debug);
  });
}

IOStatus TieredLogFileSystem::GetFileSize(const std::string& name,
                                          const IOOptions& options,
                                          uint64_t* bytes,
                                          IODebugContext* debug) {
  return Tried([&] {
    std::shared_ptr<TieredLogs> logs;
    IOStatus status = TieredLogsOf(name, &logs);
    if (!status.ok()) return status;
    return logs ? logs->files()->Size(name, bytes)
                : target()->GetFileSize(name, options, bytes, debug);
  });
}

IOStatus TieredLogFileSystem::DeleteFile(const std::string& name,
                                         const IOOptions& options,
                                         IODebugContext* debug) {
  return Tried([&] {
    const auto logs = LogsOf(name);
    return logs ? logs->files()->Remove(name)
                : target()->DeleteFile(name, options, debug);
  });
}

IOStatus TieredLogFileSystem::RenameFile(const std::string& name,
                                         const std::string& to,
                                         const IOOptions& options,
                                         IODebugContext* debug) {
  return Tried([&] {
    const auto logs = LogsOf(name);
    IOStatus status = logs ? logs->files()->Rename(name, to)
                           : target()->RenameFile(name, to, options, debug);
    NoteOther(to);
    return status;
  });
}

IOStatus TieredLogFileSystem::LinkFile(const std::string& name,
                                       const std::string& to,
                                       const IOOptions& options,
                                       IODebugContext* debug) {
  return Tried([&] {
    std::shared_ptr<TieredLogs> logs;
    IOStatus status = TieredLogsOf(name, &logs);
    if (!status.ok()) return status;
    if (logs) return IOStatus::NotSupported(name, "a log on two tiers");
    status = target()->LinkFile(name, to, options, debug);
    NoteOther(to);
    return status;
  });
}

IOStatus TieredLogFileSystem::NewDirectory(
    const std::string& folder, const IOOptions& options,
    std::unique_ptr<FSDirectory>* directory, IODebugContext* debug) {
  return Tried([&] {
    IOStatus status = target()->NewDirectory(folder, options, directory, debug);
    if (!status.ok() || !has_any_) return status;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_folder_.find(PlainPath(folder));
    if (found != by_folder_.end() && found->second->has_own_folder()) {
      *directory =
          std::make_unique<LogDirectory>(std::move(*directory), found->second);
    }
    return status;
  });
}

IOStatus TieredLogFileSystem::GetChildren(const std::string& folder,
                                          const IOOptions& options,
                                          std::vector<std::string>* names,
                                          IODebugContext* debug) {
  return Tried([&] {
    if (has_any_) {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = by_folder_.find(PlainPath(folder));
      if (found != by_folder_.end() && !found->second->refusal().ok()) {
        return found->second->refusal();
      }
    }
    return target()->GetChildren(folder, options, names, debug);
  });
}

}  // namespace sluice
