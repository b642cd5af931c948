#include "sluice/store/process.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/version.h"
#include "sluice/io/tagging_file_system.h"
#include "sluice/latency/timing_statistics.h"
#include "sluice/plugin_version.h"
#include "sluice/signal_free_thread.h"
#include "sluice/store/database_listener.h"
#include "sluice/store/scope_names.h"
#include "sluice/store/snapshot.h"
#include "sluice/text/printable.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;

// While there are leases, as often as a write stall has to be seen coming.
constexpr Duration kBusyPeriod = std::chrono::milliseconds(50);
constexpr Duration kIdlePeriod = std::chrono::milliseconds(500);
constexpr double kRatePeriodSeconds = 1;

// From here to a stall every order ends, and none is taken until the store is
// as far from it again.
constexpr double kEndCloseness = 0.75;
constexpr double kTakeCloseness = 0.5;

std::vector<Capability> Capabilities() {
  return {{Kind::kCompaction,
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
}

bool HasWork(Kind kind, const FamilyState& family) {
  return kind == Kind::kCompaction ? family.files > 0 : family.has_unflushed;
}

// A program may open a database with the options that another one had.
void ForgetEarlierUse(DBOptions* options) {
  std::erase_if(options->listeners, [](const auto& each) {
    return std::string_view(each->Name()) == DatabaseListener::kName;
  });
  if (options->env == nullptr) {
    options->env = ROCKSDB_NAMESPACE::Env::Default();
  }
  if (options->statistics && std::string_view(options->statistics->Name()) ==
                                 TimingStatistics::kName) {
    options->statistics =
        static_cast<TimingStatistics*>(options->statistics.get())->own();
  }
}

bool IsIn(const std::string& scope, const Database& database,
          const FamilyState& family) {
  return scope.empty() || scope == database.name() ||
         scope == FamilyScope(database.name(), family.name);
}

}  // namespace

Process* Process::Instance() {
  static auto* const process = new Process();
  return process;
}

Process::Process() {
  leases_.AddListener([this] {
    pace_.Wake();
    ticker_changed_.notify_all();
  });
  description_.store_version = std::to_string(ROCKSDB_MAJOR) + "." +
                               std::to_string(ROCKSDB_MINOR) + "." +
                               std::to_string(ROCKSDB_PATCH);
  description_.plugin_version = kPluginVersion;
  description_.capabilities = Capabilities();
}

void Process::Prepare(const std::string& path, const PluginOptions& options,
                      DBOptions* db_options) {
  ForgetEarlierUse(db_options);
  db_options->env = TaggingEnvOver(db_options->env, &pace_);
  const bool has_statistics = db_options->statistics != nullptr;
  if (options.latency == "on" ||
      (options.latency == "auto" && has_statistics)) {
    db_options->statistics =
        std::make_shared<TimingStatistics>(db_options->statistics, &latencies_);
  }
  auto database = std::make_shared<Database>(
      FreeName(path, options.database_name), path,
      HasLocalFiles(db_options->env), db_options->write_buffer_manager);
  Add(database, options, db_options->info_log);
  db_options->listeners.push_back(std::make_shared<DatabaseListener>(
      database, &pace_, &admissions_,
      [this] {
        EndOrders(Kind::kCompaction);
        EndOrders(Kind::kFlush);
      },
      [this](Database* closed) { Remove(closed); }));
}

void Process::Opened(DB* db) {
  if (const auto database = DatabaseAt(db->GetName())) database->Opened(db);
}

bool Process::IsOpen(const DB* db) const { return DatabaseOf(db) != nullptr; }

void Process::ShutdownBegins(const DB* db) {
  const auto database = DatabaseOf(db);
  if (!database) return;
  *database->freedom() = true;
  pace_.Wake();
  database->Shutdown();
  Remove(database.get());
}

std::vector<std::shared_ptr<Database>> Process::Databases() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<Database>> open;
  for (const auto& each : databases_) {
    if (auto database = each.lock()) open.push_back(std::move(database));
  }
  return open;
}

std::shared_ptr<Database> Process::DatabaseOf(const DB* db) const {
  for (const auto& each : Databases()) {
    if (each->Is(db)) return each;
  }
  return nullptr;
}

