// A connection to the agent of this node, for files of a pool.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/protocol/file_descriptor.h"

namespace sluice {

class PoolConnection {
 public:
  // Not open if nobody listens there.
  explicit PoolConnection(const std::string& path);

  bool IsOpen() const { return socket_.IsOpen(); }

  // Sends a line and what follows it, and returns the line that answers;
  // nothing if the connection has ended, or after minutes.
  std::optional<std::string> Exchange(const std::string& line,
                                      std::string_view payload);

  // Reads what follows an answer.
  bool Receive(char* to, size_t bytes);

  // Whether the agent has closed it. Nothing may be under way.
  bool HasEnded() const;

 private:
  bool Send(const std::string& line, std::string_view payload);
  // Adds to what was received; false at the end.
  bool ReceiveSome();

  FileDescriptor socket_;
  std::string received_;
};

}  // namespace sluice
