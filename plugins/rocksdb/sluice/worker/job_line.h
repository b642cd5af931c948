// The job of a worker: the one line that it is given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sluice/remote/next_level_table.h"

namespace sluice {

// Longest line that is read, without its newline: a job and the operator's
// settings.
inline constexpr size_t kMaxJobLineBytes = 4 << 20;

// Why a job is not done. The reasons are those of the agent's protocol.
struct JobFailure {
  std::string reason;
  std::string message;
};

// Where the paths of a job are that are not those of a node.
struct JobPool {
  std::string volume;
  // Of the store's lease, under which the output path is the worker's.
  uint64_t outer_epoch = 0;
  // Of this node's agent.
  std::string socket;
};

struct WorkerJob {
  std::string id;
  std::string database_path;
  std::string output_path;
  std::optional<JobPool> pool;
  // The same folders as the agent has checked them, all symbolic links
  // resolved; empty if it does not say. In a pool there is no database here,
  // and the output is a folder for temporary files, which is not used.
  std::string checked_database_path;
  std::string checked_output_path;
  // Whether the store's RocksDB has begun it by itself.
  bool is_automatic = false;
  // Of each object that is needed, kind and name.
  std::vector<std::pair<std::string, std::string>> objects;
  // None if the store does not say.
  NextLevelTables next_level_tables;
  // What RocksDB has written in the store's process.
  std::string input;
  std::vector<std::string> libraries;
  // 0 for no bound.
  uint64_t temporary_limit_bytes = 0;
  // Whether the output path keeps what the next worker of the job can go on
  // with, and may hold such things of the last one.
  bool is_resumable = false;
};

std::variant<WorkerJob, JobFailure> ReadJobLine(const std::string& line);

}  // namespace sluice
