// sluice-wal-export: logs on two tiers as logs of RocksDB, for a program
// without the plug-in.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"
#include "sluice/log/log_files.h"
#include "sluice/log/needed_logs.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSDirectory;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

constexpr char kHelp[] =
    R"(Usage: sluice-wal-export LOGS SLOW OUTPUT

Writes the logs of a RocksDB database that are on two tiers as plain logs, which
any RocksDB of the same version reads. The database must be closed; nothing of
it is changed.

  LOGS    folder of the logs: the database's, or its wal_dir
  SLOW    the database's folder below wal_slow_directory
  OUTPUT  folder to write to; it is made, and must not have logs yet

Logs that are plain already are copied. To open the database without the
plug-in, put those of OUTPUT in the place of those in LOGS.

Status: 0 if all was written; 1 if a log is damaged or a part of it is gone,
which is then said with its name; 2 if the arguments are not as above.
)";

constexpr size_t kPartBytes = 1 << 20;

IOStatus OpenLog(FileSystem* files, LogFiles* logs, const std::string& path,
                 std::unique_ptr<FSSequentialFile>* log) {
  bool is_tiered = false;
  IOStatus status = logs->IsTiered(path, &is_tiered);
  if (!status.ok()) return status;
  if (!is_tiered) {
    return files->NewSequentialFile(path, FileOptions(), log, nullptr);
  }
  std::unique_ptr<TieredLogReader> tiered;
  status = logs->OpenForCopy(path, &tiered);
  *log = std::move(tiered);
  return status;
}

IOStatus Copy(FSSequentialFile* from, FSWritableFile* to) {
  std::string part(kPartBytes, '\0');
  for (;;) {
    Slice read;
    IOStatus status =
        from->Read(part.size(), IOOptions(), &read, part.data(), nullptr);
    const bool is_end = !status.ok() || read.empty();
    IOStatus written =
        read.empty() ? IOStatus::OK() : to->Append(read, IOOptions(), nullptr);
    if (is_end) return status;
    if (!written.ok()) return written;
  }
}

IOStatus Export(FileSystem* files, LogFiles* logs, const std::string& path,
                const std::string& to) {
  std::unique_ptr<FSSequentialFile> log;
  IOStatus status = OpenLog(files, logs, path, &log);
  std::unique_ptr<FSWritableFile> file;
  if (status.ok()) {
    status = files->NewWritableFile(to, FileOptions(), &file, nullptr);
  }
  if (status.ok()) status = Copy(log.get(), file.get());
  if (status.ok()) status = file->Sync(IOOptions(), nullptr);
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  return status;
}

// The names of logs in a folder.
IOStatus LogsIn(FileSystem* files, const std::string& folder,
                std::vector<std::string>* names) {
  IOStatus status = files->GetChildren(folder, IOOptions(), names, nullptr);
  std::erase_if(*names, [](const auto& each) { return !LogNumber(each); });
  return status;
}

int Fail(const std::string& message, int status) {
  std::fprintf(stderr, "sluice-wal-export: %s\n", message.c_str());
  return status;
}

IOStatus SyncFolder(FileSystem* files, const std::string& path) {
  std::unique_ptr<FSDirectory> folder;
  IOStatus status = files->NewDirectory(path, IOOptions(), &folder, nullptr);
  return status.ok() ? folder->Fsync(IOOptions(), nullptr) : status;
}

// Says which logs are not in `from`, while the slow tier has a part of them.
int TellLost(const LogFiles& logs, const std::string& from) {
  std::vector<uint64_t> lost;
  const IOStatus status = logs.FindLost(&lost);
  if (!status.ok()) return Fail(status.ToString(), EXIT_FAILURE);
  int result = EXIT_SUCCESS;
  for (const uint64_t number : lost) {
    result = Fail("the log " + std::to_string(number) + " is not in " + from +
                      ", and " + logs.slow_directory() + " has a part of it",
                  EXIT_FAILURE);
  }
  return result;
}

int ExportAll(const std::string& from, const std::string& slow,
              const std::string& to) {
  FileSystem* const files = FileSystem::Default().get();
  std::vector<std::string> names;
  IOStatus status = LogsIn(files, from, &names);
  if (!status.ok()) return Fail(status.ToString(), 2);
  if (names.empty()) return Fail("there is no log in " + from, 2);
  std::vector<std::string> present;
  status = files->CreateDirIfMissing(to, IOOptions(), nullptr);
  if (status.ok()) status = LogsIn(files, to, &present);
  if (!status.ok()) return Fail(status.ToString(), 2);
  if (!present.empty()) {
    return Fail("there are logs in " + to + ": name a new folder", 2);
  }
  // In a folder of their own only a newer log says what was removed.
  LogFiles logs(files, from, slow, [=] {
    return OldestNeededLog(files, from).value_or(UINT64_MAX);
  });
  int result = TellLost(logs, from);
  for (const std::string& name : names) {
    const std::string written = PlainPath(to) + "/" + name;
    status = Export(files, &logs, PlainPath(from) + "/" + name, written);
    if (status.ok()) {
      std::printf("%s\n", written.c_str());
      continue;
    }
    result = Fail(name + ": " + status.ToString() + "; " + written +
                      " has what comes before",
                  EXIT_FAILURE);
  }
  status = SyncFolder(files, to);
  return status.ok() ? result : Fail(status.ToString(), EXIT_FAILURE);
}

int Main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "--help") == 0) {
    std::fputs(kHelp, stdout);
    return EXIT_SUCCESS;
  }
  if (count != 4) {
    return Fail("it takes three folders: sluice-wal-export --help", 2);
  }
  return ExportAll(arguments[1], arguments[2], arguments[3]);
}

}  // namespace
}  // namespace sluice

int main(int count, char** arguments) { return sluice::Main(count, arguments); }
