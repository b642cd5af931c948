#include "sluice/store/store_access.h"

#include <algorithm>
#include <cstdlib>

#include "db/db_impl/db_impl.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyData;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBImpl;
using ROCKSDB_NAMESPACE::ErrorHandler;
using ROCKSDB_NAMESPACE::EventListener;
using ROCKSDB_NAMESPACE::FileMetaData;
using ROCKSDB_NAMESPACE::InstrumentedMutexLock;
using ROCKSDB_NAMESPACE::InternalKey;
using ROCKSDB_NAMESPACE::kCompactionStyleFIFO;
using ROCKSDB_NAMESPACE::kCompactionStyleLevel;
using ROCKSDB_NAMESPACE::kCompactionStyleUniversal;
using ROCKSDB_NAMESPACE::kMaxSequenceNumber;
using ROCKSDB_NAMESPACE::SequenceNumber;
using ROCKSDB_NAMESPACE::VersionStorageInfo;
using ROCKSDB_NAMESPACE::WriteStallCondition;

// Names protected members, which is all that derived classes are for here.
class MembersOf : public DBImpl {
 public:
  static ErrorHandler& Errors(DBImpl* store) {
    return store->*(&MembersOf::error_handler_);
  }
  // As PreprocessWrite() has it: 0 where it bounds nothing.
  static uint64_t MaxLogBytes(DBImpl* store) {
    const auto* const families = store->GetVersionSet()->GetColumnFamilySet();
    if (families->NumberOfColumnFamilies() == 1) return 0;
    const auto& options = store->*(&MembersOf::mutable_db_options_);
    if (options.max_total_wal_size > 0) return options.max_total_wal_size;
    return 4 * (store->*(&MembersOf::max_total_in_memory_state_)).load();
  }
};

// Names a private member: access is not checked where a template is
// instantiated explicitly.
uint64_t LogBytes(DBImpl* store);
template <auto member>
struct LogBytesBy {
  friend uint64_t LogBytes(DBImpl* store) {
    return (store->*member).LoadRelaxed();
  }
};
template struct LogBytesBy<&DBImpl::wals_total_size_>;

FamilyState StateOf(ColumnFamilyData* family) {
  const auto& options = family->GetLatestMutableCFOptions();
  const auto* storage = family->current()->storage_info();
  const auto* version = family->GetSuperVersion();
  FamilyState state;
  state.id = family->GetID();
  state.name = family->GetName();
  state.is_stalled = version != nullptr && version->write_stall_condition !=
                                               WriteStallCondition::kNormal;
  state.has_automatic_compactions = !options.disable_auto_compactions;
  state.is_fifo = family->ioptions().compaction_style == kCompactionStyleFIFO;
  state.pending_compaction_bytes = storage->estimated_compaction_needed_bytes();
  state.level0_bytes = storage->NumLevelBytes(0);
  state.level0_files = storage->l0_delay_trigger_count();
  state.level0_compaction_trigger = options.level0_file_num_compaction_trigger;
  state.level0_slowdown_trigger = options.level0_slowdown_writes_trigger;
  state.level0_stop_trigger = options.level0_stop_writes_trigger;
  state.soft_pending_bytes_limit = options.soft_pending_compaction_bytes_limit;
  state.hard_pending_bytes_limit = options.hard_pending_compaction_bytes_limit;
  for (int level = 0; level < storage->num_levels(); ++level) {
    state.files += storage->NumLevelFiles(level);
    state.bytes += storage->NumLevelBytes(level);
  }
  state.has_unflushed =
      !family->mem()->IsEmpty() || family->imm()->NumNotFlushed() > 0;
  state.has_queued_flush = family->imm()->IsFlushPending();
  state.unflushed_memtables = family->imm()->NumNotFlushed();
  state.max_memtables = options.max_write_buffer_number;
  state.active_memtable_bytes = family->mem()->ApproximateMemoryUsageFast();
  state.unflushed_bytes =
      family->imm()->ApproximateUnflushedMemTablesMemoryUsage();
  state.memtable_size_bytes = options.write_buffer_size;
  return state;
}

