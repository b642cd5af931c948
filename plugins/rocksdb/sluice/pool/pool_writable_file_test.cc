// A file that is written, where the agent has to be asked for it anew.
#include "sluice/pool/pool_writable_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "sluice/pool/played_agent.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::IOOptions;

// Has files without content, and cannot add to the first one once.
class FailingOnce {
 public:
  std::string Answer(const std::string& method, const Json& params) {
    if (method == "attach") {
      return Result(R"({"protocol_version":{"major":1,"minor":1},)"
                    R"("session":"s","lock":"0f"})");
    }
    if (method == "create") return Create(params["path"]);
    if (method == "open") return Open(ids_[params["path"]]);
    if (method == "rename") ids_[params["target"]] = ids_[params["source"]];
    if (method == "close" || method == "seal") open_.erase(params["file"]);
    const bool fails = method == "append" && params["file"] == 1 && !failed_;
    if (!fails) return Result("{}");
    failed_ = true;
    return Refusal("unavailable", "unavailable");
  }
  const std::set<uint64_t>& open() const { return open_; }

 private:
  std::string Create(const std::string& path) {
    ids_[path] = "0" + std::to_string(last_ + 1);
    return Open(ids_[path]);
  }
  std::string Open(const std::string& id) {
    open_.insert(++last_);
    const Json opened = {{"file", last_}, {"id", id}, {"length_bytes", 0}};
    return Result(opened.dump().c_str());
  }

  std::map<std::string, std::string> ids_;
  std::set<uint64_t> open_;
  uint64_t last_ = 0;
  bool failed_ = false;
};

TEST(PoolWritableFileTest, OneThatIsMadeAnewLeavesNoneOpen) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("sluice-pool-file-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "pool.sock";
  FailingOnce pool;
  {
    PlayedAgent agent(path, [&](const std::string& method, const Json& params) {
      return pool.Answer(method, params);
    });
    const auto session = std::make_shared<PoolSession>(
        PoolSettings{.agent_socket = path,
                     .place = {"orders", "/", "test", 0},
                     .wait_seconds = 0},
        MonotonicClock::Default());
    PoolFile created;
    ASSERT_TRUE(session->Create("/1", &created).ok());
    PoolWritableFile file(session, "/1", created);
    EXPECT_TRUE(file.Append("hello", IOOptions(), nullptr).ok());
    EXPECT_EQ(pool.open().size(), 1u);
    EXPECT_EQ(pool.open().count(created.number), 0u);
    EXPECT_TRUE(file.Close(IOOptions(), nullptr).ok());
    EXPECT_TRUE(pool.open().empty());
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sluice
