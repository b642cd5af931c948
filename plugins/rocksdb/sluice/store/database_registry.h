// The databases of the process.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sluice/store/database.h"

namespace sluice {

using OpenDatabases = std::vector<std::shared_ptr<Database>>;

// Those that are open or just being opened; they belong to their listeners.
// Safe for threads.
class DatabaseRegistry {
 public:
  // Gives the database a name that no other path has, `wanted` if it can be.
  // Says in `is_first` whether there was none.
  std::shared_ptr<Database> Add(const std::string& wanted, DatabaseParts parts,
                                bool* is_first);

  struct Removal {
    bool was_there = false;
    bool is_last = false;
    // No other attempt to open the same path has its name.
    bool frees_name = false;
  };
  // May be told twice.
  Removal Remove(const Database* database);

  OpenDatabases All() const;
  // The open one that is this store.
  std::shared_ptr<Database> Find(const ROCKSDB_NAMESPACE::DB* db) const;
  // The open one there, or else the last attempt to open it.
  std::shared_ptr<Database> At(const std::string& path) const;
  // Debt of compactions of those in a scope that is "" or a database.
  double CompactionDebtBytes(const std::string& scope) const;

 private:
  OpenDatabases Locked() const;
  std::string FreeName(const std::string& path,
                       const std::string& wanted) const;

  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Database>> databases_;
};

}  // namespace sluice
