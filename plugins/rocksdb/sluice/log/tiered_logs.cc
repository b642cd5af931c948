#include "sluice/log/tiered_logs.h"

#include <utility>
#include <vector>

#include "sluice/guarded.h"
#include "sluice/log/needed_logs.h"
#include "sluice/log/tiered_log_writer.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;

std::string Listed(const std::vector<uint64_t>& numbers) {
  std::string list;
  for (const uint64_t number : numbers) {
    list += (list.empty() ? "" : ", ") + LogName(number);
  }
  return list;
}

// All are, for all that is known, where the database does not say it.
OldestNeeded OldestNeededOf(FileSystem* files, const std::string& database) {
  return [=] { return OldestNeededLog(files, database).value_or(uint64_t{0}); };
}

}  // namespace

// A store may write to a log after it was told that it closes.
class TieredLogs::Place : public LogPlace {
 public:
  Place(std::shared_ptr<TieredLogs> logs, std::string path, uint64_t number,
        LogId id)
      : logs_(std::move(logs)),
        path_(std::move(path)),
        number_(number),
        id_(id) {}

  Tier Choose(size_t bytes) override {
    return logs_->has_slow_tier_ ? logs_->placement_->Choose(bytes)
                                 : Tier::kFast;
  }
  void CountWritten(Tier tier, size_t bytes) override {
    if (!is_begun_ && bytes > 0) {
      is_begun_ = true;
      logs_->log_files_.names()->Begun(number_);
    }
    if (tier == Tier::kFast) {
      logs_->counters_->fast_bytes += bytes;
      return;
    }
    logs_->counters_->slow_bytes += bytes;
    ++logs_->counters_->slow_writes;
  }
  IOStatus MakeSlowFile(std::unique_ptr<FSWritableFile>* file) override {
    return logs_->log_files_.MakeSlow(number_, id_, file);
  }
  IOStatus SyncFastDirectory() override {
    return logs_->log_files_.SyncDirectory();
  }
  IOStatus SyncPromisedName() override {
    return logs_->log_files_.SyncPromisedName(number_);
  }
  void Closed(bool has_slow_file, uint64_t log_bytes) override {
    logs_->log_files_.Closed(path_, log_bytes);
    if (has_slow_file) logs_->merges_.Add(path_, log_bytes);
  }

 private:
  const std::shared_ptr<TieredLogs> logs_;
  const std::string path_;
  const uint64_t number_;
  const LogId id_;
  bool is_begun_ = false;
};

TieredLogs::TieredLogs(FileSystem* files, const LogFolders& folders,
                       std::unique_ptr<LogPlacement> placement,
                       LogCounters* counters)
    : files_(files),
      log_files_(files, folders.logs, folders.slow_logs,
                 OldestNeededOf(files, PlainPath(folders.database))),
      has_own_folder_(PlainPath(folders.logs) != PlainPath(folders.database)),
      placement_(std::move(placement)),
      counters_(counters),
      slow_folder_(files, log_files_.slow_directory(),
                   PlainPath(folders.database) + "/IDENTITY"),
      merges_(files, &log_files_, placement_.get(), [counters](uint64_t bytes) {
        ++counters->merged_logs;
        counters->merged_bytes += bytes;
      }) {}

IOStatus TieredLogs::Prepare(const std::string& root, bool reads_all) {
  // It is not made: where a device is not mounted, its folder is not there.
  IOStatus status = files_->FileExists(root, IOOptions(), nullptr);
  if (status.ok()) status = slow_folder_.Claim();
  if (status.ok()) status = slow_folder_.WriteOwner();
  log_files_.SetOwnsSlow(status.ok());
  // In use, or not to be written to, it has parts of logs all the same.
  if (status.ok() || slow_folder_.IsOwn()) {
    IOStatus looked = LookForLost(/*is_claimed=*/status.ok());
    if (status.ok()) status = looked;
  }
  has_slow_tier_ = status.ok();
  state_ = status.ok()
               ? "logs may go to " + log_files_.slow_directory() + " too"
               : "no log goes to the slow tier until the database is opened "
                 "again: " +
                     status.ToString();
  if (refusal_.ok() && reads_all) refusal_ = log_files_.CheckAll();
  return refusal_.ok() ? status : refusal_;
}

IOStatus TieredLogs::LookForLost(bool is_claimed) {
  std::vector<uint64_t> lost;
  IOStatus status =
      is_claimed ? log_files_.Sweep(&lost) : log_files_.FindLost(&lost);
  if (!status.ok()) {
    refusal_ = IOStatus::IOError(
        log_files_.slow_directory(),
        "whether it has parts of logs that are gone cannot be seen: " +
            status.ToString());
  } else if (!lost.empty()) {
    RefuseWithout(lost);
  }
  return status;
}

void TieredLogs::RefuseWithout(const std::vector<uint64_t>& lost) {
  const std::string& slow = log_files_.slow_directory();
  refusal_ = IOStatus::IOError(
      log_files_.directory(),
      "missing logs, of which " + slow +
          " has parts, and which RocksDB has not removed: " + Listed(lost) +
          ". Bring them back, or bring the device back that they were on. If "
          "the database was removed on purpose, or an older backup is in its "
          "place, remove that folder too; to do without what the logs had, "
          "move their files NUMBER.slow-log away");
}

void TieredLogs::SetInUse() {
  is_in_use_ = true;
  // Whoever opens it next without this is told so by the lock alone.
  Guarded([&] { slow_folder_.WriteOwner().PermitUncheckedError(); });
}

IOStatus TieredLogs::NewLog(const std::string& path, const FileOptions& options,
                            std::unique_ptr<FSWritableFile>* log) {
  std::unique_ptr<FSWritableFile> fast;
  const LogId id = NewLogId();
  IOStatus status = log_files_.Make(path, options, id, &fast);
  if (!status.ok()) return status;
  const uint64_t number = *LogNumber(path.substr(path.rfind('/') + 1));
  auto writer = std::make_unique<TieredLogWriter>(
      std::move(fast), id,
      std::make_unique<Place>(shared_from_this(), path, number, id));
  // The first write that is redirected would wait for it.
  if (has_slow_tier_ && placement_->IsRedirecting()) {
    status = writer->MakeSlowAhead();
  }
  if (status.ok()) *log = std::move(writer);
  return status;
}

void TieredLogs::Shutdown() {
  is_in_use_ = false;
  has_slow_tier_ = false;
  merges_.Stop();
  // What is left there is removed when the database is opened again.
  log_files_.SetOwnsSlow(false);
  slow_folder_.Release();
  is_shut_down_ = true;
}

}  // namespace sluice
