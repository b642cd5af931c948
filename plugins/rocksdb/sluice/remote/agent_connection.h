// The connection of one job to the agent of this node.
#pragma once

#include <optional>
#include <string>

#include "sluice/monotonic_clock.h"
#include "sluice/protocol/file_descriptor.h"

namespace sluice {

// Longest line in both directions, without its newline.
inline constexpr size_t kMaxAgentLineBytes = 3 << 20;

class AgentConnection {
 public:
  // Not open if nobody listens there.
  explicit AgentConnection(const std::string& path);

  bool IsOpen() const { return socket_.IsOpen(); }

  // Sends a line and returns the one that answers it; nothing if that takes
  // longer, or if the connection has ended.
  std::optional<std::string> Exchange(const std::string& line,
                                      Duration timeout);
  // Whether an answer was overdue, and not only the connection at its end.
  bool IsOverdue() const { return is_overdue_; }

  // Ends the job, and whatever waits for its answer in another thread.
  void Cancel();

 private:
  bool Send(const std::string& line, TimePoint deadline);
  bool Await(short events, TimePoint deadline);

  FileDescriptor socket_;
  std::string received_;
  bool is_overdue_ = false;
};

}  // namespace sluice
