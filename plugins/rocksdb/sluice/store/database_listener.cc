#include "sluice/store/database_listener.h"

#include <algorithm>
#include <string>
#include <utility>

#include "rocksdb/env.h"
#include "sluice/guarded.h"
#include "sluice/store/scope_names.h"
#include "sluice/store/store_access.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::BackgroundErrorReason;
using ROCKSDB_NAMESPACE::CompactionJobInfo;
using ROCKSDB_NAMESPACE::CompactionReason;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushJobInfo;
using ROCKSDB_NAMESPACE::FlushReason;
using ROCKSDB_NAMESPACE::ManualFlushInfo;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::SubcompactionJobInfo;
using ROCKSDB_NAMESPACE::WriteStallCondition;
using ROCKSDB_NAMESPACE::WriteStallInfo;

// Recovery, shutdown, what a caller waits for with locks, and what keeps the
// store within its bounds of memory and logs never wait.
bool IsExempt(FlushReason reason) {
  switch (reason) {
    case FlushReason::kWriteBufferFull:
    case FlushReason::kManualFlush:
    case FlushReason::kMemtableMaxRangeDeletions:
      return false;
    default:
      return true;
  }
}

// FIFO drops nothing while one of its compactions runs, and copies files to
// another temperature with the store's mutex locked.
bool IsExempt(CompactionReason reason, const FamilyState* family) {
  switch (reason) {
    case CompactionReason::kChangeTemperature:
    case CompactionReason::kFIFOMaxSize:
    case CompactionReason::kFIFOReduceNumFiles:
    case CompactionReason::kFIFOTtl:
      return true;
    default:
      return family != nullptr && family->is_fifo;
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
  pace_->EndAll(database_->freedom().get());
  Guarded([&] { closed_(database_.get()); });
}

std::shared_ptr<Task> DatabaseListener::NewTask(Kind kind, uint32_t family,
                                                const std::string& family_name,
                                                int level, int job) const {
  auto task = std::make_shared<Task>();
  task->kind = kind;
  task->scope = FamilyScope(database_->name(), family_name);
  task->id = kind == Kind::kFlush
                 ? task->scope + "#" + std::to_string(job)
                 : database_->name() + "#" + std::to_string(job);
  task->scopes = ScopesOf(database_->name(), family_name, level);
  task->level = level;
  task->job = job;
  task->family = family;
  task->freedom = database_->freedom();
  return task;
}

// The thread has gone on from its last job, of whose end the store has told
// nobody if it has failed.
void DatabaseListener::LeaveLastJob(Kind kind, int job) {
  const std::shared_ptr<Task> last = CurrentTask();
  SetCurrentTask(nullptr);
  if (!last) return;
  const bool is_same = last->freedom == database_->freedom() &&
                       last->kind == kind && last->job == job;
  if (!is_same) pace_->EndJob(*last);
}

void DatabaseListener::End(Kind kind, int job) {
  Task ended;
  ended.kind = kind;
  ended.job = job;
  ended.freedom = database_->freedom();
  pace_->EndJob(ended);
  const auto& current = CurrentTask();
  if (current && current->freedom == ended.freedom && current->kind == kind &&
      current->job == job) {
    SetCurrentTask(nullptr);
  }
}

// Where what is needed is in a memtable whose flush runs or is queued already,
// the store begins no other one.
void DatabaseListener::OnManualFlushScheduled(
    DB* db, const std::vector<ManualFlushInfo>& flushes) {
  if (flushes.empty() || !IsExempt(flushes.front().flush_reason)) return;
  Freedom* const freedom = database_->freedom().get();
  pace_->LetFlushesGo(freedom);
  Guarded([&] {
    const StoreState state = ReadState(db);
    std::vector<uint32_t> next;
    for (const ManualFlushInfo& each : flushes) {
      const FamilyState* const family = state.Find(each.cf_id);
      if (family == nullptr || family->unflushed_memtables == 0) continue;
      // One that has begun may not have been heard of yet.
      if (family->has_queued_flush || !IsFlushing(each.cf_id)) {
        next.push_back(each.cf_id);
      }
    }
    pace_->LetFlushesGo(freedom, next);
  });
}

bool DatabaseListener::IsFlushing(uint32_t family) const {
  const auto running = pace_->Running();
  return std::any_of(running.begin(), running.end(), [&](const auto& each) {
    return each->kind == Kind::kFlush && each->family == family &&
           each->freedom == database_->freedom();
  });
}

void DatabaseListener::OnFlushBegin(DB*, const FlushJobInfo& info) {
  LeaveLastJob(Kind::kFlush, info.job_id);
  const bool is_exempt = IsExempt(info.flush_reason);
  // The store takes over results in the order of the memtables.
  if (is_exempt) pace_->LetFlushesGo(database_->freedom().get());
  Guarded([&] {
    auto task =
        NewTask(Kind::kFlush, info.cf_id, info.cf_name, -1, info.job_id);
    task->is_exempt = is_exempt;
    task->phase = "flush";
    const auto state = database_->State();
    if (const FamilyState* family = state->Find(info.cf_id)) {
      task->bytes_total = family->unflushed_bytes;
    }
    pace_->Begin(task);
    SetCurrentTask(std::move(task));
  });
}

void DatabaseListener::OnFlushCompleted(DB*, const FlushJobInfo& info) {
  Guarded([&] { End(Kind::kFlush, info.job_id); });
}

void DatabaseListener::OnCompactionBegin(DB* db,
                                         const CompactionJobInfo& info) {
  LeaveLastJob(Kind::kCompaction, info.job_id);
  Guarded([&] {
    auto task = NewTask(Kind::kCompaction, info.cf_id, info.cf_name,
                        info.base_input_level, info.job_id);
    task->is_exempt =
        IsExempt(info.compaction_reason, database_->State()->Find(info.cf_id));
    task->phase = "L" + std::to_string(info.base_input_level) + " to L" +
                  std::to_string(info.output_level);
    // Before a look at files, which may take longer than it is waited for.
    admissions_->Begin(task);
    task->bytes_total = InputBytes(db, info);
    SetCurrentTask(std::move(task));
  });
}

void DatabaseListener::OnCompactionCompleted(DB*,
                                             const CompactionJobInfo& info) {
  Guarded([&] { End(Kind::kCompaction, info.job_id); });
}

void DatabaseListener::OnSubcompactionBegin(const SubcompactionJobInfo& info) {
  Guarded([&] {
    SetCurrentTask(pace_->FindCompaction(database_->freedom().get(),
                                         static_cast<int>(info.job_id)));
  });
}

void DatabaseListener::OnSubcompactionCompleted(const SubcompactionJobInfo&) {
  SetCurrentTask(nullptr);
}

void DatabaseListener::OnStallConditionsChanged(const WriteStallInfo& info) {
  if (info.condition.cur == WriteStallCondition::kNormal) return;
  Guarded([&] { stalled_(); });
}

// Before the store waits for the work that runs. Whether it is in error at all,
// and until when, is seen when it is looked at.
void DatabaseListener::OnBackgroundError(BackgroundErrorReason, Status* error) {
  if (error->ok()) return;
  Guarded([&] {
    database_->freedom()->is_in_error = true;
    const auto& current = CurrentTask();
    if (current && current->kind == Kind::kFlush) {
      End(Kind::kFlush, current->job);
    }
    pace_->Wake();
  });
}

// Its last flush is over, and the store tells nobody of what ends from now on.
// Of a database whose opening fails this is the first that is heard; a
// read-only one may have been opened with the options, and so the listener, of
// another.
void DatabaseListener::OnDBShutdownBegin(DB*) {
  Freedom* const freedom = database_->freedom().get();
  if (!database_->WasOpened()) freedom->is_closing = true;
  if (!freedom->is_closing) return;
  Guarded([&] { pace_->EndAll(freedom); });
}

}  // namespace sluice
