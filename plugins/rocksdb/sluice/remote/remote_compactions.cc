#include "sluice/remote/remote_compactions.h"

#include <algorithm>
#include <utility>

#include "sluice/io/task.h"
#include "sluice/remote/compaction_payload.h"
#include "sluice/remote/job_description.h"
#include "sluice/remote/local_job_files.h"
#include "sluice/remote/pooled_job_files.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompactionServiceJobInfo;
using ROCKSDB_NAMESPACE::DB;

// The agent answers within 3 s to a job, and each second to a wait.
constexpr Duration kAnswerTime = std::chrono::seconds(5);

// Of one compaction parts may go to several nodes, and parts stay.
void ShowProgress(uint64_t bytes, Task* task, uint64_t* shown) {
  if (task == nullptr) return;
  task->bytes_remote += bytes - *shown;
  *shown = bytes;
}

// nullptr where workers do not reach them.
std::shared_ptr<const JobFiles> FilesOf(const Database& database) {
  if (const auto& pool = database.pool()) {
    return std::make_shared<PooledJobFiles>(pool);
  }
  if (!database.has_local_files()) return nullptr;
  return std::make_shared<LocalJobFiles>();
}

// Each part of a compaction has a number in the lower half.
int JobOf(const CompactionServiceJobInfo& info) {
  return static_cast<int>(info.job_id >> 32);
}

}  // namespace

bool RemoteCompactions::Place(Database* database,
                              const CompactionServiceJobInfo& info,
                              const std::string& payload, std::string* id) {
  auto job = std::make_shared<Job>();
  job->database = info.db_name;
  std::string reason = WhyLocal(database, info, payload, job.get());
  if (reason.empty()) {
    job->task = pace_->FindCompaction(database->freedom().get(), JobOf(info));
    reason = Run(job);
  }
  if (reason.empty()) {
    *id = job->description.id;
    return true;
  }
  CountLocal(reason);
  return false;
}

std::string RemoteCompactions::WhyLocal(Database* database,
                                        const CompactionServiceJobInfo& info,
                                        const std::string& payload, Job* job) {
  if (!options_->remote) return "switched-off";
  if (IsClosing(info.db_name)) return "cancelled";
  if (database == nullptr) return "not-open";
  job->files = FilesOf(*database);
  if (!job->files) return "file-system";
  if (info.base_input_level < options_->minimum_level) return "level";
  std::string reason = "not-open";
  database->Use([&](DB* db) {
    job->log = db->GetDBOptions().info_log;
    reason = DescribeJob(db, info, payload, *job->files, &job->description);
  });
  if (!reason.empty()) return reason;
  const bool is_small =
      job->description.input_bytes < options_->minimum_input_bytes;
  if (is_small) return "too-small";
  return silence_.IsOver() ? "" : "agent-silent";
}

// Empty if another node has taken the job.
std::string RemoteCompactions::Run(const std::shared_ptr<Job>& job) {
  job->connection = std::make_unique<AgentConnection>(options_->agent_socket);
  if (!job->connection->IsOpen()) return "no-agent";
  if (!Register(job)) return "cancelled";
  std::string reason;
  try {
    reason = Offer(job.get());
  } catch (...) {
    Forget(job);
    throw;
  }
  if (!reason.empty()) Forget(job);
  return IsClosing(job->database) && !reason.empty() ? "cancelled" : reason;
}

std::string RemoteCompactions::Offer(Job* job) {
  if (!job->files->MakeOutputFolder(&job->description)) return "output-path";
  const auto line =
      job->connection->Exchange(RunLine(job->description), kAnswerTime);
  if (!line) return NoAnswer(*job);
  const AgentAnswer answer = ReadRunAnswer(*line);
  return answer.state == AgentAnswer::State::kRemote ? "" : answer.reason;
}

std::string RemoteCompactions::NoAnswer(const Job& job) {
  if (job.connection->IsOverdue()) silence_.Begin();
  return "agent-silent";
}

RemoteCompactions::Status RemoteCompactions::Wait(const std::string& id,
                                                  std::string* result) {
  const auto job = Find(id);
  if (!job) return Status::kUseLocal;
  const std::string reason = WaitForResult(job.get(), result);
  if (reason.empty()) return Status::kSuccess;
  result->clear();
  // It is done again here.
  ShowProgress(0, job->task.get(), &job->shown_bytes);
  CountLocal(IsClosing(job->database) ? "cancelled" : reason);
  Forget(job);
  return Status::kUseLocal;
}

