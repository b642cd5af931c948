// All that the plug-in has once in a process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/options.h"
#include "sluice/io/pace.h"
#include "sluice/latency/operation_latencies.h"
#include "sluice/lease/lease_store.h"
#include "sluice/plugin_options.h"
#include "sluice/protocol/methods.h"
#include "sluice/protocol/orders.h"
#include "sluice/protocol/requests.h"
#include "sluice/protocol/server.h"
#include "sluice/store/compaction_admissions.h"
#include "sluice/store/database.h"
#include "sluice/store/figures.h"
#include "sluice/store/started_tasks.h"

namespace sluice {

// The databases that are open, the leases, and the socket, which is served
// while there is a database.
class Process : public OrderedStore {
 public:
  // Lives as long as the process: a store may be closed at any late time.
  static Process* Instance();

  // Adds what the plug-in needs to the options of a database that is opened.
  void Prepare(const std::string& path, const PluginOptions& options,
               ROCKSDB_NAMESPACE::DBOptions* db_options);
  void Opened(ROCKSDB_NAMESPACE::DB* db);
  bool IsOpen(const ROCKSDB_NAMESPACE::DB* db) const;
  void ShutdownBegins(const ROCKSDB_NAMESPACE::DB* db);

  // Whether an automatic compaction of a family may begin. The caller holds
  // the store's mutex.
  bool MayCompact(const ROCKSDB_NAMESPACE::DB* db, uint32_t family);

  // Whether an order holds compactions that begin there.
  bool IsHeld(const Database* database, const std::string& family,
              int level) const;

  std::shared_ptr<Database> DatabaseAt(const std::string& path) const;
  Figures* figures() { return &figures_; }

  const Description& Describe() const override { return description_; }
  bool HasScope(Kind kind, const std::string& scope) const override;
  std::optional<Refusal> ForbidsOrder(Kind kind, Aspect aspect,
                                      const std::string& scope) const override;
  std::optional<Refusal> Start(Kind kind, const std::string& scope,
                               const std::string& owner) override;
  Json Snapshot() const override;

 private:
  using Logger = std::shared_ptr<ROCKSDB_NAMESPACE::Logger>;

  Process();

  std::vector<std::shared_ptr<Database>> Databases() const;
  std::shared_ptr<Database> DatabaseOf(const ROCKSDB_NAMESPACE::DB* db) const;
  std::string FreeName(const std::string& path, const std::string& wanted);
  void Add(const std::shared_ptr<Database>& database,
           const PluginOptions& options, const Logger& log);
  void Remove(Database* database);
  void StartServing(const PluginOptions& options, const Logger& log);
  void StopServing();

  void RunTicker();
  void Tick();
  void MeasureRates(TimePoint now);
  void KeepSafe();
  void EndOrders(Kind kind);

  const MonotonicClock* const clock_ = MonotonicClock::Default();
  LeaseStore leases_{clock_};
  Pace pace_{&leases_, clock_};
  CompactionAdmissions admissions_{&leases_, &pace_};
  OperationLatencies latencies_{clock_};
  Figures figures_;
  StartedTasks started_;
  Description description_;
  Methods methods_{this, &leases_};
  Requests requests_{&methods_};

  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Database>> databases_;

  // Begin and end of the service, one at a time.
  std::mutex serving_mutex_;
  std::unique_ptr<Server> server_;
  std::thread ticker_;
  std::mutex ticker_mutex_;
  std::condition_variable ticker_changed_;
  bool is_ticking_ = false;

  // Set while a store is near a stall, until it is far from one again.
  std::atomic<bool> compaction_limit_{false};
  std::atomic<bool> flush_limit_{false};
  TimePoint rates_at_{};
  std::map<const Task*, uint64_t> progress_before_;
};

}  // namespace sluice
