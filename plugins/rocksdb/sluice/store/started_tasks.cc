#include "sluice/store/started_tasks.h"

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "rocksdb/db.h"
#include "sluice/signal_free_thread.h"
#include "sluice/store/store_access.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::BottommostLevelCompaction;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushOptions;

void Run(Kind kind, DB* db, uint32_t family, std::atomic<bool>* cancelled) {
  const auto handle = OpenFamily(db, family);
  if (!handle) return;
  // Of a failure the store's own log tells.
  if (kind == Kind::kFlush) {
    db->Flush(FlushOptions(), handle.get()).PermitUncheckedError();
    return;
  }
  CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.bottommost_level_compaction =
      BottommostLevelCompaction::kForceOptimized;
  options.canceled = cancelled;
  db->CompactRange(options, handle.get(), nullptr, nullptr)
      .PermitUncheckedError();
}

void RunEach(Kind kind, Database* database,
             const std::vector<uint32_t>& families) noexcept {
  try {
    for (const uint32_t family : families) {
      database->Use(
          [&](DB* db) { Run(kind, db, family, database->cancelled()); });
    }
  } catch (const std::exception&) {
    // Memory has run out: that order is not carried out.
  }
}

}  // namespace

bool StartedTasks::Start(Kind kind, std::shared_ptr<Database> database,
                         std::vector<uint32_t> families) {
  if (threads_.fetch_add(1) >= kMaxThreads) {
    --threads_;
    return false;
  }
  try {
    StartSignalFreeThread("sluice-started", [this, kind,
                                             database = std::move(database),
                                             families = std::move(families)] {
      RunEach(kind, database.get(), families);
      --threads_;
    }).detach();
  } catch (const std::system_error&) {
    --threads_;
    return false;
  }
  return true;
}

}  // namespace sluice
