#include "sluice/log/tiered_log_writer.h"

#include <algorithm>
#include <string_view>

#include "sluice/guarded.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DataVerificationInfo;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

}  // namespace

TieredLogWriter::~TieredLogWriter() {
  if (!is_closed_) Close(IOOptions(), nullptr).PermitUncheckedError();
}

IOStatus TieredLogWriter::MakeSlowAhead() {
  bool has_slow_file = false;
  return HaveSlowFile(IOOptions(), nullptr, &has_slow_file);
}

IOStatus TieredLogWriter::Append(const Slice& data, const IOOptions& options,
                                 IODebugContext* debug) {
  return Guarded(IOStatus::Aborted(), [&] {
    Slice rest = data;
    while (!rest.empty()) {
      const Slice part(rest.data(),
                       std::min<size_t>(rest.size(), kMaxFrameDataBytes));
      IOStatus status = AppendPart(part, options, debug);
      if (!status.ok()) return status;
      rest.remove_prefix(part.size());
    }
    return IOStatus::OK();
  });
}

// The frame has a checksum of its own.
IOStatus TieredLogWriter::Append(const Slice& data, const IOOptions& options,
                                 const DataVerificationInfo&,
                                 IODebugContext* debug) {
  return Append(data, options, debug);
}

IOStatus TieredLogWriter::AppendPart(const Slice& data,
                                     const IOOptions& options,
                                     IODebugContext* debug) {
  bool is_slow = !is_slow_broken_ && place_->Choose(data.size()) == Tier::kSlow;
  if (is_slow) {
    IOStatus status = HaveSlowFile(options, debug, &is_slow);
    if (!status.ok()) return status;
  }
  if (is_slow) {
    IOStatus status = AppendFrame(Tier::kSlow, data, options, debug);
    if (status.ok()) return status;
    is_slow_broken_ = true;
  }
  return AppendFrame(Tier::kFast, data, options, debug);
}

IOStatus TieredLogWriter::AppendFrame(Tier tier, const Slice& data,
                                      const IOOptions& options,
                                      IODebugContext* debug) {
  LogFrame frame;
  frame.has_slow_file = slow_ != nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    frame.log_offset = log_bytes_;
    frame.synced_bytes = synced_log_bytes_;
  }
  frame_.clear();
  sluice::AppendFrame(frame, id_, {data.data(), data.size()}, &frame_);
  IOStatus status = FileOf(tier)->Append(frame_, options, debug);
  if (!status.ok()) {
    CutOff(tier, options, debug);
    return status;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  ProgressOf(tier).appended += frame_.size();
  log_bytes_ += data.size();
  place_->CountWritten(tier, data.size());
  return status;
}

// A part of a frame is no frame: where it cannot be cut off, the log reads as
// one whose last frame is damaged.
void TieredLogWriter::CutOff(Tier tier, const IOOptions& options,
                             IODebugContext* debug) {
  FileOf(tier)
      ->Truncate(ProgressOf(tier).appended, options, debug)
      .PermitUncheckedError();
}

// Before something is acknowledged that only the slow tier has, the fast one
// says on stable storage that there is such a file; and it says so of no file
// that is not there. Where it cannot be told, the next write tells it first:
// RocksDB may go on with a log after an error.
IOStatus TieredLogWriter::HaveSlowFile(const IOOptions& options,
                                       IODebugContext* debug,
                                       bool* has_slow_file) {
  *has_slow_file = is_slow_told_ || MakeSlowFile();
  if (is_slow_told_ || !*has_slow_file) return IOStatus::OK();
  IOStatus status = AppendFrame(Tier::kFast, Slice(), options, debug);
  if (status.ok()) {
    status = SyncTier(Tier::kFast, [&](FSWritableFile* file) {
      return file->Sync(options, debug);
    });
  }
  if (status.ok()) status = place_->SyncFastDirectory();
  is_slow_told_ = status.ok();
  return status;
}

bool TieredLogWriter::MakeSlowFile() {
  if (slow_) return true;
  std::unique_ptr<FSWritableFile> made;
  is_slow_broken_ = !place_->MakeSlowFile(&made).ok();
  if (is_slow_broken_) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  slow_ = std::move(made);
  return true;
}

