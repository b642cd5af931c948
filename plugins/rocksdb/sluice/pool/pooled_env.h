// Databases in a pool whose programs know nothing of it.
#pragma once

#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "sluice/plugin_options.h"
#include "sluice/pool/pool_file_system.h"

namespace sluice {

// The environment `base` with the files of a pool, where the options name one.
// It lives as long as the process, and is the same for the same options: they
// have one lease.
ROCKSDB_NAMESPACE::Env* PooledEnv(const PluginOptions& options,
                                  ROCKSDB_NAMESPACE::Env* base);

// The pool that a path is in by this file system; nullptr if it is in none. One
// around a pool counts if it `is_plain`: else it may change names or bytes.
PoolFileSystem* PoolOf(const std::string& path,
                       ROCKSDB_NAMESPACE::FileSystem* files, bool is_plain);

}  // namespace sluice
