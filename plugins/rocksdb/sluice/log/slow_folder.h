// The folder of one database on the slow tier.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "rocksdb/file_system.h"

namespace sluice {

// Its name, by the path of the logs: that, on one level.
std::string SlowFolderName(const std::string& path);

// Used by one process at a time, and by one database: two with the same path,
// as in containers that share a slow disk, would remove each other's logs. Safe
// for threads.
class SlowFolder {
 public:
  // `identity` is RocksDB's file of that name, which a new database has once it
  // was opened.
  SlowFolder(ROCKSDB_NAMESPACE::FileSystem* files, std::string path,
             std::string identity)
      : files_(files), path_(std::move(path)), identity_(std::move(identity)) {}
  ~SlowFolder() { Release(); }
  SlowFolder(const SlowFolder&) = delete;
  SlowFolder& operator=(const SlowFolder&) = delete;

  // Makes it if it is not there, and locks it. An error where another process
  // uses it, or where it is another database's.
  ROCKSDB_NAMESPACE::IOStatus Claim();
  // Whether it is known to be this database's, also where it cannot be claimed.
  bool IsOwn() const;
  // Writes down whose it is, as soon as that is known.
  ROCKSDB_NAMESPACE::IOStatus WriteOwner();
  void Release();

 private:
  ROCKSDB_NAMESPACE::IOStatus Make();
  ROCKSDB_NAMESPACE::IOStatus CheckOwner() const;
  std::string Text(const std::string& path) const;
  void Unlock();

  ROCKSDB_NAMESPACE::FileSystem* const files_;
  const std::string path_;
  const std::string identity_;
  std::mutex mutex_;
  ROCKSDB_NAMESPACE::FileLock* lock_ = nullptr;
};

}  // namespace sluice
