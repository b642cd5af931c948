#include "sluice/store/started_tasks.h"

#include <system_error>
#include <thread>
#include <utility>

#include "rocksdb/db.h"
#include "sluice/guarded.h"
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

void RunEach(Kind kind, const StartedTasks::Families& families) {
  Database* const database = families.database.get();
  for (const uint32_t id : families.ids) {
    database->Use([&](DB* db) { Run(kind, db, id, database->cancelled()); });
  }
}

}  // namespace

bool StartedTasks::Start(Kind kind, std::vector<Families> all) {
  if (threads_.fetch_add(1) >= kMaxThreads) {
    --threads_;
    return false;
  }
  try {
    StartSignalFreeThread("sluice-started", [this, kind, all = std::move(all)] {
      for (const Families& each : all) {
        // Where memory has run out that part is not carried out.
        Guarded([&] { RunEach(kind, each); });
      }
      --threads_;
    }).detach();
  } catch (const std::system_error&) {
    --threads_;
    return false;
  }
  return true;
}

}  // namespace sluice
