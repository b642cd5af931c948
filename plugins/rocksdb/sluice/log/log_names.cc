#include "sluice/log/log_names.h"

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
  unsynced_.erase(number);
  needed_.erase(number);
}

IOStatus LogNames::Sync(const SyncDirectory& sync) {
  std::set<uint64_t> there;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    there = unsynced_;
  }
  IOStatus status = sync();
  if (!status.ok()) return status;
  for (const uint64_t number : there) Removed(number);
  return status;
}

IOStatus LogNames::SyncNeeded(const SyncDirectory& sync) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (needed_.empty()) return IOStatus::OK();
  }
  return Sync(sync);
}

}  // namespace sluice
