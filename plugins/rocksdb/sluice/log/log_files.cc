#include "sluice/log/log_files.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <string_view>
#include <utility>

#include "sluice/log/log_frame.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

constexpr std::string_view kLogEnd = ".log";
constexpr std::string_view kSlowEnd = ".slow-log";
constexpr char kObsoleteEnd[] = ".obsolete";
constexpr std::string_view kMergedEnd = ".log.merged";

std::optional<uint64_t> NumberBefore(std::string_view name,
                                     std::string_view end) {
  if (name.size() <= end.size() ||
      name.substr(name.size() - end.size()) != end) {
    return std::nullopt;
  }
  name.remove_suffix(end.size());
  uint64_t number = 0;
  const auto read =
      std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_number =
      read.ec == std::errc() && read.ptr == name.data() + name.size();
  return is_number ? std::optional(number) : std::nullopt;
}

std::string NameIn(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : PlainPath(path.substr(0, slash));
}

uint64_t NumberOf(const std::string& path) { return *LogNumber(NameIn(path)); }

IOStatus WriteHead(const std::string& head, FSWritableFile* file) {
  return file->Append(head, IOOptions(), nullptr);
}

IOStatus SyncFolder(FileSystem* files, const std::string& path) {
  std::unique_ptr<FSDirectory> folder;
  IOStatus status = files->NewDirectory(path, IOOptions(), &folder, nullptr);
  return status.ok() ? folder->Fsync(IOOptions(), nullptr) : status;
}

// Nothing where there is none.
IOStatus OpenSlow(FileSystem* files, const std::string& path,
                  std::unique_ptr<FSRandomAccessFile>* slow) {
  for (const std::string& each : {path, path + kObsoleteEnd}) {
    if (!files->FileExists(each, IOOptions(), nullptr).ok()) continue;
    return files->NewRandomAccessFile(each, FileOptions(), slow, nullptr);
  }
  return IOStatus::OK();
}

}  // namespace

std::optional<uint64_t> LogNumber(const std::string& file_name) {
  return NumberBefore(file_name, kLogEnd);
}

