#include "sluice/log/log_frame.h"

#include <random>

#include "db/dbformat.h"
#include "db/log_format.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace sluice {
namespace {

namespace crc32c = ROCKSDB_NAMESPACE::crc32c;
using ROCKSDB_NAMESPACE::DecodeFixed32;
using ROCKSDB_NAMESPACE::DecodeFixed64;
using ROCKSDB_NAMESPACE::EncodeFixed32;
using ROCKSDB_NAMESPACE::EncodeFixed64;
using ROCKSDB_NAMESPACE::PutFixed32;
using ROCKSDB_NAMESPACE::PutFixed64;

constexpr std::string_view kMagic = "SLF2";
constexpr uint32_t kHasSlowFile = 1;
constexpr std::string_view kSlowText = "sluice 2: slow part of a log";

// Places in a head, whose text comes first; the last is the checksum of all
// before it.
constexpr size_t kHeadTextBytes = 32;
constexpr size_t kHeadIdAt = 32;
constexpr size_t kHeadChecksumAt = 40;

// Places in a header; the last is the checksum of all before it.
constexpr size_t kDataBytesAt = 4;
constexpr size_t kLogOffsetAt = 8;
constexpr size_t kSyncedBytesAt = 16;
constexpr size_t kFlagsAt = 24;
constexpr size_t kDataChecksumAt = 28;
constexpr size_t kHeaderChecksumAt = 32;

uint32_t Checksum(std::string_view bytes) {
  return crc32c::Mask(crc32c::Value(bytes.data(), bytes.size()));
}

uint32_t HeaderChecksum(const char* header, LogId id) {
  char salt[sizeof(LogId)];
  EncodeFixed64(salt, id);
  return crc32c::Mask(crc32c::Extend(crc32c::Value(salt, sizeof(salt)), header,
                                     kHeaderChecksumAt));
}

// A batch with a wrong count, which is refused before anything of it is done,
// and whose tags contradict each other: one is of transactions that are written
// when they are prepared, one of those that are written when they commit.
// Source: DBImpl::InitializeWriteBatchForLogRecord,
// WriteBatchInternal::Iterate.
std::string RefusedRecord() {
  std::string batch;
  PutFixed64(&batch, 0);  // sequence number
  PutFixed32(&batch, 1);  // count
  batch.push_back(
      static_cast<char>(ROCKSDB_NAMESPACE::kTypeBeginPersistedPrepareXID));
  batch.push_back(static_cast<char>(ROCKSDB_NAMESPACE::kTypeBeginPrepareXID));

  const char type = static_cast<char>(ROCKSDB_NAMESPACE::log::kFullType);
  std::string record;
  PutFixed32(&record, Checksum(type + batch));
  record.push_back(static_cast<char>(batch.size()));
  record.push_back(0);
  record.push_back(type);
  return record + batch;
}

std::string PaddedText(std::string text) {
  text.resize(kHeadTextBytes, '\0');
  return text;
}

const std::string& FastText() {
  static const auto* const text =
      new std::string(PaddedText(RefusedRecord() + "sluice 2"));
  return *text;
}

std::string Head(std::string head, LogId id) {
  PutFixed64(&head, id);
  PutFixed32(&head, Checksum(head));
  head.resize(kHeadBytes, '\0');
  return head;
}

}  // namespace

LogId NewLogId() {
  std::random_device random;
  return static_cast<LogId>(random()) << 32 | random();
}

std::string FastHead(LogId id) { return Head(FastText(), id); }

std::string SlowHead(LogId id) {
  return Head(PaddedText(std::string(kSlowText)), id);
}

LogHead ReadHead(std::string_view bytes) {
  LogHead head;
  if (bytes.size() < kHeadBytes) return head;
  const std::string_view text = bytes.substr(0, kHeadTextBytes);
  const bool is_fast = text == FastText();
  if (!is_fast && text != PaddedText(std::string(kSlowText))) return head;
  const std::string_view checked = bytes.substr(0, kHeadChecksumAt);
  if (!HasChecksum(checked, DecodeFixed32(bytes.data() + kHeadChecksumAt))) {
    head.kind = HeadKind::kDamaged;
    return head;
  }
  head.kind = is_fast ? HeadKind::kFast : HeadKind::kSlow;
  head.id = DecodeFixed64(bytes.data() + kHeadIdAt);
  return head;
}

std::string_view FrameMagic() { return kMagic; }

void AppendFrame(LogFrame frame, LogId id, std::string_view data,
                 std::string* to) {
  char header[kFrameHeaderBytes];
  kMagic.copy(header, kMagic.size());
  EncodeFixed32(header + kDataBytesAt, static_cast<uint32_t>(data.size()));
  EncodeFixed64(header + kLogOffsetAt, frame.log_offset);
  EncodeFixed64(header + kSyncedBytesAt, frame.synced_bytes);
  EncodeFixed32(header + kFlagsAt, frame.has_slow_file ? kHasSlowFile : 0);
  EncodeFixed32(header + kDataChecksumAt, Checksum(data));
  EncodeFixed32(header + kHeaderChecksumAt, HeaderChecksum(header, id));
  to->append(header, kFrameHeaderBytes);
  to->append(data);
}

std::optional<FrameHeader> ReadFrameHeader(std::string_view bytes, LogId id) {
  if (bytes.size() < kFrameHeaderBytes) return std::nullopt;
  const char* const at = bytes.data();
  FrameHeader header;
  header.frame.data_bytes = DecodeFixed32(at + kDataBytesAt);
  header.frame.log_offset = DecodeFixed64(at + kLogOffsetAt);
  header.frame.synced_bytes = DecodeFixed64(at + kSyncedBytesAt);
  header.frame.has_slow_file = DecodeFixed32(at + kFlagsAt) == kHasSlowFile;
  header.data_checksum = DecodeFixed32(at + kDataChecksumAt);
  const bool is_valid =
      bytes.starts_with(kMagic) &&
      header.frame.data_bytes <= kMaxFrameDataBytes &&
      DecodeFixed32(at + kHeaderChecksumAt) == HeaderChecksum(at, id);
  return is_valid ? std::optional(header) : std::nullopt;
}

bool HasChecksum(std::string_view data, uint32_t checksum) {
  return Checksum(data) == checksum;
}

}  // namespace sluice
