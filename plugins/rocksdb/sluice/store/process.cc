#include "sluice/store/process.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/version.h"
#include "sluice/guarded.h"
#include "sluice/io/tagging_file_system.h"
#include "sluice/latency/timing_statistics.h"
#include "sluice/plugin_version.h"
#include "sluice/pool/pooled_env.h"
#include "sluice/signal_free_thread.h"
#include "sluice/store/database_listener.h"
#include "sluice/store/earlier_use.h"
#include "sluice/store/exit_waits.h"
#include "sluice/store/scope_names.h"
#include "sluice/store/snapshot.h"
#include "sluice/store/store_access.h"
#include "sluice/store/untold_ends.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;

// While there are leases, as often as a write stall has to be seen coming.
constexpr Duration kBusyPeriod = std::chrono::milliseconds(50);
constexpr Duration kIdlePeriod = std::chrono::milliseconds(500);
constexpr double kRatePeriodSeconds = 1;
// What upstream advises beside max_manifest_space_amp_pct.
constexpr uint64_t kMostManifestBytes = 1 << 20;

std::vector<Capability> Capabilities(bool has_slow_logs) {
  std::vector<Capability> all = {
      {Kind::kCompaction,
       {SettingName::kRate, SettingName::kHold, SettingName::kFull,
        SettingName::kStock, SettingName::kDeferUntilDebt,
        SettingName::kConcurrency, SettingName::kPriority},
       true,
       {"major"}},
      {Kind::kFlush,
       {SettingName::kRate, SettingName::kHold, SettingName::kFull,
        SettingName::kStock, SettingName::kPriority},
       true,
       {}}};
  if (has_slow_logs) {
    all.push_back({Kind::kLogPlacement,
                   {SettingName::kTier, SettingName::kRedirectQueue,
                    SettingName::kRedirectSize, SettingName::kRedirectStep},
                   false,
                   {}});
  }
  return all;
}

std::shared_ptr<TimingStatistics> TimingOver(const PluginOptions& options,
                                             DBOptions* db_options,
                                             OperationLatencies* latencies) {
  const bool is_timed =
      options.latency == "on" ||
      (options.latency == "auto" && db_options->statistics != nullptr);
  if (!is_timed) return nullptr;
  auto timing =
      std::make_shared<TimingStatistics>(db_options->statistics, latencies);
  db_options->statistics = timing;
  return timing;
}

// Of a store that may not be open.
std::shared_ptr<Database> ListeningDatabase(const DB* db) {
  for (const auto& each : ListenersOf(db)) {
    if (std::string_view(each->Name()) == DatabaseListener::kName) {
      return static_cast<DatabaseListener*>(each.get())->database();
    }
  }
  return nullptr;
}

bool HasWork(Kind kind, const FamilyState& family) {
  if (kind == Kind::kCompaction) return family.files > 0;
  return kind == Kind::kFlush && family.has_unflushed;
}

bool IsIn(const std::string& scope, const Database& database,
          const FamilyState& family) {
  return scope.empty() || scope == database.name() ||
         scope == FamilyScope(database.name(), family.name);
}

bool HasScopeIn(const Database& database, Kind kind, const std::string& scope,
                const ScopeParts& parts) {
  const std::string& name = database.name();
  if (scope == name) return true;
  if (scope.rfind(name + "/", 0) == 0 &&
      database.HasFamily(scope.substr(name.size() + 1))) {
    return true;
  }
  // Logs have no levels either, but are refused those with the reason.
  if (kind == Kind::kFlush || !parts.level) return false;
  if (parts.database == "*" && parts.family == "*") return true;
  return parts.database == name &&
         (parts.family == "*" || database.HasFamily(parts.family));
}

}  // namespace

Process* Process::Instance() {
  static auto* const process = new Process();
  return process;
}

Process::Process() {
  EndWaitsAtExit(&pace_);
  leases_.AddListener([this] {
    pace_.Wake();
    // Under the lock, so that it is not between its look and its wait.
    { std::lock_guard<std::mutex> lock(ticker_mutex_); }
    ticker_changed_.notify_all();
  });
  description_.store_version = std::to_string(ROCKSDB_MAJOR) + "." +
                               std::to_string(ROCKSDB_MINOR) + "." +
                               std::to_string(ROCKSDB_PATCH);
  description_.plugin_version = kPluginVersion;
}

