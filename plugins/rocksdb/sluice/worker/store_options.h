// What a worker makes of the OPTIONS file of a store.
#pragma once

#include <string>

#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "sluice/remote/compaction_payload.h"

namespace sluice {

// What concerns the column family of one compaction.
struct StoreOptions {
  ROCKSDB_NAMESPACE::DBOptions database;
  ROCKSDB_NAMESPACE::ColumnFamilyOptions family;
};

// Reads them from the file that the compaction was picked by. What cannot be
// made here, such as an operator or a kind of filter, is an error; of other
// families nothing is made. A file that cannot be read is IOError or
// PathNotFound.
ROCKSDB_NAMESPACE::Status LoadStoreOptions(ROCKSDB_NAMESPACE::Env* env,
                                           const std::string& database_path,
                                           const CompactionInput& input,
                                           StoreOptions* options);

}  // namespace sluice
