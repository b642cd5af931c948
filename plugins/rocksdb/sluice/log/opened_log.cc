#include "sluice/log/opened_log.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

// Nothing where there is none.
IOStatus OpenSlow(FileSystem* files, const std::string& path,
                  std::unique_ptr<FSRandomAccessFile>* slow, LogHead* head) {
  for (const std::string& each : {path, path + kObsoleteEnd}) {
    if (!files->FileExists(each, IOOptions(), nullptr).ok()) continue;
    return OpenWithHead(files, each, slow, head);
  }
  return IOStatus::OK();
}

}  // namespace

IOStatus OpenWithHead(FileSystem* files, const std::string& path,
                      std::unique_ptr<FSRandomAccessFile>* file,
                      LogHead* head) {
  IOStatus status =
      files->NewRandomAccessFile(path, FileOptions(), file, nullptr);
  if (!status.ok()) return status;
  char scratch[kHeadBytes];
  Slice bytes;
  status = (*file)->Read(0, kHeadBytes, IOOptions(), &bytes, scratch, nullptr);
  if (status.ok()) *head = ReadHead({bytes.data(), bytes.size()});
  return status;
}

// The slow one first: where it was merged into the other one and removed, the
// other one is the merged one then.
IOStatus OpenLog(FileSystem* files, const std::string& path,
                 const std::string& slow_path, OpenedLog* log) {
  *log = OpenedLog();
  LogHead slow_head;
  LogHead head;
  IOStatus status = OpenSlow(files, slow_path, &log->slow, &slow_head);
  if (status.ok()) status = OpenWithHead(files, path, &log->fast, &head);
  if (!status.ok()) return status;
  if (head.kind != HeadKind::kFast) {
    return IOStatus::IOError(path, "the head of this log is damaged");
  }
  log->id = head.id;
  // What is of another log, or was never used.
  const bool is_of_log =
      slow_head.kind == HeadKind::kSlow && slow_head.id == head.id;
  if (!is_of_log) log->slow.reset();
  return status;
}

}  // namespace sluice
