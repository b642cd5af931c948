#include "sluice/remote/agent_connection.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <filesystem>
#include <future>

#include "sluice/protocol/socket_place.h"

namespace sluice {
namespace {

constexpr Duration kMinute = std::chrono::minutes(1);

class AgentConnectionTest : public testing::Test {
 protected:
  AgentConnectionTest() {
    char folder[] = "/tmp/sluice-agent-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    std::string error;
    place_ = SocketPlace::Listen(folder_, "agent", &error);
  }
  ~AgentConnectionTest() override { std::filesystem::remove_all(folder_); }

  FileDescriptor Accept() {
    pollfd wanted = {place_.listener().get(), POLLIN, 0};
    ::poll(&wanted, 1, -1);
    return FileDescriptor(::accept(place_.listener().get(), nullptr, nullptr));
  }
  static void Send(const FileDescriptor& peer, const std::string& text) {
    ASSERT_EQ(::send(peer.get(), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
  }

  std::string folder_;
  SocketPlace place_;
};

TEST_F(AgentConnectionTest, IsNotOpenWhereNobodyListens) {
  EXPECT_FALSE(AgentConnection(folder_ + "/none.sock").IsOpen());
  EXPECT_FALSE(AgentConnection(std::string(200, 'x')).IsOpen());
}

TEST_F(AgentConnectionTest, AnswersMayComeInPartsOrTogether) {
  AgentConnection connection(place_.path());
  ASSERT_TRUE(connection.IsOpen());
  const FileDescriptor peer = Accept();
  Send(peer, "first");
  Send(peer, " answer\nsecond\n");
  EXPECT_EQ(connection.Exchange("a", kMinute), "first answer");
  EXPECT_EQ(connection.Exchange("b", kMinute), "second");
}

TEST_F(AgentConnectionTest, SilenceAndTheEndAreNoAnswer) {
  AgentConnection connection(place_.path());
  FileDescriptor peer = Accept();
  EXPECT_FALSE(connection.Exchange("a", std::chrono::milliseconds(1)));
  EXPECT_TRUE(connection.IsOverdue());
  peer.Close();
  EXPECT_FALSE(connection.Exchange("b", kMinute));
  AgentConnection lost(place_.path());
  Accept().Close();
  EXPECT_FALSE(lost.Exchange("c", kMinute));
  EXPECT_FALSE(lost.IsOverdue());
}

TEST_F(AgentConnectionTest, ALineThatIsTooLongIsNoAnswer) {
  AgentConnection connection(place_.path());
  const FileDescriptor peer = Accept();
  auto answer = std::async(std::launch::async,
                           [&] { return connection.Exchange("a", kMinute); });
  const std::string part(1 << 16, 'x');
  while (answer.wait_for(std::chrono::seconds(0)) !=
         std::future_status::ready) {
    ::send(peer.get(), part.data(), part.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  EXPECT_FALSE(answer.get());
}

TEST_F(AgentConnectionTest, CancelEndsWhatWaits) {
  AgentConnection connection(place_.path());
  const FileDescriptor peer = Accept();
  auto answer = std::async(std::launch::async, [&] {
    return connection.Exchange("a", std::chrono::hours(1));
  });
  char byte;
  ASSERT_EQ(::recv(peer.get(), &byte, 1, 0), 1);
  connection.Cancel();
  EXPECT_FALSE(answer.get());
}

}  // namespace
}  // namespace sluice
