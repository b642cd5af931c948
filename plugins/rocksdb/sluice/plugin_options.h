// Options of the plug-in, as in compaction_service={id=sluice;...}.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "rocksdb/utilities/options_type.h"

namespace sluice {

struct PluginOptions {
  static const char* kName() { return "SluiceOptions"; }

  // Name of the process on its node, and of its socket.
  std::string instance = "main";
  std::string socket_directory = "/run/sluice";
  // Name of the database in scopes; empty for one made of its path.
  std::string database_name;
  double max_time_to_live_seconds = 600;
  // Times requests by intervals: auto where the embedder has statistics, on,
  // off.
  std::string latency = "auto";

  bool remote = true;
  std::string agent_socket = "/run/sluice/agent/compaction.sock";
  uint64_t minimum_input_bytes = 16 << 20;
  int minimum_level = 0;
  // Whether workers may read and write the files of an embedder that has a file
  // system of its own: it must change neither their names nor their bytes.
  bool plain_files = false;

  // The pool that the database is in; without a volume it is where it was.
  std::string pool_volume;
  std::string pool_directory = "/";
  std::string pool_socket = "/run/sluice/agent/pool.sock";
  // What is below this folder is on this node all the same.
  std::string pool_local_directory;

  // Where logs go while the fast tier is busy; empty for nowhere.
  std::string wal_slow_directory;
  // Below 0 nothing is redirected without an order.
  double redirect_queue_requests = -1;
  double redirect_size_bytes = 1 << 20;
  double redirect_step_ratio = 0.25;
};

const std::unordered_map<std::string, ROCKSDB_NAMESPACE::OptionTypeInfo>&
PluginOptionTypes();

}  // namespace sluice
