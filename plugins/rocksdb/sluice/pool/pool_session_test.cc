// The session against an agent that the test plays: what becomes of requests
// when it goes away. tests/rocksdb/pool has real agents.
#include "sluice/pool/pool_session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "sluice/pool/played_agent.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IOStatus;

class PoolSessionTest : public testing::Test {
 protected:
  PoolSessionTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("sluice-pool-" + std::to_string(::getpid()))),
        path_(folder_ / "pool.sock") {
    std::filesystem::create_directory(folder_);
  }
  ~PoolSessionTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<PoolSession> NewSession(double wait_seconds,
                                          uint64_t outer_epoch = 0) {
    return std::make_unique<PoolSession>(
        PoolSettings{.agent_socket = path_,
                     .place = {"orders", "/", "test", outer_epoch},
                     .wait_seconds = wait_seconds},
        MonotonicClock::Default());
  }

  // Begins sessions, and opens files.
  std::string Usual(const std::string& method) {
    if (method == "attach") {
      return Result(R"({"protocol_version":{"major":1,"minor":1},)"
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

TEST_F(PoolSessionTest, NestedOneHasNoLock) {
  std::vector<std::string> methods;
  Json attached;
  PlayedAgent agent(path_, [&](const std::string& method, const Json& params) {
    methods.push_back(method);
    if (method != "attach") return Usual(method);
    attached = params;
    return Result(
        R"({"protocol_version":{"major":1,"minor":1},"session":"n"})");
  });
  auto session = NewSession(0, 7);
  std::string name;
  ASSERT_TRUE(session->HoldForWorkers(&name).ok());
  EXPECT_EQ(name, "n");
  EXPECT_EQ(attached["outer_epoch"], 7);
  EXPECT_FALSE(attached.contains("lock"));
  ASSERT_TRUE(session->Change("remove", {{"path", "/1"}}).ok());
  EXPECT_EQ(methods, (std::vector<std::string>{"attach", "join", "remove"}));
}

// Whoever has given the directory to it may have taken it back since.
TEST_F(PoolSessionTest, NestedOneIsNotGoneOnWith) {
  std::atomic<int> attached{0};
  const auto answer = [&](const std::string& method, const Json&) {
    if (method == "attach") ++attached;
    return Usual(method);
  };
  auto agent = std::make_unique<PlayedAgent>(path_, answer);
  auto session = NewSession(600, 7);
  ASSERT_TRUE(session->Hold().ok());
  agent.reset();
  agent = std::make_unique<PlayedAgent>(path_, answer);
  const IOStatus status = session->Change("remove", {{"path", "/1"}});
  EXPECT_TRUE(status.IsIOError());
  EXPECT_FALSE(status.GetRetryable());
  EXPECT_NE(status.ToString().find("begin the work anew"), std::string::npos);
  EXPECT_EQ(attached, 1);
}

TEST_F(PoolSessionTest, ReleaseNeedsTheLease) {
  std::vector<std::string> methods;
  Json released;
  PlayedAgent agent(path_, [&](const std::string& method, const Json& params) {
    methods.push_back(method);
    if (method == "release") released = params;
    return Usual(method);
  });
  auto session = NewSession(0);
  EXPECT_TRUE(session->Release("/job").ok());
  EXPECT_EQ(methods, (std::vector<std::string>{"attach", "join", "release"}));
  EXPECT_EQ(released, Json({{"path", "/job"}}));
}

// It would end the session at a method that it does not know.
TEST_F(PoolSessionTest, AnOlderAgentIsNotAskedForWorkers) {
  std::vector<std::string> methods;
  PlayedAgent agent(path_, [&](const std::string& method, const Json&) {
    methods.push_back(method);
    if (method != "attach") return Usual(method);
    return Result(R"({"protocol_version":{"major":1,"minor":0},)"
                  R"("session":"s","lock":"0f"})");
  });
  auto session = NewSession(0);
  std::string name;
  EXPECT_TRUE(session->Hold().ok());
  EXPECT_TRUE(session->HoldForWorkers(&name).IsNotSupported());
  EXPECT_TRUE(session->Release("/job").IsNotSupported());
  EXPECT_EQ(std::count(methods.begin(), methods.end(), "release"), 0);
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
