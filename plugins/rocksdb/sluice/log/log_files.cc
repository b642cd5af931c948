#include "sluice/log/log_files.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "sluice/log/blank_ahead_file.h"
#include "sluice/log/log_frame.h"
#include "sluice/log/opened_log.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::FSRandomRWFile;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

constexpr std::string_view kSlowEnd = ".slow-log";
constexpr std::string_view kMergedEnd = ".log.merged";
constexpr char kArchive[] = "archive";

uint64_t NumberOf(const std::string& path) { return *LogNumber(NameIn(path)); }

IOStatus WriteHead(const std::string& head, FSWritableFile* file) {
  return file->Append(head, IOOptions(), nullptr);
}

IOStatus SyncFolder(FileSystem* files, const std::string& path) {
  std::unique_ptr<FSDirectory> folder;
  IOStatus status = files->NewDirectory(path, IOOptions(), &folder, nullptr);
  return status.ok() ? folder->Fsync(IOOptions(), nullptr) : status;
}

// Not all file systems have files that are written anywhere: there, what is
// appended makes the file longer.
std::unique_ptr<FSWritableFile> WithBlankSpace(
    FileSystem* files, const std::string& path,
    std::unique_ptr<FSWritableFile> file, uint64_t bytes) {
  std::unique_ptr<FSRandomRWFile> anywhere;
  IOStatus status =
      files->NewRandomRWFile(path, FileOptions(), &anywhere, nullptr);
  if (!status.ok()) return file;
  return std::make_unique<BlankAheadFile>(std::move(anywhere), bytes);
}

// A folder that is not there has none.
IOStatus NamesIn(FileSystem* files, const std::string& folder,
                 std::vector<std::string>* names) {
  IOStatus status = files->GetChildren(folder, IOOptions(), names, nullptr);
  const bool is_gone = status.IsNotFound() || status.IsPathNotFound();
  return is_gone ? IOStatus::OK() : status;
}

}  // namespace

LogFiles::LogFiles(FileSystem* files, const std::string& directory,
                   const std::string& slow_directory,
                   OldestNeeded oldest_needed)
    : files_(files),
      directory_(PlainPath(directory)),
      archive_(directory_ + "/" + kArchive),
      slow_directory_(PlainPath(slow_directory)),
      oldest_needed_(std::move(oldest_needed)) {}

std::string LogFiles::SlowPath(uint64_t number) const {
  return slow_directory_ + "/" + NumberedName(number, kSlowEnd);
}

bool LogFiles::IsLog(const std::string& path) const {
  const std::string folder = FolderOf(path);
  return (folder == directory_ || folder == archive_) &&
         LogNumber(NameIn(path)).has_value();
}

void LogFiles::RemoveIfThere(const std::string& path) {
  files_->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
}

void LogFiles::RemoveSlow(uint64_t number) {
  if (!owns_slow_) return;
  RemoveIfThere(SlowPath(number));
  RemoveIfThere(SlowPath(number) + kObsoleteEnd);
}

IOStatus LogFiles::SyncDirectory() {
  return names_.Sync([this] { return SyncFolder(files_, directory_); });
}

IOStatus LogFiles::SyncPromisedName(uint64_t number) {
  return names_.SyncPromised(number,
                             [this] { return SyncFolder(files_, directory_); });
}

IOStatus LogFiles::IsTiered(const std::string& path, bool* is_tiered) const {
  *is_tiered = false;
  std::unique_ptr<FSRandomAccessFile> file;
  LogHead head;
  IOStatus status = OpenWithHead(files_, path, &file, &head);
  if (!status.ok()) return status;
  *is_tiered = head.kind != HeadKind::kOther;
  // The slow tier has nothing of a log before its head is on stable storage.
  if (!*is_tiered && BytesOf(path) < kHeadBytes) {
    *is_tiered = BytesOf(SlowPath(NumberOf(path))) > kHeadBytes;
  }
  return status;
}

