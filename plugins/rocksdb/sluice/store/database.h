// One open database of the process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/write_buffer_manager.h"
#include "sluice/io/task.h"
#include "sluice/monotonic_clock.h"
#include "sluice/store/family_state.h"

namespace sluice {

class Database {
 public:
  // `has_local_files` says that its files are those of this node, and not
  // those of a file system that the embedder has made itself.
  Database(std::string name, std::string path, bool has_local_files,
           std::shared_ptr<ROCKSDB_NAMESPACE::WriteBufferManager>
               write_buffers = nullptr);

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  bool has_local_files() const { return has_local_files_; }
  const std::shared_ptr<Freedom>& freedom() const { return freedom_; }

  void Opened(ROCKSDB_NAMESPACE::DB* db);
  bool Is(const ROCKSDB_NAMESPACE::DB* db) const;

  // Lets every task go on, cancels what was started by order, and waits until
  // nothing here uses the store any more.
  void Shutdown();

  // Runs `use` while the store cannot be closed; false if it is closed.
  bool Use(const std::function<void(ROCKSDB_NAMESPACE::DB*)>& use);

  // True once the store closes: what was started by order ends then.
  std::atomic<bool>* cancelled() { return &cancelled_; }

  // Looks at the families anew.
  void Refresh();
  std::vector<FamilyState> Families() const;
  std::optional<FamilyState> Family(uint32_t id) const;
  bool HasFamily(const std::string& printable_name) const;

  // Remembers that a compaction of the family was put off at this moment.
  void SetPutOff(uint32_t family, TimePoint now);
  // Since when compactions of a family are put off, if they still are.
  std::optional<TimePoint> PutOffSince(uint32_t family, TimePoint now) const;

  // Writes are slowed down or stopped, says the store, which tells nobody of
  // those that a write buffer manager stops: that one is asked.
  void SetStalled(const std::string& family, bool is_stalled);
  bool IsStalled() const;

 private:
  struct PutOff {
    TimePoint since;
    TimePoint last;
  };

  void EndUse();

  const std::string name_;
  const std::string path_;
  const bool has_local_files_;
  // The embedder's own, if there is one.
  const std::shared_ptr<ROCKSDB_NAMESPACE::WriteBufferManager> write_buffers_;
  const std::shared_ptr<Freedom> freedom_ = std::make_shared<Freedom>(false);
  std::atomic<bool> cancelled_{false};

  // Guards the pointer; never held while the store is called.
  mutable std::mutex use_mutex_;
  std::condition_variable unused_;
  ROCKSDB_NAMESPACE::DB* db_ = nullptr;
  int users_ = 0;

  // Taken by the gate, which holds the store's mutex: no store calls inside.
  mutable std::mutex state_mutex_;
  std::vector<FamilyState> families_;
  std::map<uint32_t, PutOff> put_off_;
  std::map<std::string, bool> stalled_;
};

}  // namespace sluice
