// What RocksDB's public interface cannot tell of an open database. Its internal
// headers are used here, and by remote/compaction_payload, log/log_frame and
// io/tagging_file_system.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "sluice/remote/compaction_payload.h"
#include "sluice/remote/next_level_table.h"
#include "sluice/store/store_state.h"

namespace sluice {

// Takes the mutex of the database for some microseconds. Of what is not in the
// database itself nothing is filled in.
StoreState ReadState(ROCKSDB_NAMESPACE::DB* db);

// A handle of its own; nullptr if the family was dropped. To be destroyed
// before the database.
std::unique_ptr<ROCKSDB_NAMESPACE::ColumnFamilyHandle> OpenFamily(
    ROCKSDB_NAMESPACE::DB* db, uint32_t id);

// Whether one of these tables of a family holds the deletion of a range and
// nothing else. Universal compactions leave out the inputs that it covers.
bool HasRangeDeletionTable(ROCKSDB_NAMESPACE::DB* db, uint32_t family,
                           const std::vector<std::string>& files);

// Whether one of these tables of a family holds what a transaction may still
// look for: writes since its snapshot.
bool HasWritesToConflictWith(ROCKSDB_NAMESPACE::DB* db, uint32_t family,
                             const std::vector<std::string>& files);

// Of the tables that are the input of a compaction those that have keys of its
// part, or are gone.
std::vector<std::string> TablesInRange(ROCKSDB_NAMESPACE::DB* db,
                                       uint32_t family,
                                       const CompactionInput& input);

// Where a compaction by level will have its output compacted on: the tables of
// the next level that has some in its part of the keys. None where RocksDB has
// no use for them, or there are too many to tell.
NextLevelTables TablesOfNextLevel(ROCKSDB_NAMESPACE::DB* db, uint32_t family,
                                  const CompactionInput& input,
                                  int output_level);

// Those that the database was opened with, also if its opening fails.
const std::vector<std::shared_ptr<ROCKSDB_NAMESPACE::EventListener>>&
ListenersOf(const ROCKSDB_NAMESPACE::DB* db);

}  // namespace sluice