uint64_t LogFiles::BytesOf(const std::string& path) const {
  uint64_t bytes = 0;
  IOStatus status = files_->GetFileSize(path, IOOptions(), &bytes, nullptr);
  return status.ok() ? bytes : 0;
}

// A number may come again where an opening of the database has failed.
IOStatus LogFiles::Make(const std::string& path, const FileOptions& options,
                        LogId id, std::unique_ptr<FSWritableFile>* fast) {
  const uint64_t number = NumberOf(path);
  RemoveSlow(number);
  {
    std::lock_guard<std::mutex> lock(state_mutex_);
    written_.insert(number);
    sizes_.erase(number);
  }
  IOStatus status = files_->NewWritableFile(path, options, fast, nullptr);
  if (!status.ok()) return status;
  names_.Made(number);
  return WriteHead(FastHead(id), fast->get());
}

IOStatus LogFiles::MakeSlow(uint64_t number, LogId id,
                            std::unique_ptr<FSWritableFile>* slow) {
  const std::string path = SlowPath(number);
  std::unique_ptr<FSWritableFile> made;
  IOStatus status =
      files_->NewWritableFile(path, FileOptions(), &made, nullptr);
  if (status.ok()) status = WriteHead(SlowHead(id), made.get());
  if (status.ok()) status = made->Sync(IOOptions(), nullptr);
  if (status.ok()) status = SyncFolder(files_, slow_directory_);
  if (!status.ok()) return status;
  *slow = WithBlankSpace(files_, path, std::move(made), kHeadBytes);
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
  const std::string archived = archive_ + "/" + NameIn(path);
  std::lock_guard<std::mutex> lock(mutex_);
  OpenedLog opened;
  IOStatus status = OpenLog(files_, path, slow_path, &opened);
  if (!status.ok()) return status;
  // Nothing of this object: a reader may be there longer.
  auto reopen = [files = files_, path, archived, slow_path](OpenedLog* now) {
    const IOStatus found = OpenLog(files, path, slow_path, now);
    const bool is_gone = found.IsNotFound() || found.IsPathNotFound();
    return is_gone ? OpenLog(files, archived, slow_path, now) : found;
  };
  *log = std::make_unique<TieredLogReader>(path, what, std::move(opened),
                                           std::move(reopen));
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
  if (status.IsCorruption()) return IOStatus::OK();
  // Nothing needs it any more: it is listed, and removed in its time. Not as an
  // empty one, which would be at once.
  if (status.IsIOError() && FolderOf(path) == archive_) {
    return files_->GetFileSize(path, IOOptions(), bytes, nullptr);
  }
  if (!status.ok()) return status;
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
  // It has none, or it has had that name since an attempt that failed.
  if (owns_slow_) {
    files_->RenameFile(slow, slow + kObsoleteEnd, IOOptions(), nullptr)
        .PermitUncheckedError();
  }
  IOStatus status = files_->DeleteFile(path, IOOptions(), nullptr);
  if (!status.ok()) return status;
  RemoveSlow(number);
  names_.Removed(number);
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
  *was_there = files_->FileExists(path, IOOptions(), nullptr).ok();
  if (!*was_there) return IOStatus::OK();
  IOStatus status = files_->RenameFile(merged, path, IOOptions(), nullptr);
  if (status.ok()) status = SyncDirectory();
  if (status.ok()) RemoveSlow(NumberOf(path));
  return status;
}

uint64_t LogFiles::OldestNeededNumber() const {
  return oldest_needed_ ? oldest_needed_() : UINT64_MAX;
}

// One that the store has not removed is missed at the next opening.
void LogFiles::RemoveSlowOfGone(const std::string& path) {
  const uint64_t number = NumberOf(path);
  std::lock_guard<std::mutex> lock(mutex_);
  Listed listed;
  if (!List(&listed).ok() || listed.logs.contains(number)) return;
  const bool has_part =
      !files_->FileExists(SlowPath(number), IOOptions(), nullptr).IsNotFound();
  if (has_part && number >= OldestNeededNumber()) return;
  RemoveSlow(number);
}

