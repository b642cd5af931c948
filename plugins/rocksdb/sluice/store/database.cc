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

Database::Database(DatabaseParts parts) : parts_(std::move(parts)) {}

void Database::Opened(DB* db) {
  {
    std::lock_guard<std::mutex> lock(use_mutex_);
    db_ = db;
  }
  was_opened_ = true;
  Refresh();
}

bool Database::Is(const DB* db) const {
  std::lock_guard<std::mutex> lock(use_mutex_);
  return db_ == db && db != nullptr;
}

bool Database::IsOpen() const {
  std::lock_guard<std::mutex> lock(use_mutex_);
  return db_ != nullptr;
}

void Database::Shutdown() {
  freedom_->is_closing = true;
  cancelled_ = true;
  if (logs_) logs_->Shutdown();
  std::unique_lock<std::mutex> lock(use_mutex_);
  DB* const db = std::exchange(db_, nullptr);
  const bool is_used = db != nullptr && users_ > 0;
  if (is_used) {
    lock.unlock();
    // A flush or compaction that was ordered may wait for others, or for work
    // that is paused: the store ends such waits once it shuts down, no sooner.
    ROCKSDB_NAMESPACE::CancelAllBackgroundWork(db);
    // And that for a thread, which a held compaction of another database may
    // have, so alone.
    db->DisableManualCompaction();
    lock.lock();
  }
  unused_.wait(lock, [this] { return users_ == 0; });
  lock.unlock();
  if (is_used) db->EnableManualCompaction();
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
    const TimePoint before = MonotonicClock::Default()->Now();
    auto state = std::make_shared<StoreState>(ReadState(db));
    state->at = before;
    state->is_stalled |= HasFullWriteBuffers();
    freedom_->is_in_error = state->is_in_error;
    std::lock_guard<std::mutex> lock(state_mutex_);
    // Families come and go.
    std::erase_if(put_off_, [&](const auto& each) {
      return state->Find(each.first) == nullptr;
    });
    state_ = std::move(state);
  });
}

void Database::FollowStatistics() {
  if (parts_.statistics) parts_.statistics->FollowLevel();
}

std::shared_ptr<const StoreState> Database::State() const {
  std::lock_guard<std::mutex> lock(state_mutex_);
  return state_;
}

bool Database::HasFamily(const std::string& printable_name) const {
  const auto state = State();
  return std::any_of(state->families.begin(), state->families.end(),
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

bool Database::HasFullWriteBuffers() const {
  return parts_.write_buffers && parts_.write_buffers->ShouldStall();
}

}  // namespace sluice
