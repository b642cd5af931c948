#include "sluice/log/needed_logs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "db/log_reader.h"
#include "db/manifest_ops.h"
#include "db/version_edit_handler.h"
#include "file/sequence_file_reader.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyData;
using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::SequentialFileReader;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::VersionEdit;
using ROCKSDB_NAMESPACE::VersionEditHandlerBase;
namespace log = ROCKSDB_NAMESPACE::log;

// Goes through MANIFEST as the store does: of a group of edits, which may have
// lost its end, all count or none.
class OldestLog : public VersionEditHandlerBase {
 public:
  using VersionEditHandlerBase::VersionEditHandlerBase;

  uint64_t number() const { return number_; }

 protected:
  Status ApplyVersionEdit(VersionEdit& edit, ColumnFamilyData**) override {
    if (edit.HasMinLogNumberToKeep()) {
      number_ = std::max(number_, edit.GetMinLogNumberToKeep());
    }
    return Status::OK();
  }

 private:
  uint64_t number_ = 0;
};

class FirstError : public log::Reader::Reporter {
 public:
  void Corruption(size_t, const Status& error, uint64_t) override {
    if (status.ok()) status = error;
  }

  Status status;
};

}  // namespace

std::optional<uint64_t> OldestNeededLog(FileSystem* files,
                                        const std::string& database) {
  std::string path;
  uint64_t manifest_number = 0;
  Status status = ROCKSDB_NAMESPACE::GetCurrentManifestPath(
      database, files, /*is_retry=*/false, &path, &manifest_number);
  if (!status.ok()) return std::nullopt;
  std::unique_ptr<FSSequentialFile> file;
  status = files->NewSequentialFile(path, FileOptions(), &file, nullptr);
  if (!status.ok()) return std::nullopt;
  FirstError reported;
  log::Reader reader(
      nullptr, std::make_unique<SequentialFileReader>(std::move(file), path),
      &reported, /*checksum=*/true, /*log_num=*/0);
  const ReadOptions options;
  OldestLog oldest(options);
  oldest.Iterate(reader, &reported.status);
  if (!oldest.status().ok()) return std::nullopt;
  return oldest.number();
}

}  // namespace sluice
