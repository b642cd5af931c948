#pragma once

#include <mutex>
#include <set>
#include <string>

#include "compaction_services.h"
#include "rocksdb/background_hooks.h"
#include "rocksdb/listener.h"

namespace hooks_test {

// A compaction service that has hooks: it records what it is told, puts off the
// families that the test names, and leaves all compactions to the database.
class HookedService : public CompactionService, public BackgroundHooks {
 public:
  static const char* kClassName() { return "hooked"; }
  const char* Name() const override { return kClassName(); }

  const void* GetOptionsPtr(const std::string& name) const override {
    if (name == BackgroundHooks::kName()) {
      return static_cast<const BackgroundHooks*>(this);
    }
    return CompactionService::GetOptionsPtr(name);
  }

  CompactionServiceScheduleResponse Schedule(const CompactionServiceJobInfo&,
                                             const std::string&) override {
    seen.Add("schedule");
    return CompactionServiceScheduleResponse(
        CompactionServiceJobStatus::kUseLocal);
  }

  void PrepareOptions(const std::string&, DBOptions* options) override {
    seen.Add("prepare");
    if (listener) {
      options->listeners.push_back(listener);
    }
  }

  void Opened(DB* db) override {
    seen.Add("opened");
    opened = db;
  }

  void ShutdownBegins(DB*) override { seen.Add("shutdown"); }

  bool MayCompact(DB*, uint32_t family) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool may = deferred_.count(family) == 0;
    seen.Add(may ? "allowed" : "refused");
    return may;
  }

  void StaysLocal(const std::string&, const char* reason) override {
    seen.Add(reason);
  }

  void Defer(uint32_t family) {
    std::lock_guard<std::mutex> lock(mutex_);
    deferred_.insert(family);
  }

  void Release() {
    std::lock_guard<std::mutex> lock(mutex_);
    deferred_.clear();
  }

  Occurrences seen;
  DB* opened = nullptr;
  std::shared_ptr<EventListener> listener;

 private:
  std::mutex mutex_;
  std::set<uint32_t> deferred_;
};

// Counts compactions by family; a flush waits until AWAITED has occurred, if
// there is one.
class RecordingListener : public EventListener {
 public:
  explicit RecordingListener(Occurrences* awaited = nullptr)
      : awaited_(awaited) {}

  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    seen.Add("compaction of " + info.cf_name);
  }

  void OnFlushBegin(DB*, const FlushJobInfo&) override {
    const bool in_time = awaited_ == nullptr || awaited_->Await("shutdown", 1);
    seen.Add(in_time ? "flush" : "flush that waited in vain");
  }

  Occurrences seen;

 private:
  Occurrences* awaited_;
};

}  // namespace hooks_test