IOStatus TieredLogWriter::SyncTier(Tier tier, const SyncOne& sync) {
  Progress& progress = ProgressOf(tier);
  FSWritableFile* file;
  uint64_t appended;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    file = FileOf(tier);
    appended = progress.appended;
    if (file == nullptr || appended == progress.synced) return IOStatus::OK();
  }
  IOStatus status = sync(file);
  if (!status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  progress.synced = std::max(progress.synced, appended);
  return status;
}

IOStatus TieredLogWriter::SyncBoth(const SyncOne& sync) {
  uint64_t log_bytes;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    log_bytes = log_bytes_;
  }
  for (const Tier tier : {Tier::kSlow, Tier::kFast}) {
    IOStatus status = SyncTier(tier, sync);
    if (!status.ok()) return status;
  }
  if (log_bytes > 0) {
    IOStatus status = place_->SyncPromisedName();
    if (!status.ok()) return status;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  synced_log_bytes_ = std::max(synced_log_bytes_, log_bytes);
  return IOStatus::OK();
}

IOStatus TieredLogWriter::Sync(const IOOptions& options,
                               IODebugContext* debug) {
  return Guarded(IOStatus::Aborted(), [&] {
    return SyncBoth(
        [&](FSWritableFile* file) { return file->Sync(options, debug); });
  });
}

IOStatus TieredLogWriter::Fsync(const IOOptions& options,
                                IODebugContext* debug) {
  return Guarded(IOStatus::Aborted(), [&] {
    return SyncBoth(
        [&](FSWritableFile* file) { return file->Fsync(options, debug); });
  });
}

// Of the log such a range is anywhere in the files: it is asked for all of
// them, which is no more than what is not written yet.
IOStatus TieredLogWriter::RangeSync(uint64_t, uint64_t,
                                    const IOOptions& options,
                                    IODebugContext* debug) {
  uint64_t fast;
  uint64_t slow;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    fast = fast_progress_.appended;
    slow = slow_progress_.appended;
  }
  if (slow > kHeadBytes) {
    IOStatus status = slow_->RangeSync(0, slow, options, debug);
    if (!status.ok()) return status;
  }
  return target()->RangeSync(0, fast, options, debug);
}

IOStatus TieredLogWriter::Flush(const IOOptions& options,
                                IODebugContext* debug) {
  if (slow_) {
    IOStatus status = slow_->Flush(options, debug);
    if (!status.ok()) return status;
  }
  return target()->Flush(options, debug);
}

IOStatus TieredLogWriter::Close(const IOOptions& options,
                                IODebugContext* debug) {
  is_closed_ = true;
  IOStatus slow_status;
  if (slow_) slow_status = slow_->Close(options, debug);
  IOStatus status = target()->Close(options, debug);
  Guarded([&] { place_->Closed(slow_ != nullptr, log_bytes_); });
  return status.ok() ? slow_status : status;
}

// Space is for the file, which is not as long as the log.
void TieredLogWriter::PrepareWrite(size_t, size_t bytes,
                                   const IOOptions& options,
                                   IODebugContext* debug) {
  target()->PrepareWrite(fast_progress_.appended, bytes, options, debug);
}

uint64_t TieredLogWriter::GetFileSize(const IOOptions&, IODebugContext*) {
  std::lock_guard<std::mutex> lock(mutex_);
  return log_bytes_;
}

// Logs are never written so: RocksDB does not write them past the page cache.
IOStatus TieredLogWriter::PositionedAppend(const Slice&, uint64_t,
                                           const IOOptions&, IODebugContext*) {
  return IOStatus::NotSupported("a log on two tiers is only appended to");
}

IOStatus TieredLogWriter::PositionedAppend(const Slice&, uint64_t,
                                           const IOOptions&,
                                           const DataVerificationInfo&,
                                           IODebugContext*) {
  return IOStatus::NotSupported("a log on two tiers is only appended to");
}

IOStatus TieredLogWriter::Truncate(uint64_t, const IOOptions&,
                                   IODebugContext*) {
  return IOStatus::NotSupported("a log on two tiers is only appended to");
}

}  // namespace sluice
