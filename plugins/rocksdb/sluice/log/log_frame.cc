#include "sluice/log/log_frame.h"

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

constexpr uint32_t kMagic = 0x31464c53;  // SLF1
constexpr uint32_t kHasSlowFile = 1;

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

std::string Head(std::string text) {
  text.resize(kHeadBytes, '\0');
  return text;
}

}  // namespace

const std::string& FastHead() {
  static const auto* const head =
      new std::string(Head(RefusedRecord() + "sluice 1"));
  return *head;
}

const std::string& SlowHead() {
  static const auto* const head =
      new std::string(Head("sluice 1: slow part of a log"));
  return *head;
}

void AppendFrame(LogFrame frame, std::string_view data, std::string* to) {
  char header[kFrameHeaderBytes];
  EncodeFixed32(header, kMagic);
  EncodeFixed32(header + kDataBytesAt, static_cast<uint32_t>(data.size()));
  EncodeFixed64(header + kLogOffsetAt, frame.log_offset);
  EncodeFixed64(header + kSyncedBytesAt, frame.synced_bytes);
  EncodeFixed32(header + kFlagsAt, frame.has_slow_file ? kHasSlowFile : 0);
  EncodeFixed32(header + kDataChecksumAt, Checksum(data));
  EncodeFixed32(header + kHeaderChecksumAt,
                Checksum({header, kHeaderChecksumAt}));
  to->append(header, kFrameHeaderBytes);
  to->append(data);
}

std::optional<FrameHeader> ReadFrameHeader(std::string_view bytes) {
  if (bytes.size() < kFrameHeaderBytes) return std::nullopt;
  const char* const at = bytes.data();
  FrameHeader header;
  header.frame.data_bytes = DecodeFixed32(at + kDataBytesAt);
  header.frame.log_offset = DecodeFixed64(at + kLogOffsetAt);
  header.frame.synced_bytes = DecodeFixed64(at + kSyncedBytesAt);
  header.frame.has_slow_file = DecodeFixed32(at + kFlagsAt) == kHasSlowFile;
  header.data_checksum = DecodeFixed32(at + kDataChecksumAt);
  const bool is_valid = DecodeFixed32(at) == kMagic &&
                        header.frame.data_bytes <= kMaxFrameDataBytes &&
                        DecodeFixed32(at + kHeaderChecksumAt) ==
                            Checksum(bytes.substr(0, kHeaderChecksumAt));
  return is_valid ? std::optional(header) : std::nullopt;
}

bool HasChecksum(std::string_view data, uint32_t checksum) {
  return Checksum(data) == checksum;
}

}  // namespace sluice
