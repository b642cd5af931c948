#include "sluice/protocol/server.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <functional>
#include <vector>

namespace sluice {
namespace {

// When the process has no descriptors left, accept fails at once each time.
constexpr int kNoDescriptorPauseMilliseconds = 100;

// Signals are the embedder's: none is delivered to this thread.
std::thread StartWithoutSignals(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

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
  server->thread_ = StartWithoutSignals([raw = server.get()] { raw->Run(); });
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
  ::pthread_setname_np(::pthread_self(), "sluice-socket");
  while (!is_ending_) {
    WaitForEvents();
    Accept();
    connections_.remove_if([](Connection& each) { return !each.Serve(); });
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
