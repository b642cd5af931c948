// The messages between the plug-in and the agent, version 1.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/remote/next_level_table.h"

namespace sluice {

struct NeededObject {
  std::string kind;
  std::string name;
};

struct RemoteJob {
  std::string id;
  std::string database_path;
  std::string output_path;
  // Of the store, where these are in a pool; else empty.
  std::string pool_session;
  std::string family;
  int input_level = 0;
  int output_level = 0;
  // Whether RocksDB has begun it by itself.
  bool is_automatic = false;
  uint64_t input_bytes = 0;
  uint64_t input_files = 0;
  std::vector<NeededObject> objects;
  NextLevelTables next_level_tables;
  // What RocksDB has written.
  std::string input;
};

// Lines to send.
std::string RunLine(const RemoteJob& job);
std::string WaitLine();

// An answer. Whatever is not understood is a local compaction.
struct AgentAnswer {
  enum class State { kRemote, kRunning, kDone, kLocal };

  State state = State::kLocal;
  // Of a local one: a word for the counters.
  std::string reason;
  // Of one that is done: what RocksDB has written on the worker.
  std::string result;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
};

AgentAnswer ReadRunAnswer(const std::string& line);
AgentAnswer ReadWaitAnswer(std::string line);

}  // namespace sluice
