// The compactions of a store that run on other nodes.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "rocksdb/options.h"
#include "sluice/io/pace.h"
#include "sluice/plugin_options.h"
#include "sluice/remote/agent_connection.h"
#include "sluice/remote/agent_messages.h"
#include "sluice/remote/agent_silence.h"
#include "sluice/remote/job_files.h"
#include "sluice/store/database.h"
#include "sluice/store/figures.h"

namespace sluice {

// Whatever goes wrong ends in a local compaction, for a reason that is
// counted. Each job has a connection of its own; to close it is to cancel.
class RemoteCompactions {
 public:
  using Status = ROCKSDB_NAMESPACE::CompactionServiceJobStatus;

  RemoteCompactions(const PluginOptions* options, Figures* figures,
                    const Pace* pace)
      : options_(options), figures_(figures), pace_(pace) {}

  // Places a job, and gives it its id; false for a local compaction.
  bool Place(Database* database,
             const ROCKSDB_NAMESPACE::CompactionServiceJobInfo& info,
             const std::string& payload, std::string* id);

  // Waits for the end of a job: kSuccess, or kUseLocal.
  Status Wait(const std::string& id, std::string* result);

  // The store has taken the files over, or has not.
  void Installed(const std::string& id, Status status);

  // Ends the jobs of a database, which closes; new ones are local.
  void Close(const std::string& database);
  // The database is open: removes what jobs of its last time have left.
  void Open(const Database& database);

  void CountLocal(const std::string& reason);

 private:
  struct Job {
    RemoteJob description;
    std::string database;
    std::shared_ptr<const JobFiles> files;
    std::unique_ptr<AgentConnection> connection;
    std::shared_ptr<ROCKSDB_NAMESPACE::Logger> log;
    // Shows what the worker has done; may be nullptr.
    std::shared_ptr<Task> task;
    uint64_t shown_bytes = 0;
  };

  std::string WhyLocal(Database* database,
                       const ROCKSDB_NAMESPACE::CompactionServiceJobInfo& info,
                       const std::string& payload, Job* job);
  std::string Run(const std::shared_ptr<Job>& job);
  std::string Offer(Job* job);
  std::string NoAnswer(const Job& job);
  std::string WaitForResult(Job* job, std::string* result);
  static std::string Check(const Job& job, const std::string& result);
  std::shared_ptr<Job> Find(const std::string& id);
  bool Register(const std::shared_ptr<Job>& job);
  void Forget(const std::shared_ptr<Job>& job);
  bool IsInUse(const std::string& output_path);
  bool IsClosing(const std::string& database);

  const PluginOptions* const options_;
  Figures* const figures_;
  const Pace* const pace_;
  AgentSilence silence_{MonotonicClock::Default()};
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::set<std::string> closing_;
};

}  // namespace sluice
