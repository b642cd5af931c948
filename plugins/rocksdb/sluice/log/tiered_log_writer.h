// A log on two tiers, as the store writes it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/file_system.h"
#include "sluice/log/log_frame.h"
#include "sluice/log/log_placement.h"

namespace sluice {

// What the writer needs of the place that its log is in.
class LogPlace {
 public:
  virtual ~LogPlace() = default;
  virtual Tier Choose(size_t bytes) = 0;
  virtual void CountWritten(Tier tier, size_t bytes) = 0;
  // Makes the file on the slow tier, with its head; a crash leaves both.
  virtual ROCKSDB_NAMESPACE::IOStatus MakeSlowFile(
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file) = 0;
  // Has the name of the log's file on the fast tier survive a crash.
  virtual ROCKSDB_NAMESPACE::IOStatus SyncFastDirectory() = 0;
  // The same, where the store takes that for done and it is not.
  virtual ROCKSDB_NAMESPACE::IOStatus SyncPromisedName() = 0;
  virtual void Closed(bool has_slow_file, uint64_t log_bytes) = 0;
};

// Appends whole frames, each to one tier. A sync waits for the tiers that were
// written to since the last one, and for no other. Where the slow tier takes
// nothing, the fast one does.
class TieredLogWriter : public ROCKSDB_NAMESPACE::FSWritableFileOwnerWrapper {
 public:
  // `fast` has its head already, and with it that id.
  TieredLogWriter(std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile> fast,
                  LogId id, std::unique_ptr<LogPlace> place)
      : FSWritableFileOwnerWrapper(std::move(fast)),
        id_(id),
        place_(std::move(place)) {}
  ~TieredLogWriter() override;

  // Makes the file on the slow tier before anything is redirected, which need
  // not wait for the fast tier then. A slow tier that takes none is no error.
  ROCKSDB_NAMESPACE::IOStatus MakeSlowAhead();

  ROCKSDB_NAMESPACE::IOStatus Append(
      const ROCKSDB_NAMESPACE::Slice& data,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Append(
      const ROCKSDB_NAMESPACE::Slice& data,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      const ROCKSDB_NAMESPACE::DataVerificationInfo& verification,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus PositionedAppend(
      const ROCKSDB_NAMESPACE::Slice& data, uint64_t offset,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus PositionedAppend(
      const ROCKSDB_NAMESPACE::Slice& data, uint64_t offset,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      const ROCKSDB_NAMESPACE::DataVerificationInfo& verification,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Truncate(
      uint64_t size, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Close(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Flush(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Sync(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Fsync(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus RangeSync(
      uint64_t offset, uint64_t bytes,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  uint64_t GetFileSize(const ROCKSDB_NAMESPACE::IOOptions& options,
                       ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  void PrepareWrite(size_t offset, size_t bytes,
                    const ROCKSDB_NAMESPACE::IOOptions& options,
                    ROCKSDB_NAMESPACE::IODebugContext* debug) override;

 private:
  // Bytes of one of the files.
  struct Progress {
    uint64_t appended = 0;
    uint64_t synced = 0;
  };
  using SyncOne = std::function<ROCKSDB_NAMESPACE::IOStatus(
      ROCKSDB_NAMESPACE::FSWritableFile*)>;

  ROCKSDB_NAMESPACE::IOStatus AppendFrame(
      Tier tier, const ROCKSDB_NAMESPACE::Slice& data,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug);
  ROCKSDB_NAMESPACE::IOStatus AppendPart(
      const ROCKSDB_NAMESPACE::Slice& data,
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug);
  // Makes the file on the slow tier if it is not there, and tells the fast one.
  // An error is one of the fast tier; false if the slow one has none.
  ROCKSDB_NAMESPACE::IOStatus HaveSlowFile(
      const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::IODebugContext* debug, bool* has_slow_file);
  bool MakeSlowFile();
  void CutOff(Tier tier, const ROCKSDB_NAMESPACE::IOOptions& options,
              ROCKSDB_NAMESPACE::IODebugContext* debug);
  ROCKSDB_NAMESPACE::FSWritableFile* FileOf(Tier tier) const {
    return tier == Tier::kFast ? target() : slow_.get();
  }
  Progress& ProgressOf(Tier tier) {
    return tier == Tier::kFast ? fast_progress_ : slow_progress_;
  }
  ROCKSDB_NAMESPACE::IOStatus SyncBoth(const SyncOne& sync);
  ROCKSDB_NAMESPACE::IOStatus SyncTier(Tier tier, const SyncOne& sync);

  const LogId id_;
  const std::unique_ptr<LogPlace> place_;

  // The store appends from one thread at a time, and may sync meanwhile.
  std::mutex mutex_;
  std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile> slow_;
  Progress fast_progress_{kHeadBytes, 0};
  Progress slow_progress_{kHeadBytes, kHeadBytes};
  uint64_t log_bytes_ = 0;
  uint64_t synced_log_bytes_ = 0;
  bool is_slow_broken_ = false;
  // Stable storage of the fast tier says that there is a file on the slow one.
  bool is_slow_told_ = false;
  bool is_closed_ = false;
  std::string frame_;
};

}  // namespace sluice
