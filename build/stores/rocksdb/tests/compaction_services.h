#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_type.h"

namespace hooks_test {

using namespace ROCKSDB_NAMESPACE;

// A compaction service whose worker is this process.
class InProcessService : public CompactionService {
 public:
  struct Settings {
    static const char* kName() { return "InProcessSettings"; }
    std::string label;
  };

  InProcessService() { RegisterOptions(&settings_, &SettingTypes()); }

  static const char* kClassName() { return "in-process"; }
  const char* Name() const override { return kClassName(); }

  CompactionServiceScheduleResponse Schedule(
      const CompactionServiceJobInfo& info, const std::string& input) override {
    std::lock_guard<std::mutex> lock(mutex_);
    const std::string id = std::to_string(++scheduled_);
    jobs_[id] = {info.db_name, input};
    return {id, CompactionServiceJobStatus::kSuccess};
  }

  CompactionServiceJobStatus Wait(const std::string& id,
                                  std::string* result) override {
    const Job job = JobOf(id);
    CompactionServiceOptionsOverride overrides;
    overrides.table_factory.reset(NewBlockBasedTableFactory());
    const Status status = DB::OpenAndCompact(job.database, job.Output(id),
                                             job.input, result, overrides);
    return status.ok() ? CompactionServiceJobStatus::kSuccess
                       : CompactionServiceJobStatus::kUseLocal;
  }

  void OnInstallation(const std::string& id,
                      CompactionServiceJobStatus) override {
    std::filesystem::remove_all(JobOf(id).Output(id));
  }

  int scheduled() const { return scheduled_; }
  const std::string& label() const { return settings_.label; }

  // Lets option strings name it; counts those that were made so.
  static void Register() {
    static std::once_flag once;
    std::call_once(once, [] {
      ObjectLibrary::Default()->AddFactory<CompactionService>(
          kClassName(),
          [](const std::string&, std::unique_ptr<CompactionService>* made,
             std::string*) {
            ++created;
            made->reset(new InProcessService());
            return made->get();
          });
    });
  }

  static inline std::atomic<int> created{0};

 private:
  struct Job {
    std::string database;
    std::string input;
    std::string Output(const std::string& id) const {
      return database + "/worker-" + id;
    }
  };

  static const std::unordered_map<std::string, OptionTypeInfo>& SettingTypes() {
    static const std::unordered_map<std::string, OptionTypeInfo> types = {
        {"label",
         {offsetof(struct Settings, label), OptionType::kString,
          OptionVerificationType::kNormal, OptionTypeFlags::kNone}}};
    return types;
  }

  Job JobOf(const std::string& id) {
    std::lock_guard<std::mutex> lock(mutex_);
    return jobs_.at(id);
  }

  Settings settings_;
  std::mutex mutex_;
  std::map<std::string, Job> jobs_;
  std::atomic<int> scheduled_{0};
};

// Something that other threads do, and that a test waits for.
class Occurrences {
 public:
  void Add(const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++counts_[what];
    changed_.notify_all();
  }

  int Of(const std::string& what) {
    std::lock_guard<std::mutex> lock(mutex_);
    return counts_[what];
  }

  // False if it did not come COUNT times within a minute.
  bool Await(const std::string& what, int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1),
                             [&] { return counts_[what] >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> counts_;
};

}  // namespace hooks_test