// Names of tables are NUMBER.sst.
uint64_t NumberOf(const std::string& table) {
  return std::strtoull(table.c_str(), nullptr, 10);
}

// Needs the mutex, as what follows; nullptr for one that was dropped.
ColumnFamilyData* FamilyIn(DBImpl* store, uint32_t id) {
  return store->GetVersionSet()->GetColumnFamilySet()->GetColumnFamily(id);
}

// Whether one of the tables, of those that are still there, is so.
template <typename Condition>
bool AnyOf(ColumnFamilyData* family, const std::vector<std::string>& tables,
           const Condition& is_so) {
  const auto* const storage = family->current()->storage_info();
  return std::any_of(tables.begin(), tables.end(), [&](const auto& name) {
    const auto* const table = storage->GetFileMetaDataByNumber(NumberOf(name));
    return table != nullptr && is_so(*table);
  });
}

bool IsInRange(const FileMetaData& table, const CompactionInput& input,
               const ROCKSDB_NAMESPACE::Comparator* order) {
  const auto compare = [order](const auto& left, const auto& right) {
    return order->CompareWithoutTimestamp(left, right);
  };
  return (!input.begin ||
          compare(table.largest.user_key(), *input.begin) >= 0) &&
         (!input.end || compare(table.smallest.user_key(), *input.end) < 0);
}

std::vector<const FileMetaData*> InputTablesOf(ColumnFamilyData* family,
                                               const CompactionInput& input) {
  std::vector<const FileMetaData*> tables;
  for (const std::string& file : input.files) {
    const auto* const table =
        family->current()->storage_info()->GetFileMetaDataByNumber(
            NumberOf(file));
    if (table == nullptr) continue;
    if (IsInRange(*table, input, family->user_comparator())) {
      tables.push_back(table);
    }
  }
  return tables;
}

// As CompactionPicker::GetGrandparents().
std::vector<FileMetaData*> OverlappedBelow(
    ColumnFamilyData* family, const std::vector<const FileMetaData*>& inputs,
    int output_level) {
  std::vector<FileMetaData*> found;
  if (inputs.empty()) return found;
  const auto& order = family->internal_comparator();
  InternalKey first = inputs[0]->smallest;
  InternalKey last = inputs[0]->largest;
  for (const FileMetaData* each : inputs) {
    if (order.Compare(each->smallest, first) < 0) first = each->smallest;
    if (order.Compare(each->largest, last) > 0) last = each->largest;
  }
  const VersionStorageInfo* storage = family->current()->storage_info();
  for (int level = output_level + 1; level < storage->num_levels(); ++level) {
    storage->GetOverlappingInputs(level, &first, &last, &found);
    if (!found.empty()) break;
  }
  return found;
}

// Of other compactions RocksDB does not look at the next level, or not all. A
// worker is told no level that the sizes of tables could depend on.
bool LooksAtNextLevel(ColumnFamilyData* family, int output_level) {
  return family->ioptions().compaction_style == kCompactionStyleLevel &&
         output_level > 0 &&
         family->GetLatestMutableCFOptions().target_file_size_multiplier == 1;
}

void SumUp(StoreState* state) {
  std::sort(
      state->families.begin(), state->families.end(),
      [](const FamilyState& a, const FamilyState& b) { return a.id < b.id; });
  for (const FamilyState& each : state->families) {
    state->is_stalled |= each.is_stalled;
    state->has_queued_flush |= each.has_queued_flush;
    state->live_bytes += each.bytes;
    state->compaction_debt_bytes += CompactionDebtBytes(each);
    state->flush_debt_bytes += FlushDebtBytes(each);
  }
}

}  // namespace

