#include "sluice/protocol/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "sluice/lease/moved_clock.h"
#include "sluice/protocol/two_tables.h"

namespace sluice {
namespace {

constexpr char kSnapshot[] = R"({"jsonrpc":"2.0","id":1,"method":"snapshot"})";

// A client that waits for its answers, a minute at most.
class Client {
 public:
  explicit Client(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    const timeval minute = {60, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &minute,
                 sizeof minute);
    is_connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) == 0;
  }

  bool IsConnected() const { return is_connected_; }

  void Send(const std::string& text) {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t count = ::send(socket_.get(), text.data() + sent,
                                   text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<size_t>(count);
    }
  }
  void CloseWrite() { ::shutdown(socket_.get(), SHUT_WR); }

  // The next line; empty at the end.
  std::string Receive() {
    size_t end;
    while ((end = received_.find('\n')) == std::string::npos) {
      char part[4096];
      const ssize_t count = ::recv(socket_.get(), part, sizeof part, 0);
      if (count <= 0) return "";
      received_.append(part, static_cast<size_t>(count));
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }

 private:
  FileDescriptor socket_;
  bool is_connected_ = false;
  std::string received_;
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    char folder[] = "/tmp/sluice-server-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    server_ = Start("main");
  }
  ~ServerTest() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::unique_ptr<Server> Start(const std::string& instance) {
    return Server::Start(folder_ + "/rocksdb", instance, &requests_, &error_);
  }

  MovedClock clock_;
  LeaseStore leases_{&clock_};
  TwoTables store_;
  Methods methods_{&store_, &leases_};
  Requests requests_{&methods_};
  std::string folder_;
  std::string error_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, HasAPlaceOfItsOwn) {
  struct stat status;
  ASSERT_EQ(::stat(server_->path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0660u);
  EXPECT_EQ(Start("main"), nullptr);
  EXPECT_NE(error_.find("another process"), std::string::npos);
  EXPECT_NE(Start("other"), nullptr);
  EXPECT_EQ(Start("../escape"), nullptr);
  const std::string path = server_->path();
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ServerTest, TakesOverTheSocketOfADeadProcess) {
  const std::string path = server_->path();
  server_.reset();
  {
    FileDescriptor dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address),
                     sizeof address),
              0);
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  server_ = Start("main");
  ASSERT_NE(server_, nullptr) << error_;
  Client client(path);
  client.Send(std::string(kSnapshot) + "\n");
  EXPECT_NE(client.Receive().find("result"), std::string::npos);
}

// It goes on after its parent has died, whose socket is left there.
TEST_F(ServerTest, AForkedChildDoesNotKeepTheSocket) {
  std::array<int, 2> ends;
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const pid_t child = ::fork();
  char running = 0;
  if (child == 0) {
    ::close(ends[1]);
    if (::write(ends[0], &running, 1) != 1) ::_exit(2);
    ::_exit(::read(ends[0], &running, 1) == 0 ? 0 : 1);
  }
  ::close(ends[0]);
  // fork() may return here before the child has closed anything.
  ASSERT_EQ(::read(ends[1], &running, 1), 1);
  const std::string path = server_->path();
  std::filesystem::rename(path, path + ".left");
  server_.reset();
  std::filesystem::rename(path + ".left", path);
  server_ = Start("main");
  EXPECT_NE(server_, nullptr) << error_;
  ::close(ends[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(ServerTest, ASocketThatReplacedItsOwnIsLeftThere) {
  EXPECT_TRUE(server_->IsThere());
  const std::string path = server_->path();
  std::filesystem::remove(path);
  EXPECT_FALSE(server_->IsThere());
  const auto second = Start("main");
  ASSERT_NE(second, nullptr) << error_;
  EXPECT_FALSE(server_->IsThere());
  server_.reset();
  EXPECT_TRUE(second->IsThere());
}

TEST_F(ServerTest, APathThatIsTooLongIsRefused) {
  EXPECT_EQ(Server::Start(folder_ + "/" + std::string(100, 'x'), "main",
                          &requests_, &error_),
            nullptr);
  EXPECT_NE(error_.find("too long"), std::string::npos);
}

TEST_F(ServerTest, AFolderThatStaysLockedIsNotWaitedFor) {
  const FileDescriptor folder(
      ::open((folder_ + "/rocksdb").c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(::flock(folder.get(), LOCK_EX), 0);
  EXPECT_EQ(Start("other"), nullptr);
  EXPECT_NE(error_.find("cannot use the folder"), std::string::npos);
}

TEST_F(ServerTest, AnswersInOrderAlsoAfterTheClientHasClosed) {
  Client client(server_->path());
  std::string lines;
  for (int id = 0; id < 500; ++id) {
    lines += R"({"jsonrpc":"2.0","method":"snapshot","id":)" +
             std::to_string(id) + "}\n";
  }
  client.Send(lines);
  client.CloseWrite();
  for (int id = 0; id < 500; ++id) {
    EXPECT_EQ((*ReadJson(client.Receive()))["id"], id);
  }
  EXPECT_EQ(client.Receive(), "");
}

TEST_F(ServerTest, ASilentClientHoldsUpNoOther) {
  Client silent(server_->path());
  silent.Send("{\"unfinished");
  Client unread(server_->path());
  store_.padding_bytes = kMaxLineBytes / 2;
  for (int i = 0; i < 20; ++i) unread.Send(std::string(kSnapshot) + "\n");
  Client client(server_->path());
  client.Send(std::string(kSnapshot) + "\n");
  EXPECT_NE(client.Receive().find("result"), std::string::npos);
}

TEST_F(ServerTest, TheLongestLineIsReadAndALongerOneEndsTheConnection) {
  const std::string line(kSnapshot);
  Client client(server_->path());
  client.Send(line + std::string(kMaxLineBytes - line.size(), ' ') + "\n");
  EXPECT_NE(client.Receive().find("result"), std::string::npos);
  client.Send(line + std::string(kMaxLineBytes + 1 - line.size(), ' ') + "\n" +
              line + "\n");
  EXPECT_NE(client.Receive().find("-32600"), std::string::npos);
  EXPECT_EQ(client.Receive(), "");
}

TEST_F(ServerTest, ConnectionsBeyondTheBoundAreTurnedAway) {
  std::vector<Client> clients;
  for (size_t i = 0; i < Server::kMaxConnections; ++i) {
    clients.emplace_back(server_->path());
    clients.back().Send(std::string(kSnapshot) + "\n");
    ASSERT_NE(clients.back().Receive(), "");
  }
  Client late(server_->path());
  EXPECT_NE(late.Receive().find("-32005"), std::string::npos);
  clients.clear();
  for (std::string answer; answer.find("result") == std::string::npos;) {
    Client next(server_->path());
    next.Send(std::string(kSnapshot) + "\n");
    answer = next.Receive();
  }
}

}  // namespace
}  // namespace sluice
