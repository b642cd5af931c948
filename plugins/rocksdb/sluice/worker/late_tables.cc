#include "sluice/worker/late_tables.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

constexpr std::string_view kTable = ".sst";

// What it is told before it is opened are hints alone, and of no use to one
// that is hardly ever read.
class LateFile : public FSRandomAccessFile {
 public:
  LateFile(FileSystem* files, const std::string& path,
           const FileOptions& options)
      : files_(files), path_(path), options_(options) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions& options,
                Slice* result, char* scratch,
                IODebugContext* debug) const override {
    std::call_once(is_opened_, [this] {
      status_ = files_->NewRandomAccessFile(path_, options_, &file_, nullptr);
    });
    return status_.ok()
               ? file_->Read(offset, size, options, result, scratch, debug)
               : status_;
  }

 private:
  FileSystem* const files_;
  const std::string path_;
  const FileOptions options_;
  mutable std::once_flag is_opened_;
  mutable IOStatus status_;
  mutable std::unique_ptr<FSRandomAccessFile> file_;
};

}  // namespace

IOStatus LateTables::NewRandomAccessFile(
    const std::string& path, const FileOptions& options,
    std::unique_ptr<FSRandomAccessFile>* file, IODebugContext* debug) {
  if (!IsLate(path, options)) {
    return target()->NewRandomAccessFile(path, options, file, debug);
  }
  *file = std::make_unique<LateFile>(target(), path, options);
  return IOStatus::OK();
}

// How direct reads are aligned an open file alone can say, and one that is
// mapped has no copies.
bool LateTables::IsLate(const std::string& path,
                        const FileOptions& options) const {
  if (options.use_direct_reads || options.use_mmap_reads) return false;
  if (path.rfind(folder_, 0) != 0 || path.size() < kTable.size() ||
      path.compare(path.size() - kTable.size(), kTable.size(), kTable) != 0) {
    return false;
  }
  // Names are NUMBER.sst.
  const uint64_t number =
      std::strtoull(path.c_str() + folder_.size(), nullptr, 10);
  return numbers_.count(number) == 0;
}

}  // namespace sluice