// By what a folder lists: that a file cannot be looked at says nothing of
// whether it is there.
IOStatus LogFiles::List(Listed* listed) const {
  std::vector<std::string> names;
  IOStatus status = NamesIn(files_, directory_, &names);
  if (!status.ok()) return status;
  if (std::find(names.begin(), names.end(), kArchive) != names.end()) {
    std::vector<std::string> archived;
    status = files_->GetChildren(archive_, IOOptions(), &archived, nullptr);
    if (!status.ok()) return status;
    for (const std::string& name : archived) {
      if (const auto number = LogNumber(name)) listed->logs.insert(*number);
    }
  }
  for (const std::string& name : names) {
    if (NumberBefore(name, kMergedEnd)) {
      listed->merged.push_back(directory_ + "/" + name);
    }
    if (!LogNumber(name)) continue;
    listed->logs.insert(*LogNumber(name));
    listed->current.push_back(directory_ + "/" + name);
  }
  return status;
}

IOStatus LogFiles::Sweep(std::vector<uint64_t>* lost) {
  Listed listed;
  IOStatus status = List(&listed);
  std::vector<std::string> left;
  if (status.ok()) status = FindParts(listed, lost, &left);
  if (!status.ok()) return status;
  for (const std::string& path : listed.merged) RemoveIfThere(path);
  for (const std::string& path : left) RemoveIfThere(path);
  return status;
}

IOStatus LogFiles::FindLost(std::vector<uint64_t>* lost) const {
  Listed listed;
  IOStatus status = List(&listed);
  std::vector<std::string> left;
  return status.ok() ? FindParts(listed, lost, &left) : status;
}

// RocksDB removes a log only while there is a newer one.
IOStatus LogFiles::FindParts(const Listed& listed, std::vector<uint64_t>* lost,
                             std::vector<std::string>* left) const {
  std::optional<uint64_t> oldest_needed;
  const auto is_needed = [&](uint64_t number) {
    if (!oldest_needed) oldest_needed = OldestNeededNumber();
    return number >= *oldest_needed;
  };
  const uint64_t newest = listed.logs.empty() ? 0 : *listed.logs.rbegin();
  std::vector<std::string> names;
  IOStatus status = NamesIn(files_, slow_directory_, &names);
  for (const std::string& name : names) {
    const auto obsolete =
        NumberBefore(name, std::string(kSlowEnd) + kObsoleteEnd);
    const auto number = obsolete ? obsolete : NumberBefore(name, kSlowEnd);
    if (!number || listed.logs.contains(*number)) continue;
    const std::string path = slow_directory_ + "/" + name;
    uint64_t bytes = 0;
    status = files_->GetFileSize(path, IOOptions(), &bytes, nullptr);
    if (!status.ok()) return status;
    // With a head alone it has not been used yet.
    const bool is_of_no_log = obsolete || bytes <= kHeadBytes;
    if (is_of_no_log || (*number < newest && !is_needed(*number))) {
      left->push_back(path);
    } else {
      lost->push_back(*number);
    }
  }
  std::sort(lost->begin(), lost->end());
  return status;
}

IOStatus LogFiles::CheckAll() {
  Listed listed;
  IOStatus status = List(&listed);
  for (const std::string& path : listed.current) {
    bool is_tiered = false;
    if (status.ok()) status = IsTiered(path, &is_tiered);
    std::unique_ptr<TieredLogReader> log;
    if (status.ok() && is_tiered) status = OpenForCopy(path, &log);
    if (log) status = log->Skip(UINT64_MAX);
    // Damage is for the recovery mode to judge.
    if (status.IsCorruption()) status = IOStatus::OK();
    if (!status.ok()) return status;
  }
  return status;
}

}  // namespace sluice
