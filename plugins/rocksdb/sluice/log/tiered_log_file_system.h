// A file system in which the logs of some databases are on two tiers.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"
#include "sluice/log/tiered_logs.h"

namespace sluice {

// Nothing but files NUMBER.log in a folder that was added, in its folder
// `archive`, and the syncs of a folder that is not the database's, is other
// than below. Logs from before are read as they are.
class TieredLogFileSystem : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  explicit TieredLogFileSystem(
      std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> target)
      : FileSystemWrapper(std::move(target)) {}

  const char* Name() const override { return "SluiceTieredLogFileSystem"; }

  // From then on logs in their folder are these ones.
  void Add(std::shared_ptr<TieredLogs> logs);
  // Logs in a folder are files like others again; false while the database is
  // open whose logs they are, or is being opened.
  bool Remove(const std::string& folder);

  ROCKSDB_NAMESPACE::IOStatus NewWritableFile(
      const std::string& name, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus ReuseWritableFile(
      const std::string& name, const std::string& old_name,
      const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus ReopenWritableFile(
      const std::string& name, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NewSequentialFile(
      const std::string& name, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSSequentialFile>* file,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetFileSize(
      const std::string& name, const ROCKSDB_NAMESPACE::IOOptions& options,
      uint64_t* bytes, ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus DeleteFile(
      const std::string& name, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus RenameFile(
      const std::string& name, const std::string& to,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  // Not of such a log: whoever wants a link makes a copy then, of the log as
  // the store reads it.
  ROCKSDB_NAMESPACE::IOStatus LinkFile(
      const std::string& name, const std::string& to,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus NewDirectory(
      const std::string& folder, const ROCKSDB_NAMESPACE::IOOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSDirectory>* directory,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus GetChildren(
      const std::string& folder, const ROCKSDB_NAMESPACE::IOOptions& options,
      std::vector<std::string>* names,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;

 private:
  // A file that is none of the logs has got a name: where tables are in the
  // folder of the logs, that has to be synced for them.
  void NoteOther(const std::string& path);
  std::shared_ptr<TieredLogs> LogsOf(const std::string& path);
  // Those whose log the file is, if it is one on two tiers.
  ROCKSDB_NAMESPACE::IOStatus TieredLogsOf(const std::string& path,
                                           std::shared_ptr<TieredLogs>* logs);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<TieredLogs>> by_folder_;
  std::atomic<bool> has_any_{false};
};

}  // namespace sluice
