#include "sluice/remote/pooled_job_files.h"

#include <string>
#include <vector>

#include "sluice/pool/pool_path.h"
#include "sluice/remote/output_folder.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;

// Another one is needed only where a worker came to the directory meanwhile.
constexpr int kMostRemovals = 3;

// Whether it is not there any more.
bool RemoveOnce(PoolFileSystem* pool, const std::string& path) {
  const IOOptions options;
  // That of a worker which does not know of its end yet.
  pool->Release(path).PermitUncheckedError();
  std::vector<std::string> names;
  IOStatus status = pool->GetChildren(path, options, &names, nullptr);
  if (status.IsNotFound()) return true;
  for (const std::string& name : names) {
    pool->DeleteFile(path + "/" + name, options, nullptr)
        .PermitUncheckedError();
  }
  status = pool->DeleteDir(path, options, nullptr);
  return status.ok() || status.IsPathNotFound();
}

}  // namespace

std::string PooledJobFiles::CleanPath(const std::string& path) const {
  return PoolPath(path);
}

std::optional<uint64_t> PooledJobFiles::OutputBytes(
    const std::string& path) const {
  uint64_t bytes = 0;
  const IOStatus status =
      pool_->GetFileSize(path, IOOptions(), &bytes, nullptr);
  if (!status.ok()) return std::nullopt;
  return bytes;
}

bool PooledJobFiles::MakeOutputFolder(RemoteJob* job) const {
  IOStatus status = pool_->HoldForWorkers(&job->pool_session);
  if (!status.ok()) return false;
  status = pool_->CreateDir(job->output_path, IOOptions(), nullptr);
  return status.ok();
}

bool PooledJobFiles::TakeBackOutputFolder(const std::string& path) const {
  return pool_->Release(path).ok();
}

void PooledJobFiles::RemoveOutputFolder(const std::string& path) const {
  if (!IsOutputFolder(path)) return;
  for (int each = 0; each < kMostRemovals; ++each) {
    if (RemoveOnce(pool_.get(), path)) return;
  }
}

void PooledJobFiles::RemoveLeftOutputFolders(
    const std::string& parent,
    const std::function<bool(const std::string& path)>& is_in_use) const {
  std::vector<std::string> names;
  pool_->GetChildren(parent, IOOptions(), &names, nullptr)
      .PermitUncheckedError();
  for (const std::string& name : names) {
    const std::string path = PoolPath(parent + "/" + name);
    if (IsOutputFolder(path) && !is_in_use(path)) RemoveOutputFolder(path);
  }
}

}  // namespace sluice
