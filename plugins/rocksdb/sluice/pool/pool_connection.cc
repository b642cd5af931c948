#include "sluice/pool/pool_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "sluice/pool/pool_messages.h"
#include "sluice/protocol/local_socket.h"

namespace sluice {
namespace {

// Longer than the agent tries to reach servers and the metadata.
constexpr time_t kLongestWaitSeconds = 120;

void BoundWaits(int socket) {
  const timeval longest = {kLongestWaitSeconds, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

}  // namespace

PoolConnection::PoolConnection(const std::string& path)
    : socket_(ConnectTo(path, 0)) {
  if (!socket_.IsOpen()) return;
  BoundWaits(socket_.get());
  socket_.CloseInChildren();
}

std::optional<std::string> PoolConnection::Exchange(const std::string& line,
                                                    std::string_view payload) {
  if (!Send(line + '\n', payload)) return std::nullopt;
  size_t searched = 0;
  for (;;) {
    const size_t end = received_.find('\n', searched);
    if (end != std::string::npos) {
      std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      return answer;
    }
    searched = received_.size();
    if (searched > kMaxPoolLineBytes || !ReceiveSome()) return std::nullopt;
  }
}

bool PoolConnection::Receive(char* to, size_t bytes) {
  const size_t there = std::min(bytes, received_.size());
  std::memcpy(to, received_.data(), there);
  received_.erase(0, there);
  for (size_t done = there; done < bytes;) {
    const ssize_t count = ::recv(socket_.get(), to + done, bytes - done, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

bool PoolConnection::HasEnded() const {
  pollfd wanted = {socket_.get(), POLLIN, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

bool PoolConnection::Send(const std::string& line, std::string_view payload) {
  // sendmsg does not change what it sends.
  std::array<iovec, 2> parts = {
      iovec{const_cast<char*>(line.data()), line.size()},
      iovec{const_cast<char*>(payload.data()), payload.size()}};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  while (parts[0].iov_len + parts[1].iov_len > 0) {
    const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    size_t sent = static_cast<size_t>(count);
    for (iovec& part : parts) {
      const size_t of_it = std::min(sent, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + of_it;
      part.iov_len -= of_it;
      sent -= of_it;
    }
  }
  return true;
}

bool PoolConnection::ReceiveSome() {
  std::array<char, 16 << 10> part;
  for (;;) {
    const ssize_t count = ::recv(socket_.get(), part.data(), part.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    received_.append(part.data(), static_cast<size_t>(count));
    return true;
  }
}

}  // namespace sluice