std::string PlainPath(const std::string& path) {
  std::string plain;
  for (const char c : path) {
    if (c != '/' || plain.empty() || plain.back() != '/') plain.push_back(c);
  }
  if (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain;
}

LogFiles::LogFiles(FileSystem* files, const std::string& directory,
                   const std::string& slow_directory)
    : files_(files),
      directory_(PlainPath(directory)),
      archive_(directory_ + "/archive"),
      slow_directory_(PlainPath(slow_directory)) {}

std::string LogFiles::SlowPath(uint64_t number) const {
  char name[32];
  std::snprintf(name, sizeof(name), "/%06" PRIu64, number);
  return slow_directory_ + name + std::string(kSlowEnd);
}

bool LogFiles::IsLog(const std::string& path) const {
  const std::string folder = FolderOf(path);
  return (folder == directory_ || folder == archive_) &&
         LogNumber(NameIn(path)).has_value();
}

bool LogFiles::Exists(const std::string& path) const {
  return files_->FileExists(path, IOOptions(), nullptr).ok();
}

void LogFiles::RemoveIfThere(const std::string& path) {
  files_->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
}

void LogFiles::RemoveSlow(uint64_t number) {
  RemoveIfThere(SlowPath(number));
  RemoveIfThere(SlowPath(number) + kObsoleteEnd);
}

bool LogFiles::IsThere(uint64_t number) const {
  char name[32];
  std::snprintf(name, sizeof(name), "/%06" PRIu64 ".log", number);
  return Exists(directory_ + name) || Exists(archive_ + name);
}

IOStatus LogFiles::SyncDirectory() { return SyncFolder(files_, directory_); }

IOStatus LogFiles::IsTiered(const std::string& path, bool* is_tiered) const {
  *is_tiered = false;
  std::unique_ptr<FSRandomAccessFile> file;
  IOStatus status =
      files_->NewRandomAccessFile(path, FileOptions(), &file, nullptr);
  if (!status.ok()) return status;
  char scratch[kHeadBytes];
  Slice head;
  status = file->Read(0, kHeadBytes, IOOptions(), &head, scratch, nullptr);
  *is_tiered = status.ok() && head == Slice(FastHead());
  return status;
}

// A number may come again where an opening of the database has failed.
IOStatus LogFiles::Make(const std::string& path, const FileOptions& options,
                        std::unique_ptr<FSWritableFile>* fast) {
  const uint64_t number = NumberOf(path);
  RemoveSlow(number);
  {
    std::lock_guard<std::mutex> lock(state_mutex_);
    written_.insert(number);
    sizes_.erase(number);
  }
  IOStatus status = files_->NewWritableFile(path, options, fast, nullptr);
  return status.ok() ? WriteHead(FastHead(), fast->get()) : status;
}

IOStatus LogFiles::MakeSlow(uint64_t number,
                            std::unique_ptr<FSWritableFile>* slow) {
  IOStatus status =
      files_->NewWritableFile(SlowPath(number), FileOptions(), slow, nullptr);
  if (status.ok()) status = WriteHead(SlowHead(), slow->get());
  if (status.ok()) status = (*slow)->Sync(IOOptions(), nullptr);
  if (status.ok()) status = SyncFolder(files_, slow_directory_);
  if (!status.ok()) slow->reset();
  return status;
}

void LogFiles::Closed(const std::string& path, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(state_mutex_);
  written_.erase(NumberOf(path));
  sizes_[NumberOf(path)] = bytes;
}

IOStatus LogFiles::Open(const std::string& path, TieredLogReader::For what,
                        std::unique_ptr<TieredLogReader>* log) {
  const std::string slow_path = SlowPath(NumberOf(path));
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<FSRandomAccessFile> fast;
  IOStatus status =
      files_->NewRandomAccessFile(path, FileOptions(), &fast, nullptr);
  std::unique_ptr<FSRandomAccessFile> slow;
  if (status.ok()) status = OpenSlow(files_, slow_path, &slow);
  if (!status.ok()) return status;
  // Nothing of this object: a reader may be there longer.
  *log = std::make_unique<TieredLogReader>(
      path, what, std::move(fast), std::move(slow),
      [files = files_, slow_path](std::unique_ptr<FSRandomAccessFile>* later) {
        return OpenSlow(files, slow_path, later);
      });
  return status;
}

IOStatus LogFiles::OpenForStore(const std::string& path,
                                std::unique_ptr<FSSequentialFile>* log) {
  bool is_written;
  {
    std::lock_guard<std::mutex> lock(state_mutex_);
    is_written = written_.count(NumberOf(path)) > 0;
  }
  std::unique_ptr<TieredLogReader> reader;
  IOStatus status = Open(path,
                         is_written ? TieredLogReader::For::kFollowing
                                    : TieredLogReader::For::kRecovery,
                         &reader);
  if (status.ok()) *log = std::move(reader);
  return status;
}

IOStatus LogFiles::OpenForCopy(const std::string& path,
                               std::unique_ptr<TieredLogReader>* log) {
  return Open(path, TieredLogReader::For::kCopy, log);
}

IOStatus LogFiles::Size(const std::string& path, uint64_t* bytes) {
  const uint64_t number = NumberOf(path);
  {
    std::lock_guard<std::mutex> lock(state_mutex_);
    const auto known = sizes_.find(number);
    if (known != sizes_.end()) {
      *bytes = known->second;
      return IOStatus::OK();
    }
  }
  std::unique_ptr<TieredLogReader> log;
  IOStatus status = OpenForCopy(path, &log);
  if (!status.ok()) return status;
  status = log->Skip(UINT64_MAX);
  *bytes = log->offset();
  if (!status.ok()) return status.IsCorruption() ? IOStatus::OK() : status;
  std::lock_guard<std::mutex> lock(state_mutex_);
  if (written_.count(number) == 0) sizes_[number] = *bytes;
  return status;
}

// In an order in which a crash leaves nothing that looks as if it had been
// lost on one of the tiers.
IOStatus LogFiles::Remove(const std::string& path) {
  const uint64_t number = NumberOf(path);
  const std::string slow = SlowPath(number);
  std::lock_guard<std::mutex> lock(mutex_);
  const bool has_slow =
      files_->RenameFile(slow, slow + kObsoleteEnd, IOOptions(), nullptr).ok();
  IOStatus status = files_->DeleteFile(path, IOOptions(), nullptr);
  if (!status.ok()) return status;
  if (has_slow) RemoveSlow(number);
  std::lock_guard<std::mutex> state_lock(state_mutex_);
  written_.erase(number);
  sizes_.erase(number);
  return status;
}

// To the archive it goes as it is. What gets another name is about to be
// removed: RocksDB does so where files are removed slowly.
IOStatus LogFiles::Rename(const std::string& path, const std::string& to) {
  std::lock_guard<std::mutex> lock(mutex_);
  IOStatus status = files_->RenameFile(path, to, IOOptions(), nullptr);
  if (status.ok() && !IsLog(to)) RemoveSlow(NumberOf(path));
  return status;
}

IOStatus LogFiles::Replace(const std::string& path, const std::string& merged,
                           bool* was_there) {
  std::lock_guard<std::mutex> lock(mutex_);
  *was_there = Exists(path);
  if (!*was_there) return IOStatus::OK();
  IOStatus status = files_->RenameFile(merged, path, IOOptions(), nullptr);
  if (status.ok()) status = SyncDirectory();
  if (status.ok()) RemoveSlow(NumberOf(path));
  return status;
}

void LogFiles::RemoveSlowOfGone(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!IsThere(NumberOf(path))) RemoveSlow(NumberOf(path));
}

