#include "sluice/protocol/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace sluice {
namespace {

// After so many steps it is the turn of the other connections.
constexpr int kStepsATime = 64;

}  // namespace

short Connection::WantedEvents() const {
  const bool has_work = !to_send_.empty() || searched_ < received_.size();
  return has_work ? POLLOUT : POLLIN;
}

bool Connection::Serve() {
  for (int i = 0; i < kStepsATime; ++i) {
    switch (Step()) {
      case Progress::kMade:
        break;
      case Progress::kMustWait:
        return true;
      case Progress::kEnded:
        return false;
    }
  }
  return true;
}

Connection::Progress Connection::Step() {
  if (!to_send_.empty()) return Write();
  if (is_ending_) return Progress::kEnded;
  if (AnswerLine()) return Progress::kMade;
  return Read();
}

void Connection::TurnAway(std::string line) {
  to_send_ = std::move(line) + '\n';
  is_ending_ = true;
}

Connection::Progress Connection::Write() {
  const ssize_t count = ::send(socket_.get(), to_send_.data() + sent_,
                               to_send_.size() - sent_, MSG_NOSIGNAL);
  if (count < 0) return AfterFailure();
  sent_ += static_cast<size_t>(count);
  if (sent_ == to_send_.size()) {
    to_send_.clear();
    sent_ = 0;
  }
  return Progress::kMade;
}

// At the end of the client's direction all whole lines have been answered.
Connection::Progress Connection::Read() {
  std::array<char, 64 << 10> part;
  const ssize_t count = ::recv(socket_.get(), part.data(), part.size(), 0);
  if (count < 0) return AfterFailure();
  if (count == 0) return Progress::kEnded;
  received_.append(part.data(), static_cast<size_t>(count));
  return Progress::kMade;
}

Connection::Progress Connection::AfterFailure() {
  if (errno == EINTR) return Progress::kMade;
  const bool must_wait = errno == EAGAIN || errno == EWOULDBLOCK;
  return must_wait ? Progress::kMustWait : Progress::kEnded;
}

// Answers the next line, if there is a whole one or one that is too long.
bool Connection::AnswerLine() {
  const size_t end = received_.find('\n', searched_);
  const bool is_whole = end != std::string::npos;
  searched_ = is_whole ? end : received_.size();
  if (searched_ > kMaxLineBytes) {
    TurnAway(Requests::TooLong());
    return true;
  }
  if (!is_whole) return false;
  to_send_ =
      requests_->Answer(std::string_view(received_).substr(0, end)) + '\n';
  received_.erase(0, end + 1);
  searched_ = 0;
  return true;
}

}  // namespace sluice
