// Where the files of the logs of one database are.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"
#include "sluice/log/log_names.h"
#include "sluice/log/log_paths.h"
#include "sluice/log/tiered_log_reader.h"

namespace sluice {

// The number from which on the store has removed no log.
using OldestNeeded = std::function<uint64_t()>;

// What is on the slow tier is in a folder of the database, NUMBER.slow-log;
// NUMBER.slow-log.obsolete once its log is about to be removed. Safe for
// threads.
class LogFiles {
 public:
  // `oldest_needed` is asked where it has to be known. Without it a log counts
  // as removed by the store that is not there while a newer one is.
  LogFiles(ROCKSDB_NAMESPACE::FileSystem* files, const std::string& directory,
           const std::string& slow_directory, OldestNeeded oldest_needed = {});

  const std::string& directory() const { return directory_; }
  const std::string& slow_directory() const { return slow_directory_; }
  LogNames* names() { return &names_; }
  // Whether what is in the slow folder may be removed: that of another database
  // may not. It may until this is called.
  void SetOwnsSlow(bool owns_slow) { owns_slow_ = owns_slow; }
  std::string SlowPath(uint64_t number) const;
  bool IsLog(const std::string& path) const;

  // Whether a log has the head of one on two tiers, or has lost it.
  ROCKSDB_NAMESPACE::IOStatus IsTiered(const std::string& path,
                                       bool* is_tiered) const;

  // A new log, with its head.
  ROCKSDB_NAMESPACE::IOStatus Make(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      LogId id, std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* fast);
  ROCKSDB_NAMESPACE::IOStatus MakeSlow(
      uint64_t number, LogId id,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* slow);
  ROCKSDB_NAMESPACE::IOStatus SyncDirectory();
  ROCKSDB_NAMESPACE::IOStatus SyncPromisedName(uint64_t number);

  // Nothing is written to a log any more, which has so many bytes.
  void Closed(const std::string& path, uint64_t bytes);

  // For the store, or for who copies a log and is told of damage by an error.
  ROCKSDB_NAMESPACE::IOStatus OpenForStore(
      const std::string& path,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSSequentialFile>* log);
  ROCKSDB_NAMESPACE::IOStatus OpenForCopy(
      const std::string& path, std::unique_ptr<TieredLogReader>* log);
  // Bytes of the log, not of its files. One that is damaged has those that can
  // be read of it, and an archived one whose slow part is gone those of the
  // file that is left.
  ROCKSDB_NAMESPACE::IOStatus Size(const std::string& path, uint64_t* bytes);
  ROCKSDB_NAMESPACE::IOStatus Remove(const std::string& path);
  ROCKSDB_NAMESPACE::IOStatus Rename(const std::string& path,
                                     const std::string& to);
  // Puts all of a log into `merged`, on the fast tier, in place of its two
  // files. False if it is not there any more.
  ROCKSDB_NAMESPACE::IOStatus Replace(const std::string& path,
                                      const std::string& merged,
                                      bool* was_there);
  // Removes what the slow tier has of a log that is gone, unless that is still
  // needed.
  void RemoveSlowOfGone(const std::string& path);

  // Removes what crashes have left, and what the slow tier has of logs that the
  // store has removed. Gives those that are gone otherwise: they are still
  // needed, or no log is there that is newer, and there is a part on the slow
  // tier, which is left alone.
  ROCKSDB_NAMESPACE::IOStatus Sweep(std::vector<uint64_t>* lost);
  // Gives the same, and changes nothing.
  ROCKSDB_NAMESPACE::IOStatus FindLost(std::vector<uint64_t>* lost) const;
  // IOError where a part of a log is gone that was on stable storage.
  ROCKSDB_NAMESPACE::IOStatus CheckAll();

 private:
  struct Listed {
    // The numbers of all logs, also of archived ones.
    std::set<uint64_t> logs;
    // Paths of those that are not archived, and of unfinished merges.
    std::vector<std::string> current;
    std::vector<std::string> merged;
  };
  ROCKSDB_NAMESPACE::IOStatus Open(const std::string& path,
                                   TieredLogReader::For what,
                                   std::unique_ptr<TieredLogReader>* log);
  ROCKSDB_NAMESPACE::IOStatus List(Listed* listed) const;
  // Parts on the slow tier whose logs are not there: lost ones, and the paths
  // of those that are left behind.
  ROCKSDB_NAMESPACE::IOStatus FindParts(const Listed& listed,
                                        std::vector<uint64_t>* lost,
                                        std::vector<std::string>* left) const;
  uint64_t OldestNeededNumber() const;
  // None of a file that cannot be looked at.
  uint64_t BytesOf(const std::string& path) const;
  void RemoveIfThere(const std::string& path);
  void RemoveSlow(uint64_t number);

  ROCKSDB_NAMESPACE::FileSystem* const files_;
  const std::string directory_;
  const std::string archive_;
  const std::string slow_directory_;
  const OldestNeeded oldest_needed_;
  std::atomic<bool> owns_slow_{true};
  LogNames names_;
  // A reader must open both files of a log before one of them goes.
  std::mutex mutex_;
  // Guards the two below; nothing is waited for under it.
  std::mutex state_mutex_;
  std::set<uint64_t> written_;
  std::map<uint64_t, uint64_t> sizes_;
};

}  // namespace sluice
