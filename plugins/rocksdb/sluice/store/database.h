// One database of the process, from the begin of its opening.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "rocksdb/db.h"
#include "rocksdb/write_buffer_manager.h"
#include "sluice/io/task.h"
#include "sluice/latency/timing_statistics.h"
#include "sluice/log/tiered_logs.h"
#include "sluice/monotonic_clock.h"
#include "sluice/pool/pool_file_system.h"
#include "sluice/store/store_state.h"

namespace sluice {

// What the program has opened it with.
struct DatabaseParts {
  std::string name;
  std::string path;
  // Whether its files are those of this node, and not those of a file system
  // that the program has made itself.
  bool has_local_files = true;
  // May be nullptr, all: that of its files.
  std::shared_ptr<PoolFileSystem> pool;
  std::shared_ptr<ROCKSDB_NAMESPACE::WriteBufferManager> write_buffers;
  std::shared_ptr<TimingStatistics> statistics;
};

class Database {
 public:
  explicit Database(DatabaseParts parts);

  const std::string& name() const { return parts_.name; }
  const std::string& path() const { return parts_.path; }
  bool has_local_files() const { return parts_.has_local_files; }
  const std::shared_ptr<PoolFileSystem>& pool() const { return parts_.pool; }
  const std::shared_ptr<Freedom>& freedom() const { return freedom_; }

  // Its logs on two tiers: before it is opened, or never.
  void SetLogs(std::shared_ptr<TieredLogs> logs) { logs_ = std::move(logs); }
  const std::shared_ptr<TieredLogs>& logs() const { return logs_; }

  void Opened(ROCKSDB_NAMESPACE::DB* db);
  bool Is(const ROCKSDB_NAMESPACE::DB* db) const;
  bool IsOpen() const;
  // Also once it is closed.
  bool WasOpened() const { return was_opened_; }

  // Lets every task go on, cancels what was started by order, and waits until
  // nothing here uses the store any more.
  void Shutdown();

  // Runs `use` while the store cannot be closed; false if it is closed.
  bool Use(const std::function<void(ROCKSDB_NAMESPACE::DB*)>& use);

  // True once the store closes: what was started by order ends then.
  std::atomic<bool>* cancelled() { return &cancelled_; }

  // Looks at the store anew; what was seen is never nullptr.
  void Refresh();
  std::shared_ptr<const StoreState> State() const;
  // For one thread at a time.
  void FollowStatistics();
  bool HasFamily(const std::string& printable_name) const;

  // Remembers that a compaction of the family was put off at this moment.
  void SetPutOff(uint32_t family, TimePoint now);
  // Since when compactions of a family are put off, if they still are.
  std::optional<TimePoint> PutOffSince(uint32_t family, TimePoint now) const;

  // The store tells nobody of writes that a write buffer manager stops: that
  // one is asked.
  bool HasFullWriteBuffers() const;

 private:
  struct PutOff {
    TimePoint since;
    TimePoint last;
  };

  void EndUse();

  const DatabaseParts parts_;
  std::shared_ptr<TieredLogs> logs_;
  const std::shared_ptr<Freedom> freedom_ = std::make_shared<Freedom>();
  std::atomic<bool> was_opened_{false};
  std::atomic<bool> cancelled_{false};

  // Guards the pointer; never held while the store is called.
  mutable std::mutex use_mutex_;
  std::condition_variable unused_;
  ROCKSDB_NAMESPACE::DB* db_ = nullptr;
  int users_ = 0;

  // Taken by the gate, which holds the store's mutex: no store calls inside.
  mutable std::mutex state_mutex_;
  std::shared_ptr<const StoreState> state_ = std::make_shared<StoreState>();
  std::map<uint32_t, PutOff> put_off_;
};

}  // namespace sluice
