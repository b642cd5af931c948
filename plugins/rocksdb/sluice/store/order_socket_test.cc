#include "sluice/store/order_socket.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "sluice/lease/moved_clock.h"
#include "sluice/protocol/two_tables.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class OrderSocketTest : public testing::Test {
 protected:
  OrderSocketTest() {
    char folder[] = "/tmp/sluice-socket-test-XXXXXX";
    root_ = ::mkdtemp(folder);
    folder_ = root_ + "/rocksdb";
  }
  ~OrderSocketTest() override {
    socket_.Close();
    fs::remove_all(root_);
  }
  bool IsThere() const { return fs::exists(folder_ + "/main.sock"); }

  MovedClock clock_;
  LeaseStore leases_{&clock_};
  TwoTables store_;
  Methods methods_{&store_, &leases_};
  Requests requests_{&methods_};
  OrderSocket socket_{&requests_, &clock_};
  std::string root_;
  std::string folder_;
};

TEST_F(OrderSocketTest, IsThereUntilItIsClosed) {
  socket_.Open(folder_, "main");
  EXPECT_TRUE(IsThere());
  EXPECT_EQ(socket_.State(), "orders are taken at " + folder_ + "/main.sock");
  socket_.Close();
  EXPECT_FALSE(IsThere());
}

TEST_F(OrderSocketTest, WhereItCannotBeMadeItIsTriedAgain) {
  std::ofstream(folder_).close();
  socket_.Open(folder_, "main");
  EXPECT_NE(socket_.State().find("cannot use the folder"), std::string::npos);
  fs::remove(folder_);
  clock_.Move(OrderSocket::kRetrySeconds - 1);
  socket_.Keep();
  EXPECT_FALSE(IsThere());
  clock_.Move(1);
  socket_.Keep();
  EXPECT_TRUE(IsThere());
}

TEST_F(OrderSocketTest, OnceClosedItStaysClosed) {
  socket_.Keep();
  socket_.Open(folder_, "main");
  socket_.Close();
  clock_.Move(2 * OrderSocket::kRetrySeconds);
  socket_.Keep();
  EXPECT_FALSE(IsThere());
}

TEST_F(OrderSocketTest, OneThatWasRemovedIsMadeAnew) {
  socket_.Open(folder_, "main");
  fs::remove_all(folder_);
  clock_.Move(OrderSocket::kRetrySeconds);
  socket_.Keep();
  EXPECT_TRUE(IsThere());
}

}  // namespace
}  // namespace sluice
