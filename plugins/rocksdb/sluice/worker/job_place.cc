#include "sluice/worker/job_place.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "sluice/pool/pool_file_system.h"
#include "sluice/remote/output_folder.h"
#include "sluice/worker/opened_folder.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompactionServiceOptionsOverride;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::InfoLogLevel;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Logger;

// For an agent that has just been started anew. The store has what it would
// wait for done by itself.
constexpr double kWaitSeconds = 10;
// RocksDB's own default.
constexpr size_t kLeastReadaheadBytes = 2 << 20;

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) && !error;
}

bool IsEmptyFolder(const std::string& path) {
  std::error_code error;
  return IsFolder(path) && std::filesystem::is_empty(path, error) && !error;
}

void EmptyFolder(const std::string& path) {
  std::error_code error;
  for (std::filesystem::directory_iterator each(path, error), end;
       !error && each != end; each.increment(error)) {
    std::error_code ignored;
    std::filesystem::remove_all(each->path(), ignored);
  }
}

OpenedFolder OpenFolder(const std::string& path,
                        const std::string& checked_path) {
  return checked_path.empty() ? OpenedFolder::Unchecked(path)
                              : OpenedFolder::Checked(checked_path);
}

std::string WhyNotOpened(const std::string& path) {
  return path + " cannot be opened: " + std::strerror(errno) +
         "; has part of it become a symbolic link since the agent has checked "
         "it?";
}

class LocalPlace : public JobPlace {
 public:
  explicit LocalPlace(const WorkerJob& job) : job_(job) {}

  std::string Open() override {
    database_ = OpenFolder(job_.database_path, job_.checked_database_path);
    if (!database_.IsOpen()) return WhyNotOpened(job_.database_path);
    output_ = OpenFolder(job_.output_path, job_.checked_output_path);
    return output_.IsOpen() ? "" : WhyNotOpened(job_.output_path);
  }

  Env* env() override { return Env::Default(); }
  std::string database_path() const override { return database_.path(); }
  std::string output_path() const override { return output_.path(); }

  bool HasOutputFolder(bool is_resumable) override {
    return (is_resumable ? IsFolder : IsEmptyFolder)(output_.path());
  }
  void EmptyOutputFolder() override { EmptyFolder(output_.path()); }
  void ShareWithStore() override { sluice::ShareWithStore(output_.path()); }

  void Prepare(const DBOptions&,
               CompactionServiceOptionsOverride* options) override {
    options->env = env();
  }

 private:
  const WorkerJob& job_;
  OpenedFolder database_;
  OpenedFolder output_;
};

// What is wrong goes to the agent: a log of RocksDB would be in the pool.
class ErrorOutput : public Logger {
 public:
  ErrorOutput() : Logger(InfoLogLevel::WARN_LEVEL) {}

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    std::vfprintf(stderr, (std::string(format) + "\n").c_str(), arguments);
  }
  // All options of the database.
  void LogHeader(const char*, va_list) override {}
};

PoolOptions OptionsFor(const WorkerJob& job) {
  PoolOptions options;
  options.volume = job.pool->volume;
  options.directory = job.output_path;
  options.agent_socket = job.pool->socket;
  options.holder = "compaction " + job.id;
  options.wait_seconds = kWaitSeconds;
  options.outer_epoch = job.pool->outer_epoch;
  return options;
}

// The lease on the output directory ends with the process.
class PooledPlace : public JobPlace {
 public:
  explicit PooledPlace(const WorkerJob& job)
      : job_(job),
        pool_(std::make_shared<PoolFileSystem>(OptionsFor(job))),
        env_(ROCKSDB_NAMESPACE::NewCompositeEnv(pool_)) {}

  std::string Open() override {
    std::string session_name;
    const IOStatus status = pool_->HoldForWorkers(&session_name);
    if (status.ok()) return "";
    return job_.output_path + " of the volume " + job_.pool->volume +
           " cannot be had: " + status.ToString();
  }

  Env* env() override { return env_.get(); }
  std::string database_path() const override { return job_.database_path; }
  std::string output_path() const override { return job_.output_path; }

  bool HasOutputFolder(bool) override {
    std::vector<std::string> names;
    return env_->GetChildren(job_.output_path, &names).ok() && names.empty();
  }
  void EmptyOutputFolder() override {
    std::vector<std::string> names;
    env_->GetChildren(job_.output_path, &names).PermitUncheckedError();
    for (const std::string& name : names) {
      env_->DeleteFile(job_.output_path + "/" + name).PermitUncheckedError();
    }
  }
  void ShareWithStore() override {}

  void Prepare(const DBOptions& store,
               CompactionServiceOptionsOverride* options) override {
    options->env = env();
    options->info_log = std::make_shared<ErrorOutput>();
    // No kernel reads ahead, and each read goes over the network.
    const size_t readahead_bytes =
        std::max(store.compaction_readahead_size, kLeastReadaheadBytes);
    options->options_map["compaction_readahead_size"] =
        std::to_string(readahead_bytes);
  }

 private:
  const WorkerJob& job_;
  const std::shared_ptr<PoolFileSystem> pool_;
  const std::unique_ptr<Env> env_;
};

}  // namespace

std::unique_ptr<JobPlace> PlaceOf(const WorkerJob& job) {
  if (job.pool) return std::make_unique<PooledPlace>(job);
  return std::make_unique<LocalPlace>(job);
}

}  // namespace sluice
