// What a process has of a directory in a pool: connections to the agent, and
// the lease on the directory once something is changed in it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/io_status.h"
#include "sluice/monotonic_clock.h"
#include "sluice/pool/pool_connection.h"
#include "sluice/pool/pool_messages.h"

namespace sluice {

struct PoolSettings {
  std::string agent_socket = "/run/sluice/agent/pool.sock";
  PoolPlace place;
  bool is_read_only = false;
  // How long an agent that is gone, or a lease that another one has, is waited
  // for.
  double wait_seconds = 30;
};

// A file that the agent has open.
struct PoolFile {
  uint64_t number = 0;
  // Of the session that it is open in, from 1.
  uint64_t generation = 0;
  std::string id;
  uint64_t length_bytes = 0;
};

// Methods may be called at the same time. A failure is retryable where the same
// may be done later, by a store that begins its files anew.
class PoolSession {
 public:
  PoolSession(PoolSettings settings, const MonotonicClock* clock)
      : settings_(std::move(settings)), clock_(clock) {}

  // Asks for what changes nothing, as often as it takes.
  ROCKSDB_NAMESPACE::IOStatus Look(const char* method, Json params,
                                   Json* result);

  // Makes a change of names. That the answer was lost is an error: it may have
  // been made.
  ROCKSDB_NAMESPACE::IOStatus Change(const char* method, Json params);

  ROCKSDB_NAMESPACE::IOStatus Open(const std::string& path, PoolFile* file);
  ROCKSDB_NAMESPACE::IOStatus Create(const std::string& path, PoolFile* file);

  // What these are asked of a file of a former session is aborted.
  ROCKSDB_NAMESPACE::IOStatus Read(const PoolFile& file, uint64_t offset,
                                   size_t bytes, char* to, size_t* count);
  ROCKSDB_NAMESPACE::IOStatus Append(const PoolFile& file,
                                     std::string_view data);
  ROCKSDB_NAMESPACE::IOStatus Sync(const PoolFile& file);
  ROCKSDB_NAMESPACE::IOStatus Seal(const PoolFile& file);
  void Close(const PoolFile& file);

  // Takes the lease, if it is not held yet.
  ROCKSDB_NAMESPACE::IOStatus Hold();

  // Holds it, and gives what the agent calls the session; not supported by an
  // agent that knows nothing of workers in a pool.
  ROCKSDB_NAMESPACE::IOStatus HoldForWorkers(std::string* name);

  // Ends the lease that somebody else has on a directory below that of the
  // session, under its own.
  ROCKSDB_NAMESPACE::IOStatus Release(const std::string& path);

  // Gives the lease back. What is done next begins anew, also after the lease
  // was lost.
  void End();

 private:
  struct Request {
    const char* method;
    Json params = {};
    bool is_change = false;
    // Of the file that it is about, else 0.
    uint64_t generation = 0;
    std::string_view payload = {};
    // For what follows the answer.
    char* to = nullptr;
    size_t room = 0;
  };
  // A connection of the session, for one request at a time.
  struct Lane {
    std::unique_ptr<PoolConnection> connection;
    uint64_t generation = 0;
  };

  ROCKSDB_NAMESPACE::IOStatus Ask(const Request& request, Json* result,
                                  uint64_t* generation);
  ROCKSDB_NAMESPACE::IOStatus AskFile(const char* method, const PoolFile& file,
                                      bool is_change);
  ROCKSDB_NAMESPACE::IOStatus OpenBy(const char* method, bool is_change,
                                     const std::string& path, PoolFile* file);
  static PoolAnswer Exchange(PoolConnection* connection,
                             const Request& request);

  ROCKSDB_NAMESPACE::IOStatus Take(const Request& request, Lane* lane);
  void GiveBack(Lane lane);
  void NoteBroken(const Lane& lane);

  // With mutex_ held.
  ROCKSDB_NAMESPACE::IOStatus Begin(bool with_lease);
  ROCKSDB_NAMESPACE::IOStatus TryToBegin(bool with_lease, bool* may_wait);
  ROCKSDB_NAMESPACE::IOStatus Join(Lane* lane);
  void Forget();
  bool IsNested() const { return settings_.place.outer_epoch != 0; }
  bool MayWaitOn();

  const PoolSettings settings_;
  const MonotonicClock* const clock_;

  std::mutex mutex_;
  // The session is over when it is closed.
  std::unique_ptr<PoolConnection> first_;
  std::string name_;
  // Of the protocol, as the agent speaks it.
  uint64_t minor_version_ = 0;
  bool has_lease_ = false;
  // Of the lease, by which it is gone on with.
  std::string lock_;
  uint64_t generation_ = 0;
  std::vector<std::unique_ptr<PoolConnection>> idle_;
  std::optional<TimePoint> gone_since_;
  // Why nothing can be done until End.
  ROCKSDB_NAMESPACE::IOStatus lost_;
};

}  // namespace sluice
