#include "sluice/log/frame_stream.h"

#include <algorithm>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

constexpr size_t kReadAheadBytes = 256 << 10;

// Where space was allocated and nothing written.
bool IsBlank(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

// Has at least so many bytes ahead in the buffer, unless the file ends before.
IOStatus FrameStream::Fill(size_t bytes) {
  if (Ahead().size() >= bytes) return IOStatus::OK();
  buffer_.erase(0, begin_);
  begin_ = 0;
  while (buffer_.size() < bytes) {
    const size_t before = buffer_.size();
    const size_t wanted = std::max(bytes - before, kReadAheadBytes);
    buffer_.resize(before + wanted);
    Slice read;
    IOStatus status = file_->Read(offset_ + before, wanted, IOOptions(), &read,
                                  buffer_.data() + before, nullptr);
    const size_t count = status.ok() ? read.size() : 0;
    if (count > 0 && read.data() != buffer_.data() + before) {
      std::copy_n(read.data(), count, buffer_.data() + before);
    }
    buffer_.resize(before + count);
    if (!status.ok()) return status;
    if (count == 0) break;
  }
  return IOStatus::OK();
}

IOStatus FrameStream::Look(Found* found) {
  IOStatus status = LookHere(found);
  const bool may_be_torn = has_blank_end_ && *found == Found::kBad;
  return status.ok() && may_be_torn ? JudgeBad(found) : status;
}

// A part of what was written last, or is being written, looks as if it were
// damaged: the rest of it is blank. No frame comes behind it.
IOStatus FrameStream::JudgeBad(Found* found) {
  const uint64_t place = offset_;
  Found behind;
  IOStatus status = Search(&behind);
  offset_ = place;
  Forget();
  is_torn_ = status.ok() && behind == Found::kEnd;
  if (is_torn_) *found = Found::kEnd;
  return status;
}

IOStatus FrameStream::LookHere(Found* found) {
  *found = Found::kEnd;
  is_torn_ = false;
  IOStatus status = Fill(kFrameHeaderBytes);
  if (!status.ok()) return status;
  const std::string_view start = Ahead().substr(0, kFrameHeaderBytes);
  if (start.size() < kFrameHeaderBytes) {
    is_torn_ = !IsBlank(start);
    return status;
  }
  const auto header = ReadFrameHeader(start, id_);
  if (!header) {
    const bool is_blank = IsBlank(start);
    Forget();
    if (is_blank) return LookBehindBlank(found);
    *found = Found::kBad;
    return status;
  }
  const size_t whole = kFrameHeaderBytes + header->frame.data_bytes;
  status = Fill(whole);
  if (!status.ok()) return status;
  is_torn_ = Ahead().size() < whole;
  if (is_torn_) return status;
  frame_ = header->frame;
  if (HasChecksum(data(), header->data_checksum)) {
    *found = Found::kFrame;
  } else {
    *found = Found::kBad;
    Forget();
  }
  return status;
}

// Space is allocated at the end of a file: where something comes after it, what
// was written there is lost.
IOStatus FrameStream::LookBehindBlank(Found* found) {
  std::string part(kReadAheadBytes, '\0');
  for (uint64_t place = offset_;;) {
    Slice read;
    IOStatus status = file_->Read(place, part.size(), IOOptions(), &read,
                                  part.data(), nullptr);
    if (!status.ok() || read.empty()) return status;
    if (!IsBlank({read.data(), read.size()})) {
      *found = Found::kBad;
      return status;
    }
    place += read.size();
  }
}

IOStatus FrameStream::SeekMagic(bool* is_there) {
  *is_there = false;
  for (;;) {
    IOStatus status = Fill(kFrameHeaderBytes);
    if (!status.ok() || Ahead().size() < kFrameHeaderBytes) return status;
    const size_t place = Ahead().find(FrameMagic());
    *is_there = place != std::string_view::npos;
    if (*is_there) {
      Advance(place);
      return Fill(kFrameHeaderBytes);
    }
    Advance(Ahead().size() - FrameMagic().size() + 1);
  }
}

IOStatus FrameStream::Search(Found* found) {
  for (;;) {
    Advance(1);
    *found = Found::kEnd;
    bool is_there;
    IOStatus status = SeekMagic(&is_there);
    if (!status.ok() || !is_there) return status;
    if (!ReadFrameHeader(Ahead().substr(0, kFrameHeaderBytes), id_)) continue;
    status = LookHere(found);
    if (!status.ok() || *found == Found::kFrame) return status;
  }
}

// What was read of a file that grows may be old when it is looked at again.
void FrameStream::Forget() {
  buffer_.clear();
  begin_ = 0;
}

void FrameStream::Advance(size_t bytes) {
  offset_ += bytes;
  begin_ += bytes;
  if (begin_ > buffer_.size()) Forget();
}

void FrameStream::Pass() { Advance(kFrameHeaderBytes + frame_.data_bytes); }

}  // namespace sluice
