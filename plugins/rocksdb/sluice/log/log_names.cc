#include "sluice/log/log_names.h"

#include <algorithm>

namespace sluice {

using ROCKSDB_NAMESPACE::IOStatus;

void LogNames::Made(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  unsynced_.insert(number);
}

void LogNames::Begun(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (unsynced_.contains(number)) needed_.insert(number);
}

void LogNames::Removed(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  Forget(number);
}

void LogNames::Forget(uint64_t number) {
  unsynced_.erase(number);
  needed_.erase(number);
  promised_.erase(number);
}

void LogNames::MadeOther() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++others_made_;
}

IOStatus LogNames::Sync(const SyncDirectory& sync) {
  std::set<uint64_t> there;
  uint64_t others;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    there = unsynced_;
    others = others_made_;
  }
  IOStatus status = sync();
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const uint64_t number : there) Forget(number);
  others_synced_ = std::max(others_synced_, others);
  return status;
}

IOStatus LogNames::SyncNeeded(const SyncDirectory& sync) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (needed_.empty() && others_synced_ == others_made_) {
      promised_ = unsynced_;
      return IOStatus::OK();
    }
  }
  return Sync(sync);
}

IOStatus LogNames::SyncPromised(uint64_t number, const SyncDirectory& sync) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!promised_.contains(number)) return IOStatus::OK();
  }
  return Sync(sync);
}

}  // namespace sluice