IOStatus LogFiles::NewestLog(std::optional<uint64_t>* newest) {
  for (const std::string& folder : {directory_, archive_}) {
    if (!Exists(folder)) continue;
    std::vector<std::string> names;
    IOStatus status = files_->GetChildren(folder, IOOptions(), &names, nullptr);
    if (!status.ok()) return status;
    for (const std::string& name : names) {
      const auto number = LogNumber(name);
      if (number) *newest = std::max(newest->value_or(0), *number);
      if (NumberBefore(name, kMergedEnd)) RemoveIfThere(folder + "/" + name);
    }
  }
  return IOStatus::OK();
}

IOStatus LogFiles::Sweep(std::vector<uint64_t>* lost) {
  std::optional<uint64_t> newest;
  IOStatus status = NewestLog(&newest);
  if (status.ok()) {
    status = files_->CreateDirIfMissing(slow_directory_, IOOptions(), nullptr);
  }
  if (status.ok()) status = SyncFolder(files_, FolderOf(slow_directory_));
  std::vector<std::string> names;
  if (status.ok()) {
    status = files_->GetChildren(slow_directory_, IOOptions(), &names, nullptr);
  }
  for (const std::string& name : names) {
    if (!status.ok()) break;
    status = SweepSlow(name, newest, lost);
  }
  std::sort(lost->begin(), lost->end());
  return status;
}

// RocksDB removes a log only while there is a newer one.
IOStatus LogFiles::SweepSlow(const std::string& name,
                             std::optional<uint64_t> newest,
                             std::vector<uint64_t>* lost) {
  const std::string path = slow_directory_ + "/" + name;
  const auto obsolete =
      NumberBefore(name, std::string(kSlowEnd) + kObsoleteEnd);
  const auto number = obsolete ? obsolete : NumberBefore(name, kSlowEnd);
  if (!number || IsThere(*number)) return IOStatus::OK();
  uint64_t bytes = 0;
  IOStatus status = files_->GetFileSize(path, IOOptions(), &bytes, nullptr);
  if (!status.ok()) return status;
  const bool was_removed = obsolete || (newest && *number < *newest);
  // With a head alone it has not been used yet.
  if (was_removed || bytes <= kHeadBytes) {
    RemoveIfThere(path);
  } else {
    lost->push_back(*number);
  }
  return IOStatus::OK();
}

}  // namespace sluice
