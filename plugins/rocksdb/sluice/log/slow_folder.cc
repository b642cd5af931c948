#include "sluice/log/slow_folder.h"

#include <memory>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;

constexpr char kLock[] = "/LOCK";
constexpr char kOwner[] = "/OWNER";
constexpr char kNewOwner[] = "/OWNER.new";

}  // namespace

std::string SlowFolderName(const std::string& path) {
  std::string name;
  for (const char c : path) {
    if (c == '/') {
      name += "%2F";
    } else if (c == '%') {
      name += "%25";
    } else {
      name.push_back(c);
    }
  }
  return name;
}

// Nothing where it is not there.
std::string SlowFolder::Text(const std::string& path) const {
  std::string text;
  ROCKSDB_NAMESPACE::ReadFileToString(files_, path, &text)
      .PermitUncheckedError();
  return text.substr(0, text.find('\n'));
}

bool SlowFolder::IsOwn() const {
  const std::string own = Text(identity_);
  return !own.empty() && Text(path_ + kOwner) == own;
}

IOStatus SlowFolder::CheckOwner() const {
  const std::string owner = Text(path_ + kOwner);
  const std::string own = Text(identity_);
  if (owner.empty() || own.empty() || owner == own) return IOStatus::OK();
  return IOStatus::IOError(
      path_, "it is of the database " + owner + ", and this one is " + own +
                 ": give each a wal_slow_directory of its own, or remove "
                 "that folder if that database is gone");
}

IOStatus SlowFolder::Make() {
  IOStatus status = files_->CreateDirIfMissing(path_, IOOptions(), nullptr);
  if (!status.ok()) return status;
  std::unique_ptr<FSDirectory> parent;
  status = files_->NewDirectory(path_.substr(0, path_.rfind('/')), IOOptions(),
                                &parent, nullptr);
  return status.ok() ? parent->Fsync(IOOptions(), nullptr) : status;
}

IOStatus SlowFolder::Claim() {
  std::lock_guard<std::mutex> lock(mutex_);
  IOStatus status = Make();
  if (status.ok()) {
    status = files_->LockFile(path_ + kLock, IOOptions(), &lock_, nullptr);
  }
  if (status.ok()) status = CheckOwner();
  if (!status.ok()) Unlock();
  return status;
}

IOStatus SlowFolder::WriteOwner() {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string own = Text(identity_);
  if (lock_ == nullptr || own.empty() || Text(path_ + kOwner) == own) {
    return IOStatus::OK();
  }
  IOStatus status = ROCKSDB_NAMESPACE::WriteStringToFile(
      files_, own + "\n", path_ + kNewOwner, /*should_sync=*/true);
  if (!status.ok()) return status;
  return files_->RenameFile(path_ + kNewOwner, path_ + kOwner, IOOptions(),
                            nullptr);
}

void SlowFolder::Release() {
  std::lock_guard<std::mutex> lock(mutex_);
  Unlock();
}

void SlowFolder::Unlock() {
  if (lock_ == nullptr) return;
  files_->UnlockFile(lock_, IOOptions(), nullptr).PermitUncheckedError();
  lock_ = nullptr;
}

}  // namespace sluice
