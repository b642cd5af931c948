// An agent that a test plays, for files of a pool.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sluice/protocol/file_descriptor.h"
#include "sluice/protocol/json.h"

namespace sluice {

inline std::string Result(const char* members) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(members) + "}\n";
}

inline std::string Refusal(const char* code, const char* reason) {
  return R"({"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"no",)"
         R"("data":{"code":")" +
         std::string(code) + R"(","reason":")" + reason + "\"}}}\n";
}

// Answers each line by a function; nothing ends the connection.
class PlayedAgent {
 public:
  using Answer =
      std::function<std::string(const std::string& method, const Json& params)>;

  PlayedAgent(const std::string& path, Answer answer)
      : answer_(std::move(answer)) {
    std::filesystem::remove(path);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    listener_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                     sizeof address),
              0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    thread_ = std::thread([this] { Serve(); });
  }

  ~PlayedAgent() {
    is_ending_ = true;
    thread_.join();
  }

  // What follows the line that is being answered.
  const std::string& payload() const { return payload_; }

 private:
  struct Client {
    FileDescriptor socket;
    std::string received;
  };

  void Serve() {
    std::vector<Client> clients;
    while (!is_ending_) {
      std::vector<pollfd> wanted = {{listener_.get(), POLLIN, 0}};
      for (const Client& each : clients) {
        wanted.push_back({each.socket.get(), POLLIN, 0});
      }
      ::poll(wanted.data(), wanted.size(), 5);
      for (size_t i = clients.size(); i > 0; --i) {
        const bool is_over = wanted[i].revents != 0 && !Take(&clients[i - 1]);
        if (is_over) clients.erase(clients.begin() + (i - 1));
      }
      if (wanted[0].revents != 0) {
        clients.push_back(
            {FileDescriptor(::accept(listener_.get(), nullptr, nullptr)), ""});
      }
    }
  }

  bool Take(Client* client) {
    std::array<char, 64 << 10> part;
    const ssize_t count =
        ::recv(client->socket.get(), part.data(), part.size(), 0);
    if (count <= 0) return false;
    client->received.append(part.data(), count);
    const size_t end = client->received.find('\n');
    if (end == std::string::npos) return true;
    const auto request = ReadJson(client->received.substr(0, end));
    const std::string method = (*request)["method"];
    const Json params = (*request)["params"];
    const size_t bytes = params.value("bytes", 0);
    if (client->received.size() < end + 1 + bytes) return true;
    payload_ = client->received.substr(end + 1, bytes);
    client->received.erase(0, end + 1 + bytes);
    const std::string answer = answer_(method, params);
    if (answer.empty()) return false;
    for (size_t sent = 0; sent < answer.size();) {
      const ssize_t more = ::send(client->socket.get(), answer.data() + sent,
                                  answer.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += more;
    }
    return true;
  }

  const Answer answer_;
  std::string payload_;
  FileDescriptor listener_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

}  // namespace sluice
