#include "sluice/log/log_tiers.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "sluice/guarded.h"
#include "sluice/log/block_device.h"
#include "sluice/signal_free_thread.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::IOStatus;

// A look at a device takes some 50 us.
constexpr auto kSamplePeriod = std::chrono::milliseconds(10);
// While nothing is redirected by queues; an order may change that.
constexpr auto kIdlePeriod = std::chrono::milliseconds(100);

// Of the file system that a path is on, or will be.
std::optional<BlockDevice> DeviceBelow(const std::string& path) {
  std::filesystem::path there = path;
  std::error_code ignored;
  while (!std::filesystem::exists(there, ignored) &&
         there != there.parent_path()) {
    there = there.parent_path();
  }
  return BlockDevice::Below(there);
}

QueueReader QueueBelow(const std::string& path) {
  return [device = DeviceBelow(path)] {
    return device ? device->QueueRequests() : std::nullopt;
  };
}

PlacementOptions Placement(const PluginOptions& options) {
  PlacementOptions placement;
  if (options.redirect_queue_requests >= 0) {
    placement.queue_requests = options.redirect_queue_requests;
  }
  placement.size_bytes = options.redirect_size_bytes;
  placement.step_ratio = options.redirect_step_ratio;
  return placement;
}

void SetLargest(uint64_t number, uint64_t* figure) {
  *figure = std::max(*figure, number);
}

}  // namespace

// For one opening of a folder at a time: nothing of it changes while another
// one looks at what is there.
class LogTiers::Turn {
 public:
  Turn(LogTiers* tiers, const std::string& folder) : tiers_(tiers) {
    std::unique_lock<std::mutex> lock(tiers_->mutex_);
    tiers_->prepared_changed_.wait(
        lock, [&] { return !tiers_->prepared_.contains(folder); });
    place_ = tiers_->prepared_.insert(folder).first;
  }
  ~Turn() {
    {
      std::lock_guard<std::mutex> lock(tiers_->mutex_);
      tiers_->prepared_.erase(place_);
    }
    tiers_->prepared_changed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  LogTiers* const tiers_;
  std::set<std::string>::iterator place_;
};

std::shared_ptr<TieredLogs> LogTiers::Prepare(const std::string& database,
                                              const std::string& path,
                                              const PluginOptions& options,
                                              DBOptions* db_options,
                                              TieredLogFileSystem* files) {
  // As the store names it, and as the slow tier does, whatever folder the
  // program was started in.
  const std::string directory =
      db_options->wal_dir.empty() ? path : db_options->wal_dir;
  const std::string absolute =
      PlainPath(std::filesystem::absolute(directory).string());
  const std::string& slow = options.wal_slow_directory;
  const Turn turn(this, absolute);
  // A log that is used again keeps its name and its old end.
  if (!slow.empty()) db_options->recycle_log_file_num = 0;
  // The second opening of a folder that is in use fails, and changes nothing.
  if (!files->Remove(directory) || slow.empty()) return nullptr;
  const LogFolders folders{
      .database = path,
      .logs = directory,
      .slow_logs = slow + "/" + SlowFolderName(absolute),
  };
  auto logs = std::make_shared<TieredLogs>(
      files->target(), folders,
      std::make_unique<LogPlacement>(database, leases_, Placement(options),
                                     QueueBelow(absolute), QueueBelow(slow),
                                     clock_),
      &counters_);
  // What it finds is in the state of the logs.
  logs->Prepare(slow, /*reads_all=*/!db_options->paranoid_checks)
      .PermitUncheckedError();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(logs_, [](const auto& each) { return each.expired(); });
    logs_.push_back(logs);
  }
  // Last: nobody else would end them.
  files->Add(logs);
  return logs;
}

std::vector<std::shared_ptr<TieredLogs>> LogTiers::InUse() const {
  std::vector<std::shared_ptr<TieredLogs>> in_use;
  for (const auto& each : logs_) {
    auto logs = each.lock();
    if (logs && logs->is_in_use()) in_use.push_back(std::move(logs));
  }
  return in_use;
}

void LogTiers::Opened(TieredLogs* logs) {
  std::lock_guard<std::mutex> lock(mutex_);
  logs->SetInUse();
  if (is_sampling_) return;
  if (sampler_.joinable()) sampler_.join();
  // Where it cannot be started, that throws; the next opening tries it again.
  sampler_ = StartSignalFreeThread("sluice-queues", [this] { RunSampler(); });
  is_sampling_ = true;
}

void LogTiers::RunSampler() {
  for (;;) {
    bool is_needed = false;
    {
      std::vector<std::shared_ptr<TieredLogs>> in_use;
      {
        std::lock_guard<std::mutex> lock(mutex_);
        Guarded([&] { in_use = InUse(); });
        if (in_use.empty()) {
          is_sampling_ = false;
          return;
        }
      }
      for (const auto& logs : in_use) {
        Guarded([&] { is_needed |= logs->placement()->Sample(); });
      }
    }
    std::this_thread::sleep_for(is_needed ? kSamplePeriod : kIdlePeriod);
  }
}

// Of several databases the longest queue and the lowest threshold.
void LogTiers::AddFigures(std::map<std::string, uint64_t>* figures) const {
  std::vector<std::shared_ptr<TieredLogs>> in_use;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    in_use = InUse();
  }
  if (in_use.empty()) return;
  (*figures)["wal_fast_bytes_total"] = counters_.fast_bytes;
  (*figures)["wal_slow_bytes_total"] = counters_.slow_bytes;
  (*figures)["wal_slow_writes_total"] = counters_.slow_writes;
  (*figures)["wal_merged_logs_total"] = counters_.merged_logs;
  (*figures)["wal_merged_bytes_total"] = counters_.merged_bytes;
  std::optional<double> threshold;
  for (const auto& logs : in_use) {
    const auto seen = logs->placement()->Look();
    if (seen.fast_queue_requests) {
      SetLargest(*seen.fast_queue_requests,
                 &(*figures)["wal_fast_queue_requests"]);
    }
    if (seen.slow_queue_requests) {
      SetLargest(*seen.slow_queue_requests,
                 &(*figures)["wal_slow_queue_requests"]);
    }
    if (!seen.threshold_bytes) continue;
    threshold = std::min(threshold.value_or(*seen.threshold_bytes),
                         *seen.threshold_bytes);
  }
  if (threshold) {
    (*figures)["redirect_threshold_bytes"] = static_cast<uint64_t>(*threshold);
  }
}

}  // namespace sluice