// An attempt to open it that has failed may still be there: the last counts.
std::shared_ptr<Database> Process::DatabaseAt(const std::string& path) const {
  std::shared_ptr<Database> found;
  for (const auto& each : Databases()) {
    if (each->path() == path) found = each;
  }
  return found;
}

std::string Process::FreeName(const std::string& path,
                              const std::string& wanted) {
  const auto open = Databases();
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(open.begin(), open.end(), [&](const auto& each) {
      return each->name() == name && each->path() != path;
    });
  };
  const std::string name = Printable(wanted);
  const bool is_name = !name.empty() && name.find('/') == std::string::npos;
  return is_name && !is_taken(name) ? name : DatabaseName(path, is_taken);
}

void Process::Add(const std::shared_ptr<Database>& database,
                  const PluginOptions& options, const Logger& log) {
  std::lock_guard<std::mutex> serving(serving_mutex_);
  bool is_first;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // One that could not be prepared to its end was not removed either.
    std::erase_if(databases_, [](const auto& each) { return each.expired(); });
    is_first = databases_.empty();
    databases_.push_back(database);
  }
  if (is_first) StartServing(options, log);
}

void Process::Remove(Database* database) {
  std::lock_guard<std::mutex> serving(serving_mutex_);
  bool is_last;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto is_it = [&](const auto& each) {
      return each.lock().get() == database;
    };
    // It is told twice: when the store begins to close, and at its end.
    if (std::erase_if(databases_, is_it) == 0) return;
    is_last = databases_.empty();
  }
  // A lease does not outlive what it is on.
  leases_.EndWithin(is_last ? "" : database->name());
  if (is_last) StopServing();
}

void Process::StartServing(const PluginOptions& options, const Logger& log) {
  StopServing();
  description_.instance = options.instance;
  description_.max_time_to_live_seconds = options.max_time_to_live_seconds;
  std::string error;
  server_ = Server::Start(options.socket_directory + "/rocksdb",
                          options.instance, &requests_, &error);
  if (server_) {
    ROCKSDB_NAMESPACE::Info(log, "sluice: orders are taken at %s",
                            server_->path().c_str());
  } else {
    ROCKSDB_NAMESPACE::Warn(log, "sluice: no orders are taken: %s",
                            error.c_str());
  }
  is_ticking_ = true;
  ticker_ = StartSignalFreeThread("sluice-ticker", [this] { RunTicker(); });
}

