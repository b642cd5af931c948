// The frames of a file, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "rocksdb/file_system.h"
#include "sluice/log/log_frame.h"

namespace sluice {

class FrameStream {
 public:
  enum class Found {
    kFrame,
    // No whole frame; there may be one when it is looked for again.
    kEnd,
    // What is there was not written so.
    kBad,
  };

  // Behind what was written there may be zeros; in a file with `has_blank_end`
  // they were there before it, and are where it is lost.
  FrameStream(std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile> file,
              LogId id, bool has_blank_end)
      : file_(std::move(file)), id_(id), has_blank_end_(has_blank_end) {}

  // Looks at the frame that comes next. An error is one of the device.
  ROCKSDB_NAMESPACE::IOStatus Look(Found* found);

  // The next whole frame behind a place where none begins; kEnd if there is
  // none.
  ROCKSDB_NAMESPACE::IOStatus Search(Found* found);

  // Of the frame that was found; valid until the next call of the others.
  const LogFrame& frame() const { return frame_; }
  std::string_view data() const {
    return std::string_view(buffer_).substr(begin_ + kFrameHeaderBytes,
                                            frame_.data_bytes);
  }

  // Goes on behind the frame that was found.
  void Pass();

  // Whether the file ends in a part of a frame.
  bool is_torn() const { return is_torn_; }

 private:
  ROCKSDB_NAMESPACE::IOStatus Fill(size_t bytes);
  ROCKSDB_NAMESPACE::IOStatus LookHere(Found* found);
  ROCKSDB_NAMESPACE::IOStatus JudgeBad(Found* found);
  ROCKSDB_NAMESPACE::IOStatus LookBehindBlank(Found* found);
  // Goes to the next place that may be the begin of a frame; false at the end.
  ROCKSDB_NAMESPACE::IOStatus SeekMagic(bool* is_there);
  void Advance(size_t bytes);
  void Forget();
  std::string_view Ahead() const {
    return std::string_view(buffer_).substr(begin_);
  }

  const std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile> file_;
  const LogId id_;
  const bool has_blank_end_;
  // Place in the file of what comes next, which the buffer has from `begin_`
  // on.
  uint64_t offset_ = kHeadBytes;
  std::string buffer_;
  size_t begin_ = 0;
  bool is_torn_ = false;
  LogFrame frame_;
};

}  // namespace sluice
