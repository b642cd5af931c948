#include "sluice/store/database.h"

#include <algorithm>
#include <utility>

#include "rocksdb/convenience.h"
#include "sluice/store/store_access.h"
#include "sluice/text/printable.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::DB;

// The store asks again every 10 ms whether a compaction may begin.
constexpr double kPutOffSeconds = 1;

}  // namespace

Database::Database(
    std::string name, std::string path, bool has_local_files,
    std::shared_ptr<ROCKSDB_NAMESPACE::WriteBufferManager> write_buffers)
    : name_(std::move(name)),
      path_(std::move(path)),
      has_local_files_(has_local_files),
      write_buffers_(std::move(write_buffers)) {}

void Database::Opened(DB* db) {
  {
    std::lock_guard<std::mutex> lock(use_mutex_);
    db_ = db;
  }
  Refresh();
}

bool Database::Is(const DB* db) const {
  std::lock_guard<std::mutex> lock(use_mutex_);
  return db_ == db && db != nullptr;
}

void Database::Shutdown() {
  *freedom_ = true;
  cancelled_ = true;
  std::unique_lock<std::mutex> lock(use_mutex_);
  DB* const db = std::exchange(db_, nullptr);
  if (db != nullptr && users_ > 0) {
    lock.unlock();
    // A flush or compaction that was ordered may wait for others, or for work
    // that is paused: the store ends such waits once it shuts down, no sooner.
    ROCKSDB_NAMESPACE::CancelAllBackgroundWork(db);
    lock.lock();
  }
  unused_.wait(lock, [this] { return users_ == 0; });
}

bool Database::Use(const std::function<void(DB*)>& use) {
  DB* db;
  {
    std::lock_guard<std::mutex> lock(use_mutex_);
    if (db_ == nullptr) return false;
    db = db_;
    ++users_;
  }
  // Also where `use` throws: the store would wait for it when it closes.
  struct Ending {
    ~Ending() { database->EndUse(); }
    Database* const database;
  } const ending{this};
  use(db);
  return true;
}

void Database::EndUse() {
  {
    std::lock_guard<std::mutex> lock(use_mutex_);
    --users_;
  }
  unused_.notify_all();
}

void Database::Refresh() {
  Use([this](DB* db) {
    auto families = ReadFamilies(db);
    std::lock_guard<std::mutex> lock(state_mutex_);
    families_ = std::move(families);
  });
}

std::vector<FamilyState> Database::Families() const {
  std::lock_guard<std::mutex> lock(state_mutex_);
  return families_;
}

std::optional<FamilyState> Database::Family(uint32_t id) const {
  std::lock_guard<std::mutex> lock(state_mutex_);
  for (const FamilyState& family : families_) {
    if (family.id == id) return family;
  }
  return std::nullopt;
}

bool Database::HasFamily(const std::string& printable_name) const {
  std::lock_guard<std::mutex> lock(state_mutex_);
  return std::any_of(families_.begin(), families_.end(),
                     [&](const FamilyState& family) {
                       return Printable(family.name) == printable_name;
                     });
}

void Database::SetPutOff(uint32_t family, TimePoint now) {
  std::lock_guard<std::mutex> lock(state_mutex_);
  const auto [put_off, is_new] = put_off_.try_emplace(family, PutOff{now, now});
  const bool was_over = Seconds(now - put_off->second.last) > kPutOffSeconds;
  if (was_over) put_off->second.since = now;
  put_off->second.last = now;
}

std::optional<TimePoint> Database::PutOffSince(uint32_t family,
                                               TimePoint now) const {
  std::lock_guard<std::mutex> lock(state_mutex_);
  const auto found = put_off_.find(family);
  if (found == put_off_.end() ||
      Seconds(now - found->second.last) > kPutOffSeconds) {
    return std::nullopt;
  }
  return found->second.since;
}

void Database::SetStalled(const std::string& family, bool is_stalled) {
  std::lock_guard<std::mutex> lock(state_mutex_);
  stalled_[family] = is_stalled;
}

bool Database::IsStalled() const {
  if (write_buffers_ && write_buffers_->ShouldStall()) return true;
  std::lock_guard<std::mutex> lock(state_mutex_);
  // A family that was dropped while it stalled is not heard of again.
  return std::any_of(families_.begin(), families_.end(),
                     [this](const FamilyState& family) {
                       const auto found = stalled_.find(family.name);
                       return found != stalled_.end() && found->second;
                     });
}

}  // namespace sluice
