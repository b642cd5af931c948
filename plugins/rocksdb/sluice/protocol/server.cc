#include "sluice/protocol/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <vector>

#include "sluice/signal_free_thread.h"

namespace sluice {
namespace {

// When the process has no descriptors left, accept fails at once each time.
constexpr int kNoDescriptorPauseMilliseconds = 100;

}  // namespace

std::unique_ptr<Server> Server::Start(const std::string& folder,
                                      const std::string& instance,
                                      Requests* requests, std::string* error) {
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.IsOpen()) {
    *error = "no file descriptor is left; raise the limit of this process";
    return nullptr;
  }
  SocketPlace place = SocketPlace::Listen(folder, instance, error);
  if (!place.listener().IsOpen()) return nullptr;
  std::unique_ptr<Server> server(
      new Server(std::move(place), std::move(wake), requests));
  server->thread_ = StartSignalFreeThread("sluice-socket",
                                          [raw = server.get()] { raw->Run(); });
  return server;
}

Server::Server(SocketPlace place, FileDescriptor wake, Requests* requests)
    : place_(std::move(place)), wake_(std::move(wake)), requests_(requests) {}

Server::~Server() {
  is_ending_ = true;
  ::eventfd_write(wake_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void Server::Run() {
  while (!is_ending_) {
    try {
      WaitForEvents();
      Accept();
      connections_.remove_if([](Connection& each) { return !each.Serve(); });
    } catch (const std::exception&) {
      // Memory has run out: clients connect again, the store goes on.
      connections_.clear();
    }
  }
}

void Server::WaitForEvents() {
  std::vector<pollfd> wanted = {{wake_.get(), POLLIN, 0},
                                {place_.listener().get(), POLLIN, 0}};
  for (const Connection& each : connections_) {
    wanted.push_back({each.descriptor(), each.WantedEvents(), 0});
  }
  ::poll(wanted.data(), wanted.size(), -1);
}

void Server::Accept() {
  for (;;) {
    FileDescriptor socket(::accept4(place_.listener().get(), nullptr, nullptr,
                                    SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.IsOpen()) break;
    const bool is_full = connections_.size() >= kMaxConnections;
    connections_.emplace_back(std::move(socket), requests_);
    if (is_full) {
      connections_.back().TurnAway(Requests::TurnedAway(kMaxConnections));
    }
  }
  if (errno == EMFILE || errno == ENFILE) {
    ::poll(nullptr, 0, kNoDescriptorPauseMilliseconds);
  }
}

}  // namespace sluice
