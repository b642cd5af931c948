// All that the plug-in has once in a process.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/options.h"
#include "sluice/io/pace.h"
#include "sluice/latency/operation_latencies.h"
#include "sluice/lease/lease_store.h"
#include "sluice/log/log_tiers.h"
#include "sluice/plugin_options.h"
#include "sluice/protocol/methods.h"
#include "sluice/protocol/orders.h"
#include "sluice/protocol/requests.h"
#include "sluice/store/compaction_admissions.h"
#include "sluice/store/database_registry.h"
#include "sluice/store/figures.h"
#include "sluice/store/order_guard.h"
#include "sluice/store/order_socket.h"
#include "sluice/store/started_tasks.h"

namespace sluice {

// The databases, the leases, and the socket, which is served while there is a
// database.
class Process : public OrderedStore {
 public:
  // Lives as long as the process: a store may be closed at any late time.
  static Process* Instance();

  // Adds what the plug-in needs to the options of a database that is opened.
  void Prepare(const std::string& path, const PluginOptions& options,
               ROCKSDB_NAMESPACE::DBOptions* db_options);
  void Opened(ROCKSDB_NAMESPACE::DB* db);
  // Also of one that is still being opened; nullptr for a store that is closed
  // already, or was never told of.
  std::shared_ptr<Database> DatabaseOf(const ROCKSDB_NAMESPACE::DB* db) const;
  std::shared_ptr<Database> DatabaseAt(const std::string& path) const {
    return databases_.At(path);
  }
  void ShutdownBegins(Database* database);

  // Whether an automatic compaction of a family may begin. The caller holds
  // the store's mutex.
  bool MayCompact(const ROCKSDB_NAMESPACE::DB* db, uint32_t family);

  // Whether an order holds compactions that begin there.
  bool IsHeld(const Database* database, const std::string& family,
              int level) const;

  Figures* figures() { return &figures_; }
  const Pace* pace() const { return &pace_; }

  const Description& Describe() const override { return description_; }
  bool HasScope(Kind kind, const std::string& scope) const override;
  std::optional<Refusal> ForbidsOrder(Kind kind, Aspect aspect,
                                      const std::string& scope) const override;
  std::optional<Refusal> Start(Kind kind, const std::string& scope,
                               const std::string& owner) override;
  Json Snapshot() const override;

 private:
  Process();

  bool IsPutOff(const std::vector<std::string>& scopes,
                const FamilyState& family) const;
  std::shared_ptr<Database> Add(const PluginOptions& options,
                                DatabaseParts parts);
  void Remove(Database* database);
  void StartServing(const PluginOptions& options);
  void StopServing();

  void RunTicker();
  void Tick();
  void LookAtStores();
  void MeasureRates(TimePoint now);

  const MonotonicClock* const clock_ = MonotonicClock::Default();
  LeaseStore leases_{clock_};
  Pace pace_{&leases_, clock_};
  CompactionAdmissions admissions_{&leases_, &pace_};
  OperationLatencies latencies_{clock_};
  Figures figures_;
  LogTiers log_tiers_{&leases_, clock_};
  OrderGuard guard_{&leases_, &figures_};
  StartedTasks started_;
  // Read by the socket's thread: changed only while the socket is closed.
  Description description_;
  Methods methods_{this, &leases_};
  Requests requests_{&methods_};
  DatabaseRegistry databases_;

  // Begin and end of the service, one at a time.
  std::mutex serving_mutex_;
  OrderSocket socket_{&requests_, clock_};
  std::thread ticker_;
  std::mutex ticker_mutex_;
  std::condition_variable ticker_changed_;
  bool is_ticking_ = false;
  TimePoint rates_at_{};
};

}  // namespace sluice