StoreState ReadState(DB* db) {
  // Listeners and hooks are always given the innermost database.
  auto* const store = static_cast<DBImpl*>(db);
  StoreState state;
  {
    InstrumentedMutexLock lock(store->mutex());
    auto* const versions = store->GetVersionSet();
    for (auto* family : *versions->GetColumnFamilySet()) {
      if (family->initialized() && !family->IsDropped()) {
        state.families.push_back(StateOf(family));
      }
    }
    ErrorHandler& errors = MembersOf::Errors(store);
    state.is_in_error =
        !errors.GetBGError().ok() || errors.IsRecoveryInProgress();
    state.running_flushes = store->num_running_flushes();
    // The program itself may have files kept, as for a copy of them.
    if (store->IsFileDeletionsEnabled()) {
      state.obsolete_bytes = versions->GetObsoleteSstFilesSize();
      state.log_bytes = LogBytes(store);
    }
    state.max_log_bytes = MembersOf::MaxLogBytes(store);
  }
  const auto& buffers = store->immutable_db_options().write_buffer_manager;
  state.write_buffers = buffers.get();
  state.max_write_buffer_bytes = buffers->buffer_size();
  SumUp(&state);
  return state;
}

std::unique_ptr<ColumnFamilyHandle> OpenFamily(DB* db, uint32_t id) {
  return static_cast<DBImpl*>(db)->GetColumnFamilyHandleUnlocked(id);
}

bool HasRangeDeletionTable(DB* db, uint32_t family,
                           const std::vector<std::string>& files) {
  auto* const store = static_cast<DBImpl*>(db);
  InstrumentedMutexLock lock(store->mutex());
  auto* const found = FamilyIn(store, family);
  if (found == nullptr ||
      found->ioptions().compaction_style != kCompactionStyleUniversal) {
    return false;
  }
  return AnyOf(found, files, [](const FileMetaData& table) {
    return table.FileIsStandAloneRangeTombstone();
  });
}

bool HasWritesToConflictWith(DB* db, uint32_t family,
                             const std::vector<std::string>& files) {
  auto* const store = static_cast<DBImpl*>(db);
  InstrumentedMutexLock lock(store->mutex());
  SequenceNumber earliest = kMaxSequenceNumber;
  store->snapshots().GetAll(&earliest);
  auto* const found = FamilyIn(store, family);
  return found != nullptr &&
         AnyOf(found, files, [earliest](const FileMetaData& table) {
           return table.fd.largest_seqno > earliest;
         });
}

std::vector<std::string> TablesInRange(DB* db, uint32_t family,
                                       const CompactionInput& input) {
  auto* const store = static_cast<DBImpl*>(db);
  InstrumentedMutexLock lock(store->mutex());
  auto* const found = FamilyIn(store, family);
  if (found == nullptr) return input.files;
  const auto* const storage = found->current()->storage_info();
  std::vector<std::string> files;
  for (const std::string& file : input.files) {
    const auto* const table = storage->GetFileMetaDataByNumber(NumberOf(file));
    if (table == nullptr ||
        IsInRange(*table, input, found->user_comparator())) {
      files.push_back(file);
    }
  }
  return files;
}

NextLevelTables TablesOfNextLevel(DB* db, uint32_t family,
                                  const CompactionInput& input,
                                  int output_level) {
  auto* const store = static_cast<DBImpl*>(db);
  InstrumentedMutexLock lock(store->mutex());
  auto* const found = FamilyIn(store, family);
  if (found == nullptr || !LooksAtNextLevel(found, output_level)) return {};
  NextLevelTables tables;
  size_t key_bytes = 0;
  for (const FileMetaData* each :
       OverlappedBelow(found, InputTablesOf(found, input), output_level)) {
    if (!IsInRange(*each, input, found->user_comparator())) continue;
    tables.push_back({each->smallest.user_key().ToString(),
                      each->largest.user_key().ToString(),
                      each->fd.GetFileSize()});
    key_bytes += tables.back().smallest.size() + tables.back().largest.size();
    if (tables.size() > kMaxNextLevelTables ||
        key_bytes > kMaxNextLevelKeyBytes) {
      return {};
    }
  }
  return tables;
}

const std::vector<std::shared_ptr<EventListener>>& ListenersOf(const DB* db) {
  return static_cast<const DBImpl*>(db)->immutable_db_options().listeners;
}

}  // namespace sluice
