// Answers lines: JSON-RPC 2.0 as far as it does not depend on the method.
#pragma once

#include <string>
#include <string_view>

#include "sluice/protocol/methods.h"

namespace sluice {

// Longest line in both directions, its newline not counted.
inline constexpr size_t kMaxLineBytes = 1 << 20;

class Requests {
 public:
  explicit Requests(Methods* methods) : methods_(methods) {}

  // The answer to a line; neither has a newline. Throws nothing.
  std::string Answer(std::string_view line) noexcept;

  // The answer to a line that is longer than any may be.
  static std::string TooLong();

  // The answer to a connection that is one too many.
  static std::string TurnedAway(size_t open_connections);

 private:
  std::string AnswerOrThrow(std::string_view line);
  Methods::Outcome Call(const Json& request);

  Methods* const methods_;
};

}  // namespace sluice