void Process::Prepare(const std::string& path, const PluginOptions& options,
                      DBOptions* db_options) {
  ForgetEarlierUse(db_options);
  // A worker reads it from its begin, with each table that ever was.
  if (options.remote) {
    db_options->max_manifest_file_size =
        std::min(db_options->max_manifest_file_size, kMostManifestBytes);
  }
  db_options->env = TaggingEnvOver(PooledEnv(options, db_options->env), &pace_);
  DatabaseParts parts;
  parts.path = path;
  parts.has_local_files = options.plain_files || HasLocalFiles(db_options->env);
  parts.pool = {db_options->env->GetFileSystem(),
                PoolOf(path, TieredLogsIn(db_options->env)->target(),
                       options.plain_files)};
  parts.write_buffers = db_options->write_buffer_manager;
  parts.statistics = TimingOver(options, db_options, &latencies_);
  auto database = Add(options, std::move(parts));
  database->SetLogs(log_tiers_.Prepare(database->name(), path, options,
                                       db_options,
                                       TieredLogsIn(db_options->env)));
  db_options->listeners.push_back(std::make_shared<DatabaseListener>(
      std::move(database), &pace_, &admissions_, [this] { guard_.EndAll(); },
      [this](Database* closed) { Remove(closed); }));
}

std::shared_ptr<Database> Process::DatabaseOf(const DB* db) const {
  if (auto open = databases_.Find(db)) return open;
  // A read-only store may have been opened with the options of another one.
  auto listening = ListeningDatabase(db);
  return listening && !listening->WasOpened() ? listening : nullptr;
}

// The log may be missing when the options are prepared.
void Process::Opened(DB* db) {
  const auto database = DatabaseOf(db);
  if (!database) return;
  database->Opened(db);
  const auto log = db->GetDBOptions().info_log;
  if (const auto& logs = database->logs()) {
    log_tiers_.Opened(logs.get());
    ROCKSDB_NAMESPACE::Info(log, "sluice: %s", logs->state().c_str());
  }
  if (socket_.IsOpen()) {
    ROCKSDB_NAMESPACE::Info(log, "sluice: %s", socket_.State().c_str());
  } else {
    ROCKSDB_NAMESPACE::Warn(log, "sluice: %s", socket_.State().c_str());
  }
}

void Process::ShutdownBegins(Database* database) {
  database->freedom()->is_closing = true;
  pace_.SetClosing(database->freedom().get());
  database->Shutdown();
  Remove(database);
}

std::shared_ptr<Database> Process::Add(const PluginOptions& options,
                                       DatabaseParts parts) {
  std::lock_guard<std::mutex> serving(serving_mutex_);
  bool is_first = false;
  auto database =
      databases_.Add(options.database_name, std::move(parts), &is_first);
  if (is_first) StartServing(options);
  return database;
}

// A lease does not outlive what it is on.
void Process::Remove(Database* database) {
  // Of an opening that the store has refused for its options nobody else says
  // that it is over.
  if (const auto& logs = database->logs()) logs->Shutdown();
  std::lock_guard<std::mutex> serving(serving_mutex_);
  // It is told twice: when the store begins to close, and at its end.
  const auto removal = databases_.Remove(database);
  if (!removal.was_there) return;
  if (removal.is_last) {
    StopServing();
    leases_.EndWithin("");
  } else if (removal.frees_name) {
    leases_.EndWithin(database->name());
  }
}

// Without the thread that sees stalls coming no orders are taken.
void Process::StartServing(const PluginOptions& options) {
  StopServing();
  description_.instance = options.instance;
  description_.capabilities =
      Capabilities(/*has_slow_logs=*/!options.wal_slow_directory.empty());
  description_.max_time_to_live_seconds = options.max_time_to_live_seconds;
  is_ticking_ = true;
  ticker_ = StartSignalFreeThread("sluice-ticker", [this] { RunTicker(); });
  socket_.Open(options.socket_directory + "/rocksdb", options.instance);
}

// The ticker first: it would open the socket again.
void Process::StopServing() {
  {
    std::lock_guard<std::mutex> lock(ticker_mutex_);
    is_ticking_ = false;
  }
  ticker_changed_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  socket_.Close();
}

bool Process::MayCompact(const DB* db, uint32_t family_id) {
  if (!leases_.MayHave(Kind::kCompaction, Aspect::kDeferral) &&
      !leases_.MayHave(Kind::kCompaction, Aspect::kConcurrency)) {
    return true;
  }
  const auto database = databases_.Find(db);
  // One that is in error has to get out of it.
  if (!database || database->freedom()->IsSet()) return true;
  const auto state = database->State();
  const FamilyState* const family = state->Find(family_id);
  // FIFO puts off nothing but what it has to drop, or to copy elsewhere.
  if (family == nullptr || family->is_fifo) return true;
  const auto scopes = ScopesOf(database->name(), family->name, -1);
  const TimePoint now = clock_->Now();
  if (!IsPutOff(scopes, *family) && admissions_.Admit(scopes, now)) return true;
  database->SetPutOff(family_id, now);
  return false;
}

bool Process::IsPutOff(const std::vector<std::string>& scopes,
                       const FamilyState& family) const {
  const auto lease = leases_.Find(Kind::kCompaction, Aspect::kDeferral, scopes);
  if (!lease) return false;
  const bool is_of_family = lease->scope == scopes.front();
  const double debt = is_of_family
                          ? static_cast<double>(CompactionDebtBytes(family))
                          : databases_.CompactionDebtBytes(lease->scope);
  return debt < lease->setting.number;
}

