#include "sluice/log/tiered_log_reader.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;
using Found = FrameStream::Found;

// A whole record with a wrong checksum, and one that has hardly begun. RocksDB
// tells them apart, as damage and as the end of a writer that died.
constexpr std::string_view kBadRecord("\xff\xff\xff\xff\0\0\1", 7);
constexpr std::string_view kTornRecord("\xff", 1);
// Behind the bad one: the record that the damage is in the middle of must not
// seem to be cut off.
constexpr char kFill = '\xff';

}  // namespace

TieredLogReader::TieredLogReader(std::string name, For what, OpenedLog log,
                                 LogOpener reopen)
    : name_(std::move(name)), what_(what), reopen_(std::move(reopen)) {
  Use(std::move(log));
}

void TieredLogReader::Use(OpenedLog log) {
  id_ = log.id;
  fast_.emplace(std::move(log.fast), id_, /*has_blank_end=*/false);
  slow_.reset();
  if (log.slow) slow_.emplace(std::move(log.slow), id_, /*has_blank_end=*/true);
}

IOStatus TieredLogReader::SeeSlowFile() {
  OpenedLog now;
  IOStatus status = reopen_(&now);
  if (!status.ok()) return status;
  if (now.id != id_) {
    Use(std::move(now));
    return status;
  }
  if (now.slow) {
    slow_.emplace(std::move(now.slow), id_, /*has_blank_end=*/true);
    return status;
  }
  return IOStatus::IOError(
      name_,
      "its part on the slow tier is gone, with what was written there: bring "
      "the device back that wal_slow_directory is on");
}

IOStatus TieredLogReader::LookIn(FrameStream* stream, FrameStream** next) {
  for (;;) {
    Found found;
    IOStatus status = stream->Look(&found);
    if (!status.ok()) return status;
    is_stuck_ |= found == Found::kBad;
    if (found != Found::kFrame) return status;
    const LogFrame& frame = stream->frame();
    if (frame.has_slow_file && !slow_) {
      status = SeeSlowFile();
      if (!status.ok()) return status;
      continue;
    }
    if (frame.log_offset > offset_) {
      is_stuck_ = true;
      return status;
    }
    if (offset_ < frame.log_offset + frame.data_bytes) {
      *next = stream;
      return status;
    }
    stream->Pass();
  }
}

IOStatus TieredLogReader::LookInBoth(FrameStream** next) {
  IOStatus status = LookIn(&*fast_, next);
  if (!status.ok() || *next != nullptr || !slow_) return status;
  return LookIn(&*slow_, next);
}

// Where one stream is farther than the log, the other has what lies between,
// and had it before: a writer may have come to both since it was looked at.
IOStatus TieredLogReader::Next(FrameStream** next) {
  *next = nullptr;
  is_stuck_ = false;
  IOStatus status = LookInBoth(next);
  if (!status.ok() || *next != nullptr || !is_stuck_) return status;
  status = LookInBoth(next);
  if (!status.ok() || *next != nullptr) return status;
  return Judge();
}

// The frames of a stream that are beyond a hole or damage.
IOStatus TieredLogReader::LookBeyond(FrameStream* stream,
                                     uint64_t* synced_bytes, bool* has_more) {
  for (;;) {
    Found found;
    IOStatus status = stream->Look(&found);
    if (status.ok() && found == Found::kBad) status = stream->Search(&found);
    if (!status.ok() || found != Found::kFrame) return status;
    const LogFrame& frame = stream->frame();
    *has_more |= frame.log_offset > offset_;
    *synced_bytes = std::max(*synced_bytes, frame.synced_bytes);
    stream->Pass();
  }
}

IOStatus TieredLogReader::Judge() {
  uint64_t synced_bytes = 0;
  bool has_more = false;
  IOStatus status = LookBeyond(&*fast_, &synced_bytes, &has_more);
  if (status.ok() && slow_) {
    status = LookBeyond(&*slow_, &synced_bytes, &has_more);
  }
  if (!status.ok()) return status;
  if (synced_bytes > offset_) {
    return IOStatus::IOError(
        name_, "what was on stable storage is not there from byte " +
                   std::to_string(offset_) + " to " +
                   std::to_string(synced_bytes) + " of the log");
  }
  return IOStatus::Corruption(
      name_, (has_more ? "a hole of what was never synced, at byte "
                       : "a frame with a wrong checksum, at byte ") +
                 std::to_string(offset_) + " of the log");
}

size_t TieredLogReader::Take(FrameStream* from, size_t count, char* to) {
  const size_t begin = static_cast<size_t>(offset_ - from->frame().log_offset);
  const std::string_view data = from->data().substr(begin, count);
  if (to != nullptr) std::memcpy(to, data.data(), data.size());
  offset_ += data.size();
  return data.size();
}

IOStatus TieredLogReader::ReadUpTo(size_t count, char* to, size_t* filled) {
  while (*filled < count) {
    FrameStream* next = nullptr;
    if (failure_.ok()) failure_ = Next(&next);
    if (!failure_.ok()) return failure_;
    if (next == nullptr) break;
    *filled += Take(next, count - *filled, to + *filled);
  }
  return IOStatus::OK();
}

// What a log that is not written any more ends in, for RocksDB. The end is
// damaged once, and an end from then on.
IOStatus TieredLogReader::AddDamage(const IOStatus& status, size_t count,
                                    char* to, size_t* filled) {
  const bool is_torn = status.ok() && what_ == For::kRecovery &&
                       (fast_->is_torn() || (slow_ && slow_->is_torn()));
  if (was_damage_given_ || *filled == count) return IOStatus::OK();
  if (!status.IsCorruption() && !is_torn) return status;
  const std::string_view damage = is_torn ? kTornRecord : kBadRecord;
  // What is shorter than the header of a record is padding at the end of a
  // block, and is not looked at.
  const size_t left = count - *filled;
  was_damage_given_ = left >= kBadRecord.size();
  const size_t bytes = std::min(left, damage.size());
  std::memcpy(to + *filled, damage.data(), bytes);
  *filled += bytes;
  if (is_torn) return IOStatus::OK();
  std::memset(to + *filled, kFill, count - *filled);
  *filled = count;
  return IOStatus::OK();
}

IOStatus TieredLogReader::Read(size_t count, const IOOptions&, Slice* result,
                               char* scratch, IODebugContext*) {
  size_t filled = 0;
  IOStatus status;
  try {
    status = ReadUpTo(count, scratch, &filled);
    if (what_ != For::kCopy && !status.IsIOError()) {
      status = AddDamage(status, count, scratch, &filled);
    }
  } catch (const std::exception& error) {
    status = IOStatus::IOError(name_, error.what());
  }
  // With an error too: whoever copies a log has what comes before.
  *result = Slice(scratch, filled);
  return status;
}

IOStatus TieredLogReader::Skip(uint64_t count) {
  try {
    while (count > 0) {
      FrameStream* next = nullptr;
      if (failure_.ok()) failure_ = Next(&next);
      if (!failure_.ok()) return failure_;
      if (next == nullptr) break;
      count -= Take(next, count, nullptr);
    }
    return IOStatus::OK();
  } catch (const std::exception& error) {
    return IOStatus::IOError(name_, error.what());
  }
}

}  // namespace sluice
