#include "sluice/store/database_registry.h"

#include <algorithm>
#include <utility>

#include "sluice/store/scope_names.h"
#include "sluice/text/printable.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DB;

}  // namespace

std::shared_ptr<Database> DatabaseRegistry::Add(const std::string& wanted,
                                                DatabaseParts parts,
                                                bool* is_first) {
  std::lock_guard<std::mutex> lock(mutex_);
  // One that could not be prepared to its end was not removed either.
  std::erase_if(databases_, [](const auto& each) { return each.expired(); });
  *is_first = databases_.empty();
  parts.name = FreeName(parts.path, wanted);
  auto database = std::make_shared<Database>(std::move(parts));
  databases_.push_back(database);
  return database;
}

DatabaseRegistry::Removal DatabaseRegistry::Remove(const Database* database) {
  std::lock_guard<std::mutex> lock(mutex_);
  Removal removal;
  removal.was_there = std::erase_if(databases_, [&](const auto& each) {
                        return each.lock().get() == database;
                      }) > 0;
  removal.is_last = databases_.empty();
  const auto others = Locked();
  removal.frees_name = std::none_of(
      others.begin(), others.end(),
      [&](const auto& each) { return each->name() == database->name(); });
  return removal;
}

OpenDatabases DatabaseRegistry::All() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return Locked();
}

OpenDatabases DatabaseRegistry::Locked() const {
  OpenDatabases open;
  for (const auto& each : databases_) {
    if (auto database = each.lock()) open.push_back(std::move(database));
  }
  return open;
}

// Called with the mutex of a store, for each compaction that is due.
std::shared_ptr<Database> DatabaseRegistry::Find(const DB* db) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& each : databases_) {
    auto database = each.lock();
    if (database && database->Is(db)) return database;
  }
  return nullptr;
}

std::shared_ptr<Database> DatabaseRegistry::At(const std::string& path) const {
  std::shared_ptr<Database> found;
  for (const auto& each : All()) {
    if (each->path() != path) continue;
    if (each->IsOpen()) return each;
    found = each;
  }
  return found;
}

double DatabaseRegistry::CompactionDebtBytes(const std::string& scope) const {
  std::lock_guard<std::mutex> lock(mutex_);
  double sum = 0;
  for (const auto& each : databases_) {
    const auto database = each.lock();
    if (!database || (!scope.empty() && database->name() != scope)) continue;
    sum += static_cast<double>(database->State()->compaction_debt_bytes);
  }
  return sum;
}

std::string DatabaseRegistry::FreeName(const std::string& path,
                                       const std::string& wanted) const {
  const auto open = Locked();
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(open.begin(), open.end(), [&](const auto& each) {
      return each->name() == name && each->path() != path;
    });
  };
  const std::string name = Printable(wanted);
  return name.empty() || is_taken(name) ? DatabaseName(path, is_taken) : name;
}

}  // namespace sluice
