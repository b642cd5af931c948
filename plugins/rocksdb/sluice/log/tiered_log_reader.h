// A log on two tiers, as the store reads it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rocksdb/file_system.h"
#include "sluice/log/frame_stream.h"
#include "sluice/log/opened_log.h"

namespace sluice {

// Opens the files of a log as they are now.
using LogOpener = std::function<ROCKSDB_NAMESPACE::IOStatus(OpenedLog*)>;

// Gives what was appended to the log, and no more of it than is there without
// a hole. Where that is less than what was on stable storage, or the file on
// the slow tier is gone, it gives IOError: RocksDB then refuses to open the
// database. Where the log ends in what was never synced, or is damaged, it
// gives what RocksDB takes for damage, and does with as its recovery mode says.
class TieredLogReader : public ROCKSDB_NAMESPACE::FSSequentialFile {
 public:
  enum class For {
    // Damage is bytes that are no record: after a short read RocksDB does not
    // read again, and would not see an error.
    kRecovery,
    // The same of a log that is still written: a part of a frame is no damage,
    // and it may be read on after its end.
    kFollowing,
    // Damage is the error Corruption.
    kCopy,
  };

  TieredLogReader(std::string name, For what, OpenedLog log, LogOpener reopen);

  ROCKSDB_NAMESPACE::IOStatus Read(
      size_t count, const ROCKSDB_NAMESPACE::IOOptions& options,
      ROCKSDB_NAMESPACE::Slice* result, char* scratch,
      ROCKSDB_NAMESPACE::IODebugContext* debug) override;
  ROCKSDB_NAMESPACE::IOStatus Skip(uint64_t count) override;

  // So many bytes of the log have been given or skipped.
  uint64_t offset() const { return offset_; }

 private:
  // The stream whose next frame has what the log goes on with; nullptr where
  // the log ends, for now.
  ROCKSDB_NAMESPACE::IOStatus Next(FrameStream** next);
  ROCKSDB_NAMESPACE::IOStatus LookInBoth(FrameStream** next);
  ROCKSDB_NAMESPACE::IOStatus LookIn(FrameStream* stream, FrameStream** next);
  void Use(OpenedLog log);
  // For a frame that says there is a file on the slow tier. Where all was
  // merged into one file since, that is read from then on.
  ROCKSDB_NAMESPACE::IOStatus SeeSlowFile();
  // What it means that no stream has what the log goes on with.
  ROCKSDB_NAMESPACE::IOStatus Judge();
  ROCKSDB_NAMESPACE::IOStatus LookBeyond(FrameStream* stream,
                                         uint64_t* synced_bytes,
                                         bool* has_more);
  ROCKSDB_NAMESPACE::IOStatus ReadUpTo(size_t count, char* to, size_t* filled);
  ROCKSDB_NAMESPACE::IOStatus AddDamage(
      const ROCKSDB_NAMESPACE::IOStatus& status, size_t count, char* to,
      size_t* filled);
  // Takes up to `count` bytes of the stream; to nowhere if `to` is nullptr.
  size_t Take(FrameStream* from, size_t count, char* to);

  const std::string name_;
  const For what_;
  LogId id_ = 0;
  std::optional<FrameStream> fast_;
  std::optional<FrameStream> slow_;
  const LogOpener reopen_;
  // A stream has no way on to what comes next in the log.
  bool is_stuck_ = false;
  // What has ended the log, for good.
  ROCKSDB_NAMESPACE::IOStatus failure_;
  bool was_damage_given_ = false;
  uint64_t offset_ = 0;
};

}  // namespace sluice