std::string RemoteCompactions::WaitForResult(Job* job, std::string* result) {
  for (;;) {
    auto line = job->connection->Exchange(WaitLine(), kAnswerTime);
    if (!line) return NoAnswer(*job);
    AgentAnswer answer = ReadWaitAnswer(std::move(*line));
    switch (answer.state) {
      case AgentAnswer::State::kRunning:
        ShowProgress(std::max(answer.bytes_read, answer.bytes_written),
                     job->task.get(), &job->shown_bytes);
        break;
      case AgentAnswer::State::kDone:
        *result = std::move(answer.result);
        return Check(*job, *result);
      case AgentAnswer::State::kLocal:
      case AgentAnswer::State::kRemote:
        return answer.reason.empty() ? "agent-error" : answer.reason;
    }
  }
}

// Empty if it may be installed.
std::string RemoteCompactions::Check(const Job& job,
                                     const std::string& result) {
  const std::string& output_path = job.description.output_path;
  // Before anything is looked at, which then stays as it was seen.
  if (!job.files->TakeBackOutputFolder(output_path)) {
    ROCKSDB_NAMESPACE::Warn(
        job.log,
        "sluice: compaction %s by another node is done, but its lease on %s "
        "cannot be ended, it is compacted here",
        job.description.id.c_str(), output_path.c_str());
    return "output-path";
  }
  const std::string why = WhyNotInstallable(result, output_path, *job.files);
  if (why.empty()) return "";
  ROCKSDB_NAMESPACE::Warn(job.log,
                          "sluice: the output of compaction %s by another node "
                          "is not installed, it is compacted here: %s",
                          job.description.id.c_str(), why.c_str());
  return "output-invalid";
}

void RemoteCompactions::Installed(const std::string& id, Status status) {
  const auto job = Find(id);
  if (!job) return;
  if (status == Status::kSuccess) {
    figures_->Add("remote_compactions_total", 1);
    figures_->Add("remote_input_bytes_total", job->description.input_bytes);
  } else if (status == Status::kUseLocal) {
    CountLocal("output-invalid");
  } else {
    // RocksDB has stopped the writes, and compacts nothing.
    figures_->Add("failed_installations_total", 1);
  }
  Forget(job);
}

void RemoteCompactions::Close(const std::string& database) {
  std::lock_guard<std::mutex> lock(mutex_);
  closing_.insert(database);
  for (const auto& [id, job] : jobs_) {
    if (job->database == database) job->connection->Cancel();
  }
}

// Whoever worked in a folder has given it up with the result: of a process that
// was killed before it took the files over nobody else knows.
void RemoteCompactions::Open(const Database& database) {
  if (const auto files = FilesOf(database)) {
    files->RemoveLeftOutputFolders(
        files->CleanPath(database.path()),
        [this](const std::string& path) { return IsInUse(path); });
  }
  std::lock_guard<std::mutex> lock(mutex_);
  closing_.erase(database.path());
}

void RemoteCompactions::CountLocal(const std::string& reason) {
  std::string name = "local_compactions_" + reason + "_total";
  std::replace(name.begin(), name.end(), '-', '_');
  figures_->Add(name, 1);
}

std::shared_ptr<RemoteCompactions::Job> RemoteCompactions::Find(
    const std::string& id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

// False if its database closes already.
bool RemoteCompactions::Register(const std::shared_ptr<Job>& job) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closing_.count(job->database) > 0) return false;
  return jobs_.emplace(job->description.id, job).second;
}

void RemoteCompactions::Forget(const std::shared_ptr<Job>& job) {
  job->files->RemoveOutputFolder(job->description.output_path);
  std::lock_guard<std::mutex> lock(mutex_);
  jobs_.erase(job->description.id);
}

bool RemoteCompactions::IsInUse(const std::string& output_path) {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& each) {
    return each.second->description.output_path == output_path;
  });
}

bool RemoteCompactions::IsClosing(const std::string& database) {
  std::lock_guard<std::mutex> lock(mutex_);
  return closing_.count(database) > 0;
}

}  // namespace sluice
