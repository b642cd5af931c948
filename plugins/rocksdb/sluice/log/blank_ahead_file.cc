#include "sluice/log/blank_ahead_file.h"

#include <algorithm>
#include <string>

namespace sluice {

using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

IOStatus BlankAheadFile::Append(const Slice& data, const IOOptions& options,
                                IODebugContext* debug) {
  const uint64_t end = appended_ + data.size();
  touched_ = std::max(touched_, end);
  IOStatus status = file_->Write(appended_, data, options, debug);
  if (!status.ok()) return status;
  appended_ = end;
  if (appended_ > blank_end_) AddBlank(options, debug);
  return status;
}

// Where there is no room for it, what is appended makes the file longer.
void BlankAheadFile::AddBlank(const IOOptions& options, IODebugContext* debug) {
  const std::string blank(kBlankBytes, '\0');
  const IOStatus status = file_->Write(appended_, blank, options, debug);
  blank_end_ = appended_ + (status.ok() ? kBlankBytes : 0);
}

IOStatus BlankAheadFile::Truncate(uint64_t bytes, const IOOptions& options,
                                  IODebugContext* debug) {
  const std::string blank(touched_ - bytes, '\0');
  appended_ = bytes;
  touched_ = bytes;
  return file_->Write(bytes, blank, options, debug);
}

IOStatus BlankAheadFile::Close(const IOOptions& options,
                               IODebugContext* debug) {
  return file_->Close(options, debug);
}

IOStatus BlankAheadFile::Flush(const IOOptions& options,
                               IODebugContext* debug) {
  return file_->Flush(options, debug);
}

IOStatus BlankAheadFile::Sync(const IOOptions& options, IODebugContext* debug) {
  return file_->Sync(options, debug);
}

IOStatus BlankAheadFile::Fsync(const IOOptions& options,
                               IODebugContext* debug) {
  return file_->Fsync(options, debug);
}

}  // namespace sluice
