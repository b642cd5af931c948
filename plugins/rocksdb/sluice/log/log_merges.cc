#include "sluice/log/log_merges.h"

#include <chrono>
#include <utility>

#include "sluice/guarded.h"
#include "sluice/log/log_frame.h"
#include "sluice/signal_free_thread.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

constexpr size_t kPartBytes = 256 << 10;
constexpr auto kBusyPeriod = std::chrono::milliseconds(20);
// RocksDB leaves files of other names alone.
constexpr char kMergedEnd[] = ".merged";

}  // namespace

void LogMerges::Add(const std::string& path, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (is_stopped_) return;
  waiting_.push_back({path, bytes});
  if (!thread_.joinable()) {
    thread_ = StartSignalFreeThread("sluice-log-merge", [this] { Run(); });
  }
  changed_.notify_all();
}

// The store may say from several threads at once that it closes.
void LogMerges::Stop() {
  std::thread ended;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_stopped_ = true;
    ended.swap(thread_);
  }
  changed_.notify_all();
  if (ended.joinable()) ended.join();
}

void LogMerges::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_stopped_ || !waiting_.empty(); });
    if (is_stopped_) return;
    const Log log = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    // A log that is not merged is read as it is.
    Guarded([&] {
      if (Merge(log).ok()) return;
      files_->DeleteFile(log.path + kMergedEnd, IOOptions(), nullptr)
          .PermitUncheckedError();
      // The program may have removed it past the plug-in.
      logs_->RemoveSlowOfGone(log.path);
    });
    lock.lock();
  }
}

bool LogMerges::AwaitTurn() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!is_stopped_) {
    lock.unlock();
    const bool is_turn = placement_->MayMerge();
    lock.lock();
    if (is_turn) break;
    changed_.wait_for(lock, kBusyPeriod);
  }
  return !is_stopped_;
}

IOStatus LogMerges::Copy(FSSequentialFile* from, FSWritableFile* to, LogId id,
                         uint64_t* bytes) {
  std::string part(kPartBytes, '\0');
  std::string frame;
  for (*bytes = 0;;) {
    if (!AwaitTurn()) return IOStatus::Aborted("the database closes");
    Slice read;
    IOStatus status =
        from->Read(kPartBytes, IOOptions(), &read, part.data(), nullptr);
    if (!status.ok() || read.empty()) return status;
    frame.clear();
    LogFrame place;
    place.log_offset = *bytes;
    AppendFrame(place, id, {read.data(), read.size()}, &frame);
    status = to->Append(frame, IOOptions(), nullptr);
    // Bit by bit, or the end would be a burst of all of it.
    if (status.ok()) status = to->Sync(IOOptions(), nullptr);
    if (!status.ok()) return status;
    *bytes += read.size();
  }
}

IOStatus LogMerges::Merge(const Log& log) {
  if (!AwaitTurn()) return IOStatus::Aborted("the database closes");
  std::unique_ptr<TieredLogReader> reader;
  IOStatus status = logs_->OpenForCopy(log.path, &reader);
  if (!status.ok()) return status;
  const std::string merged = log.path + kMergedEnd;
  std::unique_ptr<FSWritableFile> file;
  status = files_->NewWritableFile(merged, FileOptions(), &file, nullptr);
  // Of its own, so that who still reads the two files sees the change.
  const LogId id = NewLogId();
  if (status.ok()) status = file->Append(FastHead(id), IOOptions(), nullptr);
  uint64_t bytes = 0;
  if (status.ok()) status = Copy(reader.get(), file.get(), id, &bytes);
  // What it is copied from is removed then.
  if (status.ok() && bytes != log.bytes) {
    status = IOStatus::Corruption(log.path, "not all of it can be read");
  }
  if (status.ok()) status = file->Sync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  bool was_there = false;
  if (status.ok()) status = logs_->Replace(log.path, merged, &was_there);
  if (!status.ok()) return status;
  if (!was_there) return IOStatus::NotFound(log.path);
  merged_(bytes);
  return status;
}

}  // namespace sluice
