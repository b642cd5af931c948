// The session against an agent that the test plays: what becomes of requests
// when it goes away. tests/rocksdb/pool has real agents.
#include "sluice/pool/pool_session.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IOStatus;

std::string Result(const char* members) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string(members) + "}\n";
}

std::string Refusal(const char* code, const char* reason) {
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
    char part[4096];
    const ssize_t count = ::recv(client->socket.get(), part, sizeof part, 0);
    if (count <= 0) return false;
    client->received.append(part, count);
    const size_t end = client->received.find('\n');
    if (end == std::string::npos) return true;
    const auto request = ReadJson(client->received.substr(0, end));
    const std::string method = (*request)["method"];
    const Json params = (*request)["params"];
    // What follows the line of an append is not looked at.
    client->received.erase(0, end + 1 + params.value("bytes", 0));
    const std::string answer = answer_(method, params);
    if (answer.empty()) return false;
    return ::send(client->socket.get(), answer.data(), answer.size(), 0) ==
           static_cast<ssize_t>(answer.size());
  }

  const Answer answer_;
  FileDescriptor listener_;
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

class PoolSessionTest : public testing::Test {
 protected:
  PoolSessionTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("sluice-pool-" + std::to_string(::getpid()))),
        path_(folder_ / "pool.sock") {
    std::filesystem::create_directory(folder_);
  }
  ~PoolSessionTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<PoolSession> NewSession(double wait_seconds) {
    return std::make_unique<PoolSession>(
        PoolSettings{.agent_socket = path_,
                     .place = {"orders", "/", "test"},
                     .wait_seconds = wait_seconds},
        MonotonicClock::Default());
  }

  // Begins sessions, and opens files.
  std::string Usual(const std::string& method) {
    if (method == "attach") {
      return Result(R"({"protocol_version":{"major":1,"minor":0},)"
                    R"("session":"s","lock":"0f"})");
    }
    if (method == "view") return Result(R"({"session":"v"})");
    if (method == "create" || method == "open") {
      return Result(R"({"file":1,"id":"0a","length_bytes":5})");
    }
    if (method == "read") return Result(R"({"bytes":5})").append("hello");
    return Result("{}");
  }

  const std::filesystem::path folder_;
  const std::filesystem::path path_;
};

TEST_F(PoolSessionTest, OnlyChangesTakeTheLease) {
  std::vector<std::string> methods;
  PlayedAgent agent(path_, [&](const std::string& method, const Json&) {
    methods.push_back(method);
    return Usual(method);
  });
  auto session = NewSession(30);
  PoolFile file;
  ASSERT_TRUE(session->Open("/1", &file).ok());
  EXPECT_EQ(methods, (std::vector<std::string>{"view", "join", "open"}));
  char to[8];
  size_t count = 0;
  ASSERT_TRUE(session->Read(file, 0, sizeof to, to, &count).ok());
  EXPECT_EQ(std::string(to, count), "hello");
  ASSERT_TRUE(session->Change("remove", {{"path", "/2"}}).ok());
  EXPECT_EQ(methods[4], "attach");
  // The file was the view's.
  EXPECT_TRUE(session->Read(file, 0, sizeof to, to, &count).IsAborted());
}

TEST_F(PoolSessionTest, AgentThatIsNotThereIsRetryable) {
  auto session = NewSession(0);
  const IOStatus status = session->Change("remove", {{"path", "/1"}});
  EXPECT_TRUE(status.IsIOError());
  EXPECT_TRUE(status.GetRetryable());
  EXPECT_NE(status.ToString().find("pool.client.socket"), std::string::npos);
}

TEST_F(PoolSessionTest, GoesOnWithAnAgentThatIsStartedAnew) {
  std::string lock;
  auto agent = std::make_unique<PlayedAgent>(
      path_,
      [&](const std::string& method, const Json&) { return Usual(method); });
  auto session = NewSession(600);
  PoolFile written;
  ASSERT_TRUE(session->Create("/1", &written).ok());
  agent.reset();
  std::thread later([&] {
    agent = std::make_unique<PlayedAgent>(
        path_, [&](const std::string& method, const Json& params) {
          if (method == "attach") lock = params.value("lock", "");
          return Usual(method);
        });
  });
  Json found;
  EXPECT_TRUE(session->Look("stat", {{"path", "/1"}}, &found).ok());
  later.join();
  EXPECT_EQ(lock, "0f");
  EXPECT_TRUE(session->Append(written, "more").IsAborted());
}

TEST_F(PoolSessionTest, ChangeWhoseAnswerWasLostIsNotMadeAgain) {
  std::atomic<int> removals{0};
  PlayedAgent agent(path_, [&](const std::string& method, const Json&) {
    if (method != "remove") return Usual(method);
    ++removals;
    return std::string();
  });
  auto session = NewSession(600);
  const IOStatus status = session->Change("remove", {{"path", "/1"}});
  EXPECT_TRUE(status.GetRetryable()) << status.ToString();
  EXPECT_EQ(removals, 1);
}

TEST_F(PoolSessionTest, LeaseThatAnotherHadIsLostUntilTheEnd) {
  auto agent = std::make_unique<PlayedAgent>(
      path_,
      [&](const std::string& method, const Json&) { return Usual(method); });
  auto session = NewSession(600);
  ASSERT_TRUE(session->Hold().ok());
  agent.reset();
  agent = std::make_unique<PlayedAgent>(
      path_, [&](const std::string& method, const Json& params) {
        return params.contains("lock") ? Refusal("refused", "fenced")
                                       : Usual(method);
      });
  Json found;
  for (int i = 0; i < 2; ++i) {
    const IOStatus status = session->Look("stat", {{"path", "/1"}}, &found);
    EXPECT_TRUE(status.IsIOError());
    EXPECT_FALSE(status.GetRetryable());
  }
  session->End();
  EXPECT_TRUE(session->Hold().ok());
}

TEST_F(PoolSessionTest, RefusalsAreOfKindsThatRocksDbKnows) {
  std::string answer;
  PlayedAgent agent(path_, [&](const std::string& method, const Json&) {
    return method == "remove" ? answer : Usual(method);
  });
  auto session = NewSession(0);
  const auto remove = [&](const char* code, const char* reason) {
    answer = Refusal(code, reason);
    return session->Change("remove", {{"path", "/1"}});
  };
  EXPECT_TRUE(remove("not-found", "not-found").IsPathNotFound());
  EXPECT_TRUE(remove("unavailable", "full").IsNoSpace());
  EXPECT_TRUE(remove("refused", "open").IsNotSupported());
  EXPECT_TRUE(remove("unavailable", "unavailable").GetRetryable());
  EXPECT_FALSE(remove("refused", "fenced").GetRetryable());
}

}  // namespace
}  // namespace sluice
