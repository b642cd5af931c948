// What the agent says of files of a pool, in RocksDB's terms.
#pragma once

#include <string>

#include "rocksdb/io_status.h"
#include "sluice/pool/pool_messages.h"

namespace sluice {

ROCKSDB_NAMESPACE::IOStatus StatusOf(const PoolAnswer& answer);

// The same may be done later: RocksDB goes on by itself after it.
ROCKSDB_NAMESPACE::IOStatus Retryable(const std::string& why);

ROCKSDB_NAMESPACE::IOStatus NotUnderstood(const std::string& method);

// What calls of RocksDB return where memory has run out in the plug-in.
ROCKSDB_NAMESPACE::IOStatus OutOfMemory();

// Whether somebody else has or had the lease.
bool IsFenced(const PoolAnswer& answer);

// Whether the same question may get another answer after a while.
bool MayChangeByItself(const PoolAnswer& answer);

}  // namespace sluice
