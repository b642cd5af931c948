#include "sluice/pool/pool_files.h"

#include <algorithm>
#include <cstring>

#include "sluice/guarded.h"
#include "sluice/pool/pool_status.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

// Sessions that one read may outlast.
constexpr int kMostSessions = 3;

}  // namespace

PoolReader::~PoolReader() {
  if (current_.generation != 0) Guarded([&] { session_->Close(current_); });
}

IOStatus PoolReader::Open() {
  std::lock_guard<std::mutex> lock(mutex_);
  const PoolFile former = current_;
  PoolFile opened;
  IOStatus status = session_->Open(path_, &opened);
  if (!status.ok()) return status;
  if (former.generation != 0) session_->Close(former);
  current_ = opened;
  if (id_.empty()) id_ = opened.id;
  const bool is_other = id_ != opened.id;
  return is_other ? IOStatus::IOError(path_ + " is another file by now")
                  : status;
}

IOStatus PoolReader::Read(uint64_t offset, size_t bytes, char* scratch,
                          Slice* result) {
  size_t done = 0;
  while (done < bytes) {
    const size_t part = std::min(bytes - done, kMaxPoolPayloadBytes);
    size_t count = 0;
    IOStatus status = ReadPart(offset + done, part, scratch + done, &count);
    if (!status.ok()) return status;
    done += count;
    if (count < part) break;
  }
  *result = Slice(scratch, done);
  return IOStatus::OK();
}

IOStatus PoolReader::ReadPart(uint64_t offset, size_t bytes, char* to,
                              size_t* count) {
  for (int session = 1;; ++session) {
    IOStatus status = session_->Read(Current(), offset, bytes, to, count);
    if (!status.IsAborted()) return status;
    if (session == kMostSessions) {
      return Retryable("the agent is gone again and again");
    }
    status = Open();
    if (!status.ok()) return status;
  }
}

uint64_t PoolReader::length_bytes() { return Current().length_bytes; }

PoolFile PoolReader::Current() {
  std::lock_guard<std::mutex> lock(mutex_);
  return current_;
}

IOStatus PoolSequentialFile::Read(size_t bytes, const IOOptions&, Slice* result,
                                  char* scratch, IODebugContext*) {
  return Guarded(OutOfMemory(), [&] {
    // At its end the file may have grown since.
    if (offset_ >= reader_->length_bytes()) {
      IOStatus status = reader_->Open();
      if (!status.ok()) return status;
    }
    IOStatus status = reader_->Read(offset_, bytes, scratch, result);
    if (status.ok()) offset_ += result->size();
    return status;
  });
}

IOStatus PoolSequentialFile::Skip(uint64_t bytes) {
  offset_ += bytes;
  return IOStatus::OK();
}

IOStatus PoolRandomAccessFile::Read(uint64_t offset, size_t bytes,
                                    const IOOptions&, Slice* result,
                                    char* scratch, IODebugContext*) const {
  return Guarded(OutOfMemory(),
                 [&] { return reader_->Read(offset, bytes, scratch, result); });
}

IOStatus PoolRandomAccessFile::GetFileSize(uint64_t* bytes) {
  *bytes = reader_->length_bytes();
  return IOStatus::OK();
}

size_t PoolRandomAccessFile::GetUniqueId(char* id, size_t room) const {
  const std::string& own = reader_->id();
  if (own.size() > room) return 0;
  std::memcpy(id, own.data(), own.size());
  return own.size();
}

}  // namespace sluice
