#include "sluice/store/order_socket.h"

#include <system_error>
#include <utility>

namespace sluice {

void OrderSocket::Open(std::string folder, std::string instance) {
  std::lock_guard<std::mutex> lock(mutex_);
  folder_ = std::move(folder);
  instance_ = std::move(instance);
  Try();
}

void OrderSocket::Keep() {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_time = Seconds(clock_->Now() - tried_at_) >= kRetrySeconds;
  if (folder_.empty() || !is_time) return;
  Try();
}

void OrderSocket::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  server_.reset();
  folder_.clear();
}

bool OrderSocket::IsOpen() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return server_ != nullptr;
}

std::string OrderSocket::State() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return server_ ? "orders are taken at " + server_->path()
                 : "no orders are taken, which is tried again: " + error_;
}

void OrderSocket::Try() {
  tried_at_ = clock_->Now();
  if (server_ && server_->IsThere()) return;
  server_.reset();
  try {
    server_ = Server::Start(folder_, instance_, requests_, &error_);
  } catch (const std::system_error& failure) {
    error_ = std::string("no thread can be started: ") + failure.what();
  }
}

}  // namespace sluice