void Process::StopServing() {
  server_.reset();
  {
    std::lock_guard<std::mutex> lock(ticker_mutex_);
    is_ticking_ = false;
  }
  ticker_changed_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

bool Process::MayCompact(const DB* db, uint32_t family_id) {
  if (leases_.IsEmpty()) return true;
  const auto database = DatabaseOf(db);
  const auto family = database ? database->Family(family_id) : std::nullopt;
  if (!family) return true;
  const TimePoint now = clock_->Now();
  const auto scopes = ScopesOf(database->name(), family->name, -1);
  const auto deferral =
      leases_.Find(Kind::kCompaction, Aspect::kDeferral, scopes);
  const bool is_put_off =
      deferral && DebtOf(deferral->scope, Databases(), *database, *family) <
                      deferral->setting.number;
  if (is_put_off || !admissions_.Admit(scopes, now)) {
    database->SetPutOff(family_id, now);
    return false;
  }
  return true;
}

bool Process::IsHeld(const Database* database, const std::string& family,
                     int level) const {
  if (database == nullptr) return false;
  const auto pace = leases_.Find(Kind::kCompaction, Aspect::kPace,
                                 ScopesOf(database->name(), family, level));
  return pace && pace->setting.name == SettingName::kHold;
}

bool Process::HasScope(Kind kind, const std::string& scope) const {
  if (scope.empty()) return true;
  const auto open = Databases();
  const ScopeParts parts = SplitScope(scope);
  for (const auto& database : open) {
    const size_t name_size = database->name().size();
    if (scope == database->name()) return true;
    if (scope.compare(0, name_size, database->name()) == 0 &&
        scope.size() > name_size && scope[name_size] == '/' &&
        database->HasFamily(scope.substr(name_size + 1))) {
      return true;
    }
    if (kind != Kind::kCompaction || !parts.level) continue;
    const bool is_any = parts.database == "*" && parts.family == "*";
    const bool is_here =
        parts.database == database->name() &&
        (parts.family == "*" || database->HasFamily(parts.family));
    if (is_any || is_here) return true;
  }
  return false;
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
  const bool at_limit =
      kind == Kind::kCompaction ? compaction_limit_ : flush_limit_;
  if (!at_limit) return std::nullopt;
  return Refusal{ErrorCode::kRefused,
                 "a database is close to a write stall, or in one",
                 "Orders are taken again when it is half way from it."};
}

std::optional<Refusal> Process::Start(Kind kind, const std::string& scope,
                                      const std::string&) {
  if (SplitScope(scope).level) {
    return Refusal{ErrorCode::kRefused, "a level cannot be started alone",
                   "Start the compaction of its family."};
  }
  bool has_started = false;
  for (const auto& database : Databases()) {
    database->Refresh();
    std::vector<uint32_t> families;
    for (const FamilyState& family : database->Families()) {
      if (IsIn(scope, *database, family) && HasWork(kind, family)) {
        families.push_back(family.id);
      }
    }
    if (families.empty()) continue;
    if (!started_.Start(kind, database, std::move(families))) {
      return Refusal{ErrorCode::kRefused,
                     "too many started tasks are running already",
                     "Start it again when one of them has ended."};
    }
    figures_.Add("started_orders_total", 1);
    has_started = true;
  }
  if (has_started) return std::nullopt;
  return Refusal{ErrorCode::kRefused, "there is nothing to start in the scope",
                 ""};
}

Json Process::Snapshot() const {
  return SnapshotOf(Databases(), pace_.Running(), latencies_.Intervals(),
                    figures_.All(), clock_->Now());
}

void Process::RunTicker() {
  std::unique_lock<std::mutex> lock(ticker_mutex_);
  while (is_ticking_) {
    lock.unlock();
    try {
      Tick();
    } catch (const std::exception&) {
      // Memory has run out; the next time comes soon.
    }
    lock.lock();
    if (!is_ticking_) return;
    ticker_changed_.wait_for(lock,
                             leases_.IsEmpty() ? kIdlePeriod : kBusyPeriod);
  }
}

void Process::Tick() {
  leases_.Sweep();
  for (const auto& database : Databases()) database->Refresh();
  KeepSafe();
  MeasureRates(clock_->Now());
  latencies_.Tick();
}

void Process::MeasureRates(TimePoint now) {
  const double seconds = Seconds(now - rates_at_);
  if (seconds < kRatePeriodSeconds) return;
  rates_at_ = now;
  std::map<const Task*, uint64_t> progress;
  for (const auto& task : pace_.Running()) {
    const uint64_t done = task->Progress();
    const auto before = progress_before_.find(task.get());
    const uint64_t since =
        before == progress_before_.end() ? 0 : before->second;
    task->rate_bytes_per_second =
        done > since ? static_cast<double>(done - since) / seconds : 0;
    progress[task.get()] = done;
  }
  progress_before_ = std::move(progress);
}

void Process::KeepSafe() {
  double compaction = 0;
  double flush = 0;
  for (const auto& database : Databases()) {
    if (database->IsStalled()) compaction = flush = 1;
    for (const FamilyState& family : database->Families()) {
      compaction = std::max(compaction, CompactionStallCloseness(family));
      flush = std::max(flush, FlushStallCloseness(family));
    }
  }
  if (compaction >= kEndCloseness) EndOrders(Kind::kCompaction);
  if (compaction <= kTakeCloseness) compaction_limit_ = false;
  if (flush >= kEndCloseness) EndOrders(Kind::kFlush);
  if (flush <= kTakeCloseness) flush_limit_ = false;
}

void Process::EndOrders(Kind kind) {
  const bool is_compaction = kind == Kind::kCompaction;
  (is_compaction ? compaction_limit_ : flush_limit_) = true;
  if (leases_.EndAll(kind) == 0) return;
  figures_.Add(
      is_compaction ? "compaction_order_ends_total" : "flush_order_ends_total",
      1);
}

}  // namespace sluice
