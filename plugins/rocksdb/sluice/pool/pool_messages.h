// The messages between the plug-in and the agent about files of a pool,
// version 1.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/protocol/json.h"

namespace sluice {

// Longest line in both directions, and the most bytes that follow one.
inline constexpr size_t kMaxPoolLineBytes = 4 << 20;
inline constexpr size_t kMaxPoolPayloadBytes = 4 << 20;

// Whose files a connection is for.
struct PoolPlace {
  std::string volume;
  // Directory of the lease.
  std::string directory = "/";
  std::string holder = "rocksdb";
  // Of the lease that the directory is under, whose holder can end this one at
  // any time; 0 for none.
  uint64_t outer_epoch = 0;
};

// Lines to send. An empty lock begins a new session.
std::string PoolRequest(const char* method, Json params);
Json AttachParams(const PoolPlace& place, const std::string& lock);
Json JoinParams(const std::string& session);
Json ViewParams(const PoolPlace& place);

struct PoolAnswer {
  enum class Kind { kDone, kRefused, kBroken };

  // Broken is what is no answer, after which a connection is of no use.
  Kind kind = Kind::kBroken;
  Json result;
  // Of what was refused: words of docs/pool-files.md.
  std::string code;
  std::string reason;
  std::string message;
};

PoolAnswer ReadPoolAnswer(const std::string& line);

// Members of results; nothing if they are not as they should be.
std::optional<uint64_t> CountIn(const Json& result, const char* name);
std::optional<std::string> TextIn(const Json& result, const char* name);

// Of the protocol; 0 if it is not said.
uint64_t MinorVersionIn(const Json& result);

struct PoolName {
  std::string name;
  bool is_directory = false;
  uint64_t length_bytes = 0;
};

struct PoolNames {
  std::vector<PoolName> names;
  bool has_more = false;
};

std::optional<PoolNames> NamesIn(const Json& result);

}  // namespace sluice
