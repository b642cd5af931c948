#include "sluice/remote/agent_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "sluice/protocol/local_socket.h"

namespace sluice {
namespace {

bool MayGoOn() {
  return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

}  // namespace

AgentConnection::AgentConnection(const std::string& path)
    : socket_(ConnectTo(path, SOCK_NONBLOCK)) {}

std::optional<std::string> AgentConnection::Exchange(const std::string& line,
                                                     Duration timeout) {
  const TimePoint deadline = MonotonicClock::Default()->Now() + timeout;
  if (line.size() > kMaxAgentLineBytes || !Send(line + '\n', deadline)) {
    return std::nullopt;
  }
  size_t searched = 0;
  for (;;) {
    const size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    searched = received_.size();
    if (searched > kMaxAgentLineBytes || !Await(POLLIN, deadline)) {
      return std::nullopt;
    }
    std::array<char, 64 << 10> part;
    const ssize_t count = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (count == 0 || (count < 0 && !MayGoOn())) return std::nullopt;
    if (count > 0) received_.append(part.data(), static_cast<size_t>(count));
  }
}

void AgentConnection::Cancel() { ::shutdown(socket_.get(), SHUT_RDWR); }

bool AgentConnection::Send(const std::string& line, TimePoint deadline) {
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = ::send(socket_.get(), line.data() + sent,
                                 line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && !MayGoOn()) return false;
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (!Await(POLLOUT, deadline)) {
      return false;
    }
  }
  return true;
}

bool AgentConnection::Await(short events, TimePoint deadline) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - MonotonicClock::Default()->Now());
    if (left.count() <= 0) {
      is_overdue_ = true;
      return false;
    }
    pollfd wanted = {socket_.get(), events, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace sluice