bool Process::IsHeld(const Database* database, const std::string& family,
                     int level) const {
  if (database == nullptr || database->freedom()->IsSet()) return false;
  const auto state = database->State();
  const FamilyState* const known = state->Find(family);
  if (known != nullptr && known->is_fifo) return false;
  const auto pace = leases_.Find(Kind::kCompaction, Aspect::kPace,
                                 ScopesOf(database->name(), family, level));
  return pace && pace->setting.name == SettingName::kHold;
}

bool Process::HasScope(Kind kind, const std::string& scope) const {
  if (scope.empty()) return true;
  const ScopeParts parts = SplitScope(scope);
  const auto all = databases_.All();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) {
    return HasScopeIn(*each, kind, scope, parts);
  });
}

std::optional<Refusal> Process::ForbidsOrder(Kind kind, Aspect aspect,
                                             const std::string& scope) const {
  const bool is_of_families =
      aspect == Aspect::kDeferral || aspect == Aspect::kConcurrency;
  if (is_of_families && SplitScope(scope).level) {
    return Refusal{ErrorCode::kRefused,
                   "the store is asked by family whether a compaction may "
                   "begin, not by level",
                   "Name its family, its database, or \"\"."};
  }
  // A database alone has a name without a slash.
  if (kind == Kind::kLogPlacement && scope.find('/') != std::string::npos) {
    return Refusal{ErrorCode::kRefused,
                   "the logs of a database are for all of its families",
                   "Name the database, or \"\"."};
  }
  if (!guard_.Forbids(kind)) return std::nullopt;
  return Refusal{ErrorCode::kRefused,
                 "a database is close to a write stall, or in one, or keeps "
                 "too many obsolete files",
                 "Orders are taken again when it is half way from it."};
}

std::optional<Refusal> Process::Start(Kind kind, const std::string& scope,
                                      const std::string&) {
  if (SplitScope(scope).level) {
    return Refusal{ErrorCode::kRefused, "a level cannot be started alone",
                   "Start the compaction of its family."};
  }
  std::vector<StartedTasks::Families> all;
  for (const auto& database : databases_.All()) {
    database->Refresh();
    StartedTasks::Families families{database, {}};
    for (const FamilyState& family : database->State()->families) {
      if (IsIn(scope, *database, family) && HasWork(kind, family)) {
        families.ids.push_back(family.id);
      }
    }
    if (!families.ids.empty()) all.push_back(std::move(families));
  }
  if (all.empty()) {
    return Refusal{ErrorCode::kRefused,
                   "there is nothing to start in the scope", ""};
  }
  if (!started_.Start(kind, std::move(all))) {
    return Refusal{ErrorCode::kRefused,
                   "too many started tasks are running already",
                   "Start it again when one of them has ended."};
  }
  figures_.Add("started_orders_total", 1);
  return std::nullopt;
}

Json Process::Snapshot() const {
  auto figures = figures_.All();
  log_tiers_.AddFigures(&figures);
  return SnapshotOf(databases_.All(), pace_.Running(), latencies_.Intervals(),
                    figures, clock_->Now());
}

void Process::RunTicker() {
  std::unique_lock<std::mutex> lock(ticker_mutex_);
  while (is_ticking_) {
    lock.unlock();
    // Where memory has run out, the next time comes soon.
    Guarded([&] { Tick(); });
    lock.lock();
    if (!is_ticking_) return;
    ticker_changed_.wait_for(lock,
                             leases_.IsEmpty() ? kIdlePeriod : kBusyPeriod);
  }
}

void Process::Tick() {
  leases_.Sweep();
  LookAtStores();
  MeasureRates(clock_->Now());
  latencies_.Tick();
  socket_.Keep();
}

void Process::LookAtStores() {
  OrderGuard::States states;
  bool has_queued_flush = false;
  for (const auto& database : databases_.All()) {
    database->FollowStatistics();
    database->Refresh();
    states.push_back(database->State());
    FollowUntoldEnds(*states.back(), database->freedom().get(), &pace_);
    has_queued_flush |= states.back()->has_queued_flush;
  }
  pace_.SetFlushQueued(has_queued_flush);
  guard_.Look(states);
}

void Process::MeasureRates(TimePoint now) {
  const double seconds = Seconds(now - rates_at_);
  if (seconds < kRatePeriodSeconds) return;
  rates_at_ = now;
  for (const auto& task : pace_.Running()) {
    const uint64_t done = task->Progress();
    const uint64_t before = std::exchange(task->bytes_measured, done);
    task->rate_bytes_per_second =
        done > before ? static_cast<double>(done - before) / seconds : 0;
  }
}

}  // namespace sluice
