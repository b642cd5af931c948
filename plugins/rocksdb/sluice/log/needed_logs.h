// Which logs a database still needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/file_system.h"

namespace sluice {

// RocksDB has removed no log of this number or a larger one: it writes the
// number to MANIFEST before it removes those below. Nothing where that cannot
// be read.
std::optional<uint64_t> OldestNeededLog(ROCKSDB_NAMESPACE::FileSystem* files,
                                        const std::string& database);

}  // namespace sluice
