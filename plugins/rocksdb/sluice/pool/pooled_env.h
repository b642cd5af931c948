// Databases in a pool whose programs know nothing of it.
#pragma once

#include "rocksdb/env.h"
#include "sluice/plugin_options.h"

namespace sluice {

// The environment `base` with the files of a pool, where the options name one.
// It lives as long as the process, and is the same for the same options: they
// have one lease.
ROCKSDB_NAMESPACE::Env* PooledEnv(const PluginOptions& options,
                                  ROCKSDB_NAMESPACE::Env* base);

}  // namespace sluice
