#include "sluice/pool/pool_writable_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sluice/guarded.h"
#include "sluice/pool/pool_files.h"
#include "sluice/pool/pool_status.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DataVerificationInfo;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

// So much is kept of a file that nobody syncs.
constexpr size_t kMostUnsyncedBytes = 16 << 20;
constexpr size_t kCopyBytes = 1 << 20;
constexpr char kMadeAnew[] = ".anew";

// Of a session that is over, or of servers that are gone.
bool MayBeMadeAnew(const IOStatus& status) {
  return status.IsAborted() || (status.IsIOError() && status.GetRetryable());
}

}  // namespace

PoolWritableFile::~PoolWritableFile() {
  if (is_closed_) return;
  Guarded([&] { session_->Seal(file_).PermitUncheckedError(); });
}

IOStatus PoolWritableFile::Append(const Slice& data, const IOOptions&,
                                  IODebugContext*) {
  return Guarded(OutOfMemory(), [&] {
    std::lock_guard<std::mutex> lock(mutex_);
    unsynced_.append(data.data(), data.size());
    IOStatus status = Send({data.data(), data.size()});
    // What has failed is not part of the file.
    if (!status.ok()) unsynced_.resize(unsynced_.size() - data.size());
    return status;
  });
}

IOStatus PoolWritableFile::Append(const Slice& data, const IOOptions& options,
                                  const DataVerificationInfo&,
                                  IODebugContext* debug) {
  return Append(data, options, debug);
}

IOStatus PoolWritableFile::Send(std::string_view data) {
  IOStatus status = session_->Append(file_, data);
  if (MayBeMadeAnew(status)) return MakeAnew();
  if (!status.ok() || unsynced_.size() < kMostUnsyncedBytes) return status;
  const uint64_t length_bytes = synced_bytes_ + unsynced_.size();
  status = session_->Sync(file_);
  if (MayBeMadeAnew(status)) return MakeAnew();
  if (status.ok()) NoteSynced(length_bytes);
  return status;
}

IOStatus PoolWritableFile::Truncate(uint64_t bytes, const IOOptions& options,
                                    IODebugContext* debug) {
  return bytes == GetFileSize(options, debug)
             ? IOStatus::OK()
             : IOStatus::NotSupported("files of a pool only grow");
}

IOStatus PoolWritableFile::Flush(const IOOptions&, IODebugContext*) {
  return IOStatus::OK();
}

// Others may append meanwhile.
IOStatus PoolWritableFile::Sync(const IOOptions&, IODebugContext*) {
  return Guarded(OutOfMemory(), [&] {
    std::unique_lock<std::mutex> lock(mutex_);
    const PoolFile file = file_;
    const uint64_t length_bytes = synced_bytes_ + unsynced_.size();
    lock.unlock();
    IOStatus status = session_->Sync(file);
    lock.lock();
    // Somebody else may have made it anew, with all that was appended.
    if (MayBeMadeAnew(status)) {
      return file.id == file_.id ? MakeAnew() : IOStatus::OK();
    }
    if (status.ok()) NoteSynced(length_bytes);
    return status;
  });
}

IOStatus PoolWritableFile::Close(const IOOptions&, IODebugContext*) {
  return Guarded(OutOfMemory(), [&] {
    std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return IOStatus::OK();
    IOStatus status = session_->Seal(file_);
    if (MayBeMadeAnew(status)) {
      status = MakeAnew();
      if (status.ok()) status = session_->Seal(file_);
    }
    is_closed_ = status.ok();
    return status;
  });
}

uint64_t PoolWritableFile::GetFileSize(const IOOptions&, IODebugContext*) {
  std::lock_guard<std::mutex> lock(mutex_);
  return synced_bytes_ + unsynced_.size();
}

void PoolWritableFile::NoteSynced(uint64_t length_bytes) {
  if (length_bytes <= synced_bytes_) return;
  unsynced_.erase(0, length_bytes - synced_bytes_);
  synced_bytes_ = length_bytes;
}

// The file of a session that is over has ended, with what was synced at least.
IOStatus PoolWritableFile::MakeAnew() {
  PoolFile former;
  IOStatus status = session_->Open(path_, &former);
  if (!status.ok()) return status;
  const std::string path = path_ + kMadeAnew;
  PoolFile made;
  status = former.id == file_.id
               ? session_->Create(path, &made)
               : IOStatus::IOError(path_ + " is another file by now");
  if (status.ok()) {
    status = Fill(former, made);
    if (status.ok()) {
      status =
          session_->Change("rename", {{"source", path}, {"target", path_}});
    }
    // Where even this fails the next attempt makes it in place of this one.
    if (!status.ok()) {
      session_->Change("remove", {{"path", path}}).PermitUncheckedError();
      session_->Close(made);
    }
  }
  session_->Close(former);
  if (status.IsAborted()) return Retryable("the agent is gone again");
  if (!status.ok()) return status;
  // Else it would be one of those that the node may write, until the session
  // ends.
  session_->Close(file_);
  file_ = made;
  NoteSynced(synced_bytes_ + unsynced_.size());
  return status;
}

IOStatus PoolWritableFile::Fill(const PoolFile& from,
                                const PoolFile& to) const {
  IOStatus status = CopySynced(from, to);
  if (status.ok()) status = session_->Append(to, unsynced_);
  return status.ok() ? session_->Sync(to) : status;
}

IOStatus PoolWritableFile::CopySynced(const PoolFile& from,
                                      const PoolFile& to) const {
  std::vector<char> part(kCopyBytes);
  for (uint64_t done = 0; done < synced_bytes_;) {
    const size_t wanted = std::min<uint64_t>(part.size(), synced_bytes_ - done);
    size_t count = 0;
    IOStatus status = session_->Read(from, done, wanted, part.data(), &count);
    if (status.ok() && count < wanted) {
      status = IOStatus::IOError(path_ + " has lost what was synced");
    }
    if (status.ok()) status = session_->Append(to, {part.data(), count});
    if (!status.ok()) return status;
    done += count;
  }
  return IOStatus::OK();
}

}  // namespace sluice
