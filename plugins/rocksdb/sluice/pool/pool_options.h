// Options of the file system, as in file_system={id=sluice-pool;...}.
#pragma once

#include <string>
#include <unordered_map>

#include "rocksdb/utilities/options_type.h"
#include "sluice/pool/pool_session.h"

namespace sluice {

struct PoolOptions {
  static const char* kName() { return "SluicePoolOptions"; }

  std::string volume;
  // The lease is on this directory of the volume, which is there.
  std::string directory = "/";
  std::string agent_socket = PoolSettings().agent_socket;
  // Who is told to others that want the lease.
  std::string holder = PoolPlace().holder;
  // What is below this folder is on this node, such as a log; empty for none.
  std::string local_directory;
  bool read_only = false;
  double wait_seconds = PoolSettings().wait_seconds;
  // As in PoolPlace; no option of programs.
  uint64_t outer_epoch = PoolPlace().outer_epoch;
};

const std::unordered_map<std::string, ROCKSDB_NAMESPACE::OptionTypeInfo>&
PoolOptionTypes();

}  // namespace sluice
