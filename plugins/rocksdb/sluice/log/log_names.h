// Which files of the folder of the logs would have no name after a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <set>

#include "rocksdb/io_status.h"

namespace sluice {

// Safe for threads; nothing is waited for under its lock.
class LogNames {
 public:
  using SyncDirectory = std::function<ROCKSDB_NAMESPACE::IOStatus()>;

  void Made(uint64_t number);
  // Something was appended to it: from now on its name is needed.
  void Begun(uint64_t number);
  void Removed(uint64_t number);
  // Something else got a name there, which is needed at once.
  void MadeOther();

  ROCKSDB_NAMESPACE::IOStatus Sync(const SyncDirectory& sync);
  // Does nothing while all names that are needed survive a crash. The store
  // takes that for the name of its newest log too, and does not ask again.
  ROCKSDB_NAMESPACE::IOStatus SyncNeeded(const SyncDirectory& sync);
  // For a log that now has something: syncs where SyncNeeded did nothing before
  // it had, and its name would not survive a crash.
  ROCKSDB_NAMESPACE::IOStatus SyncPromised(uint64_t number,
                                           const SyncDirectory& sync);

 private:
  // With the lock held.
  void Forget(uint64_t number);

  std::mutex mutex_;
  std::set<uint64_t> unsynced_;
  // Those of them that were begun.
  std::set<uint64_t> needed_;
  // Those of them that were there when SyncNeeded did nothing.
  std::set<uint64_t> promised_;
  uint64_t others_made_ = 0;
  uint64_t others_synced_ = 0;
};

}  // namespace sluice
