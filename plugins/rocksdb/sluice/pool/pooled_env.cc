#include "sluice/pool/pooled_env.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "env/composite_env_wrapper.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompositeEnvWrapper;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FileSystem;

// Of the same options, and the same environment below.
using Key = std::pair<Env*, std::vector<std::string>>;

PoolOptions PoolOf(const PluginOptions& options) {
  PoolOptions pool;
  pool.volume = options.pool_volume;
  pool.directory = options.pool_directory;
  pool.agent_socket = options.pool_socket;
  pool.local_directory = options.pool_local_directory;
  pool.holder = "rocksdb " + options.instance;
  return pool;
}

bool IsPooled(Env* env) {
  return env->GetFileSystem()->CheckedCast<PoolFileSystem>() != nullptr;
}

}  // namespace

Env* PooledEnv(const PluginOptions& options, Env* base) {
  if (options.pool_volume.empty() || IsPooled(base)) return base;
  static std::mutex mutex;
  // Never freed, see the header.
  static auto* const made = new std::map<Key, std::unique_ptr<Env>>();
  const PoolOptions pool = PoolOf(options);
  const Key key = {base,
                   {pool.volume, pool.directory, pool.agent_socket,
                    pool.local_directory, pool.holder}};
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Env>& env = (*made)[key];
  if (!env) {
    env = std::make_unique<CompositeEnvWrapper>(
        base, std::make_shared<PoolFileSystem>(pool));
  }
  return env.get();
}

PoolFileSystem* PoolOf(const std::string& path, FileSystem* files,
                       bool is_plain) {
  auto* const pool = files->CheckedCast<PoolFileSystem>();
  const bool is_reached = pool == files || is_plain;
  const bool is_in_it = pool != nullptr && is_reached && pool->IsInPool(path);
  return is_in_it ? pool : nullptr;
}

}  // namespace sluice
