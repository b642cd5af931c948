#include "sluice/store/database_listener.h"

#include <string>

#include "rocksdb/env.h"
#include "sluice/store/scope_names.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompactionJobInfo;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushJobInfo;
using ROCKSDB_NAMESPACE::FlushReason;
using ROCKSDB_NAMESPACE::SubcompactionJobInfo;
using ROCKSDB_NAMESPACE::WriteStallCondition;
using ROCKSDB_NAMESPACE::WriteStallInfo;

// Recovery, shutdown and what a caller waits for with locks never wait.
bool IsExempt(FlushReason reason) {
  switch (reason) {
    case FlushReason::kWriteBufferFull:
    case FlushReason::kWriteBufferManager:
    case FlushReason::kWalFull:
    case FlushReason::kManualFlush:
    case FlushReason::kMemtableMaxRangeDeletions:
      return false;
    default:
      return true;
  }
}

uint64_t InputBytes(DB* db, const CompactionJobInfo& info) {
  uint64_t sum = 0;
  for (const std::string& file : info.input_files) {
    uint64_t bytes = 0;
    if (db->GetEnv()->GetFileSize(file, &bytes).ok()) sum += bytes;
  }
  return sum;
}

}  // namespace

DatabaseListener::DatabaseListener(std::shared_ptr<Database> database,
                                   Pace* pace, CompactionAdmissions* admissions,
                                   std::function<void()> stalled,
                                   std::function<void(Database*)> closed)
    : database_(std::move(database)),
      pace_(pace),
      admissions_(admissions),
      stalled_(std::move(stalled)),
      closed_(std::move(closed)) {}

DatabaseListener::~DatabaseListener() {
  // The store tells nobody of what ends while it shuts down.
  for (const auto& [job, task] : tasks_) pace_->End(task);
  closed_(database_.get());
}

std::shared_ptr<Task> DatabaseListener::NewTask(Kind kind,
                                                const std::string& family,
                                                int level, int job) const {
  auto task = std::make_shared<Task>();
  task->kind = kind;
  task->scope = FamilyScope(database_->name(), family);
  // Of a job that flushes several families each has a task.
  task->id = kind == Kind::kFlush
                 ? task->scope + "#" + std::to_string(job)
                 : database_->name() + "#" + std::to_string(job);
  task->scopes = ScopesOf(database_->name(), family, level);
  task->level = level;
  task->freedom = database_->freedom();
  return task;
}

void DatabaseListener::Begin(Job job, std::shared_ptr<Task> task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ForgetFailed();
    tasks_[job] = task;
  }
  pace_->Begin(task);
  SetCurrentTask(std::move(task));
}

// The store tells nobody of the end of a flush that fails. Its thread has gone
// on to the next one.
void DatabaseListener::ForgetFailed() {
  const auto& before = CurrentTask();
  if (!before || before->kind != Kind::kFlush || before->bytes_written == 0) {
    return;
  }
  for (auto each = tasks_.begin(); each != tasks_.end(); ++each) {
    if (each->second != before) continue;
    pace_->End(each->second);
    tasks_.erase(each);
    return;
  }
}

void DatabaseListener::End(Job job) {
  std::shared_ptr<Task> task;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = tasks_.find(job);
    if (found == tasks_.end()) return;
    task = std::move(found->second);
    tasks_.erase(found);
  }
  pace_->End(task);
  if (CurrentTask() == task) SetCurrentTask(nullptr);
}

void DatabaseListener::OnFlushBegin(DB*, const FlushJobInfo& info) {
  auto task = NewTask(Kind::kFlush, info.cf_name, -1, info.job_id);
  task->is_exempt = IsExempt(info.flush_reason);
  task->phase = "flush";
  if (const auto family = database_->Family(info.cf_id)) {
    task->bytes_total = family->unflushed_bytes;
  }
  Begin({info.job_id, info.cf_id}, std::move(task));
}

void DatabaseListener::OnFlushCompleted(DB*, const FlushJobInfo& info) {
  End({info.job_id, info.cf_id});
}

void DatabaseListener::OnCompactionBegin(DB* db,
                                         const CompactionJobInfo& info) {
  auto task = NewTask(Kind::kCompaction, info.cf_name, info.base_input_level,
                      info.job_id);
  task->bytes_total = InputBytes(db, info);
  task->phase = "L" + std::to_string(info.base_input_level) + " to L" +
                std::to_string(info.output_level);
  const auto scopes = task->scopes;
  Begin({info.job_id, 0}, std::move(task));
  admissions_->Begun(scopes);
}

void DatabaseListener::OnCompactionCompleted(DB*,
                                             const CompactionJobInfo& info) {
  End({info.job_id, 0});
}

void DatabaseListener::OnSubcompactionBegin(const SubcompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = tasks_.find({info.job_id, 0});
  if (found != tasks_.end()) SetCurrentTask(found->second);
}

void DatabaseListener::OnSubcompactionCompleted(const SubcompactionJobInfo&) {
  SetCurrentTask(nullptr);
}

void DatabaseListener::OnStallConditionsChanged(const WriteStallInfo& info) {
  const bool is_stalled = info.condition.cur != WriteStallCondition::kNormal;
  database_->SetStalled(info.cf_name, is_stalled);
  if (is_stalled) stalled_();
}

}  // namespace sluice
