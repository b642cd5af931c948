#include "sluice/store/store_access.h"

#include "db/db_impl/db_impl.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyData;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBImpl;
using ROCKSDB_NAMESPACE::InstrumentedMutexLock;

FamilyState StateOf(ColumnFamilyData* family) {
  const auto& options = family->GetLatestMutableCFOptions();
  const auto* storage = family->current()->storage_info();
  FamilyState state;
  state.id = family->GetID();
  state.name = family->GetName();
  state.has_automatic_compactions = !options.disable_auto_compactions;
  state.pending_compaction_bytes = storage->estimated_compaction_needed_bytes();
  state.level0_bytes = storage->NumLevelBytes(0);
  state.level0_files = storage->l0_delay_trigger_count();
  state.level0_compaction_trigger = options.level0_file_num_compaction_trigger;
  state.level0_slowdown_trigger = options.level0_slowdown_writes_trigger;
  state.soft_pending_bytes_limit = options.soft_pending_compaction_bytes_limit;
  for (int level = 0; level < storage->num_levels(); ++level) {
    state.files += storage->NumLevelFiles(level);
  }
  state.has_unflushed =
      !family->mem()->IsEmpty() || family->imm()->NumNotFlushed() > 0;
  state.unflushed_memtables = family->imm()->NumNotFlushed();
  state.max_memtables = options.max_write_buffer_number;
  state.active_memtable_bytes = family->mem()->ApproximateMemoryUsageFast();
  state.unflushed_bytes =
      family->imm()->ApproximateUnflushedMemTablesMemoryUsage();
  state.memtable_size_bytes = options.write_buffer_size;
  return state;
}

}  // namespace

std::vector<FamilyState> ReadFamilies(DB* db) {
  // Listeners and hooks are always given the innermost database.
  auto* const store = static_cast<DBImpl*>(db);
  std::vector<FamilyState> states;
  InstrumentedMutexLock lock(store->mutex());
  for (auto* family : *store->GetVersionSet()->GetColumnFamilySet()) {
    if (family->initialized() && !family->IsDropped()) {
      states.push_back(StateOf(family));
    }
  }
  return states;
}

std::unique_ptr<ColumnFamilyHandle> OpenFamily(DB* db, uint32_t id) {
  return static_cast<DBImpl*>(db)->GetColumnFamilyHandleUnlocked(id);
}

}  // namespace sluice
