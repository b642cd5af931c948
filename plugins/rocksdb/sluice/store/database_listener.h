// Follows the flushes and compactions of one database.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "rocksdb/listener.h"
#include "sluice/io/pace.h"
#include "sluice/store/compaction_admissions.h"
#include "sluice/store/database.h"

namespace sluice {

// Begin and end come on the thread that does the work, which so is known to
// work for the task. Nothing here throws.
class DatabaseListener : public ROCKSDB_NAMESPACE::EventListener {
 public:
  // `closed` is called when the store has let go of the listener; `stalled`
  // when the store has begun to hold up writes.
  DatabaseListener(std::shared_ptr<Database> database, Pace* pace,
                   CompactionAdmissions* admissions,
                   std::function<void()> stalled,
                   std::function<void(Database*)> closed);
  ~DatabaseListener() override;

  static constexpr char kName[] = "SluiceDatabaseListener";
  const char* Name() const override { return kName; }

  const std::shared_ptr<Database>& database() const { return database_; }

  void OnManualFlushScheduled(
      ROCKSDB_NAMESPACE::DB* db,
      const std::vector<ROCKSDB_NAMESPACE::ManualFlushInfo>& flushes) override;
  void OnFlushBegin(ROCKSDB_NAMESPACE::DB* db,
                    const ROCKSDB_NAMESPACE::FlushJobInfo& info) override;
  void OnFlushCompleted(ROCKSDB_NAMESPACE::DB* db,
                        const ROCKSDB_NAMESPACE::FlushJobInfo& info) override;
  void OnCompactionBegin(
      ROCKSDB_NAMESPACE::DB* db,
      const ROCKSDB_NAMESPACE::CompactionJobInfo& info) override;
  void OnCompactionCompleted(
      ROCKSDB_NAMESPACE::DB* db,
      const ROCKSDB_NAMESPACE::CompactionJobInfo& info) override;
  void OnSubcompactionBegin(
      const ROCKSDB_NAMESPACE::SubcompactionJobInfo& info) override;
  void OnSubcompactionCompleted(
      const ROCKSDB_NAMESPACE::SubcompactionJobInfo& info) override;
  void OnStallConditionsChanged(
      const ROCKSDB_NAMESPACE::WriteStallInfo& info) override;
  void OnBackgroundError(ROCKSDB_NAMESPACE::BackgroundErrorReason reason,
                         ROCKSDB_NAMESPACE::Status* error) override;
  void OnDBShutdownBegin(ROCKSDB_NAMESPACE::DB* db) override;

 private:
  std::shared_ptr<Task> NewTask(Kind kind, uint32_t family,
                                const std::string& family_name, int level,
                                int job) const;
  bool IsFlushing(uint32_t family) const;
  void LeaveLastJob(Kind kind, int job);
  void End(Kind kind, int job);

  const std::shared_ptr<Database> database_;
  Pace* const pace_;
  CompactionAdmissions* const admissions_;
  const std::function<void()> stalled_;
  const std::function<void(Database*)> closed_;
};

}  // namespace sluice
