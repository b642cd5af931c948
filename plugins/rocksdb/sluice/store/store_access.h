// What RocksDB's public interface cannot tell: the families of an open
// database. Alone in using its internal headers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rocksdb/db.h"
#include "sluice/store/family_state.h"

namespace sluice {

// Takes the mutex of the database for some microseconds.
std::vector<FamilyState> ReadFamilies(ROCKSDB_NAMESPACE::DB* db);

// A handle of its own; nullptr if the family was dropped. To be destroyed
// before the database.
std::unique_ptr<ROCKSDB_NAMESPACE::ColumnFamilyHandle> OpenFamily(
    ROCKSDB_NAMESPACE::DB* db, uint32_t id);

}  // namespace sluice
