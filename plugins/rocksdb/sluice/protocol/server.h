// Serves the control socket in a thread of its own.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "sluice/protocol/connection.h"
#include "sluice/protocol/requests.h"
#include "sluice/protocol/socket_place.h"

namespace sluice {

class Server {
 public:
  // Connections beyond this are turned away.
  static constexpr size_t kMaxConnections = 64;

  // Serves FOLDER/INSTANCE.sock until it is destroyed; nothing, and the
  // reason in `error`, where that cannot be.
  static std::unique_ptr<Server> Start(const std::string& folder,
                                       const std::string& instance,
                                       Requests* requests, std::string* error);
  ~Server();

  const std::string& path() const { return place_.path(); }
  // False once its socket was removed: nobody new comes in.
  bool IsThere() const { return place_.IsThere(); }

 private:
  Server(SocketPlace place, FileDescriptor wake, Requests* requests);

  void Run();
  void WaitForEvents();
  void Accept();

  SocketPlace place_;
  // Written to at the end, so that poll returns.
  FileDescriptor wake_;
  Requests* const requests_;
  std::list<Connection> connections_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace sluice
