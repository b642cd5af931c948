#include "sluice/store/snapshot.h"

#include <algorithm>
#include <utility>

#include "sluice/store/scope_names.h"

namespace sluice {
namespace {

// A snapshot is one line of at most 1 MiB, which also has the leases. Names may
// be long.
constexpr size_t kMaxTaskBytes = 256 << 10;
constexpr size_t kMaxDebtBytesOfAKind = 160 << 10;
constexpr double kNanosecondsPerSecond = 1e9;

// Puts objects into a list for as long as there is room.
class BoundedList {
 public:
  BoundedList(size_t bytes, Json* list) : bytes_left_(bytes), list_(list) {}

  bool IsFull() const { return bytes_left_ == 0; }
  void Add(Json object) {
    const size_t bytes = WriteJson(object).size() + 1;
    if (bytes > bytes_left_) {
      bytes_left_ = 0;
      return;
    }
    bytes_left_ -= bytes;
    list_->push_back(std::move(object));
  }

 private:
  size_t bytes_left_;
  Json* const list_;
};

uint64_t Bounded(double number) {
  return static_cast<uint64_t>(std::clamp(number, 0.0, kMaxWholeNumber));
}

Json ToJson(const Task& task, TimePoint now) {
  const uint64_t total = task.bytes_total;
  const uint64_t progress = task.Progress();
  const uint64_t done = total > 0 ? std::min(progress, total) : progress;
  return {
      {"id", task.id},
      {"kind", NameOf(task.kind)},
      {"scope", task.scope},
      {"state", task.held_threads > 0 ? "held" : "running"},
      {"phase", task.phase},
      {"bytes_done", done},
      {"bytes_total", total},
      {"rate_bytes_per_second", task.rate_bytes_per_second.load()},
      {"throttled_seconds",
       static_cast<double>(task.throttled_nanoseconds) / kNanosecondsPerSecond},
      {"age_seconds", std::max(0.0, Seconds(now - task.started_at))}};
}

Json DeferredTask(const Database& database, const FamilyState& family,
                  double age_seconds) {
  const std::string scope = FamilyScope(database.name(), family.name);
  return {{"id", scope + "#deferred"},
          {"kind", NameOf(Kind::kCompaction)},
          {"scope", scope},
          {"state", "deferred"},
          {"bytes_done", 0},
          {"bytes_total", 0},
          {"rate_bytes_per_second", 0},
          {"throttled_seconds", age_seconds},
          {"age_seconds", age_seconds}};
}

// RocksDB's bounds are numbers of files, or bytes, or memtables. They are
// given in proportion, so that bytes / limit_bytes says how near the nearest
// is.
struct Debt {
  double bytes = 0;
  double trigger_bytes = 0;
  double limit_bytes = 0;
  uint64_t files = 0;
};

Debt CompactionDebt(const FamilyState& family) {
  Debt debt;
  debt.bytes = static_cast<double>(CompactionDebtBytes(family));
  debt.limit_bytes = static_cast<double>(family.soft_pending_bytes_limit);
  debt.files = static_cast<uint64_t>(family.level0_files);
  if (family.level0_files == 0 || debt.bytes == 0) return debt;
  const double bytes_per_file = debt.bytes / family.level0_files;
  debt.trigger_bytes = bytes_per_file * family.level0_compaction_trigger;
  const double by_files = bytes_per_file * family.level0_slowdown_trigger;
  if (by_files > 0 && (debt.limit_bytes == 0 || by_files < debt.limit_bytes)) {
    debt.limit_bytes = by_files;
  }
  return debt;
}

Debt FlushDebt(const FamilyState& family) {
  Debt debt;
  debt.bytes = static_cast<double>(FlushDebtBytes(family));
  debt.trigger_bytes = static_cast<double>(family.memtable_size_bytes);
  debt.limit_bytes = debt.trigger_bytes * family.max_memtables;
  debt.files = static_cast<uint64_t>(family.unflushed_memtables);
  return debt;
}

Json ToJson(Kind kind, const std::string& scope, const Debt& debt) {
  return {{"kind", NameOf(kind)},
          {"scope", scope},
          {"bytes", Bounded(debt.bytes)},
          {"trigger_bytes", Bounded(debt.trigger_bytes)},
          {"limit_bytes", Bounded(debt.limit_bytes)},
          {"files", debt.files}};
}

// The sum, with the bounds of the family that is nearest to its own.
Debt Sum(const std::vector<Debt>& debts) {
  Debt sum;
  const Debt* nearest = nullptr;
  const auto closeness = [](const Debt& debt) {
    return debt.limit_bytes > 0 ? debt.bytes / debt.limit_bytes : 0;
  };
  for (const Debt& debt : debts) {
    sum.bytes += debt.bytes;
    sum.files += debt.files;
    if (nearest == nullptr || closeness(debt) > closeness(*nearest)) {
      nearest = &debt;
    }
  }
  if (nearest == nullptr || nearest->bytes == 0) return sum;
  const double scale = sum.bytes / nearest->bytes;
  sum.trigger_bytes = nearest->trigger_bytes * scale;
  sum.limit_bytes = nearest->limit_bytes * scale;
  return sum;
}

void AddDebts(Kind kind, const OpenDatabases& databases, Json* debts) {
  BoundedList shown(kMaxDebtBytesOfAKind, debts);
  std::vector<Debt> all;
  for (const auto& database : databases) {
    const auto state = database->State();
    for (const FamilyState& family : state->families) {
      all.push_back(kind == Kind::kCompaction ? CompactionDebt(family)
                                              : FlushDebt(family));
      if (shown.IsFull()) continue;
      shown.Add(
          ToJson(kind, FamilyScope(database->name(), family.name), all.back()));
    }
  }
  debts->push_back(ToJson(kind, "", Sum(all)));
}

Json ToJson(const char* request_class, const OperationLatencies::Interval& in,
            const LatencySummary& summary) {
  return {{"class", request_class},
          {"age_seconds", in.age_seconds},
          {"interval_seconds", in.seconds},
          {"count", summary.count},
          {"errors", 0},
          {"mean_seconds", summary.mean_seconds},
          {"p50_seconds", summary.p50_seconds},
          {"p99_seconds", summary.p99_seconds},
          {"p999_seconds", summary.p999_seconds},
          {"max_seconds", summary.max_seconds}};
}

Json Tasks(const OpenDatabases& databases, const RunningTasks& running,
           TimePoint now) {
  Json tasks = Json::array();
  BoundedList shown(kMaxTaskBytes, &tasks);
  for (const auto& task : running) shown.Add(ToJson(*task, now));
  for (const auto& database : databases) {
    const auto state = database->State();
    for (const FamilyState& family : state->families) {
      const auto since = database->PutOffSince(family.id, now);
      if (!since || shown.IsFull()) continue;
      shown.Add(DeferredTask(*database, family, Seconds(now - *since)));
    }
  }
  return tasks;
}

}  // namespace

Json SnapshotOf(const OpenDatabases& databases, const RunningTasks& running,
                const std::vector<OperationLatencies::Interval>& latencies,
                const std::map<std::string, uint64_t>& figures, TimePoint now) {
  Json debts = Json::array();
  AddDebts(Kind::kCompaction, databases, &debts);
  AddDebts(Kind::kFlush, databases, &debts);
  Json intervals = Json::array();
  for (const auto& interval : latencies) {
    intervals.push_back(ToJson("read", interval, interval.reads));
    intervals.push_back(ToJson("write", interval, interval.writes));
  }
  Json counted = Json::object();
  for (const auto& [name, amount] : figures) counted[name] = amount;
  return {{"tasks", Tasks(databases, running, now)},
          {"debts", std::move(debts)},
          {"latencies", std::move(intervals)},
          {"figures", std::move(counted)}};
}

}  // namespace sluice
