// A database with the plug-in, and a client of its socket, for tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/object_registry.h"
#include "sluice/protocol/json.h"
#include "sluice/remote/agent_connection.h"

extern "C" int sluice_register(ROCKSDB_NAMESPACE::ObjectLibrary&,
                               const std::string&);

namespace sluice {

// How long a test waits for what must come, on a machine that is busy.
inline constexpr Duration kPatience = std::chrono::minutes(2);

class OpenedStore : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const int registered =
        sluice_register(*ROCKSDB_NAMESPACE::ObjectLibrary::Default(), "");
    ASSERT_EQ(registered, 2);
  }

  OpenedStore() {
    char folder[] = "/tmp/sluice-store-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    options_.create_if_missing = true;
    options_.compression = ROCKSDB_NAMESPACE::kNoCompression;
    options_.level_compaction_dynamic_level_bytes = false;
  }
  ~OpenedStore() override {
    db_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Opens the database `orders` with these options of the plug-in.
  void Open(const std::string& more = "remote=false") {
    const auto status = ROCKSDB_NAMESPACE::DB::Open(OptionsWith(more),
                                                    folder_ + "/orders", &db_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  ROCKSDB_NAMESPACE::Options OptionsWith(const std::string& more) const {
    const std::string text =
        "compaction_service={id=sluice;socket_directory=" + folder_ + ";" +
        more + "}";
    ROCKSDB_NAMESPACE::ConfigOptions how;
    how.ignore_unsupported_options = false;
    ROCKSDB_NAMESPACE::DBOptions opened;
    const auto parsed = ROCKSDB_NAMESPACE::GetDBOptionsFromString(
        how, ROCKSDB_NAMESPACE::DBOptions(options_), text, &opened);
    EXPECT_TRUE(parsed.ok()) << parsed.ToString();
    return {opened, ROCKSDB_NAMESPACE::ColumnFamilyOptions(options_)};
  }

  // The result of a call, or its error.
  Json Call(const std::string& method, const Json& params) {
    AgentConnection client(folder_ + "/rocksdb/main.sock");
    const auto answer = client.Exchange(WriteJson({{"jsonrpc", "2.0"},
                                                   {"id", 1},
                                                   {"method", method},
                                                   {"params", params}}),
                                        kPatience);
    const auto read = ReadJson(answer.value_or(""));
    if (!read) return Json::object();
    return read->contains("result") ? (*read)["result"] : (*read)["error"];
  }
  Json Set(const char* kind, const std::string& scope, const Json& setting) {
    return Call("set", {{"kind", kind},
                        {"scope", scope},
                        {"setting", setting},
                        {"owner", "test"},
                        {"time_to_live_seconds", 600}});
  }
  void Clear() { Call("clear", {{"owner", "test"}}); }

  // The first snapshot that is as wanted.
  Json Await(const std::function<bool(const Json&)>& is_wanted) {
    const TimePoint latest = MonotonicClock::Default()->Now() + kPatience;
    Json snapshot;
    do {
      snapshot = Call("snapshot", Json::object());
      if (is_wanted(snapshot)) return snapshot;
      std::this_thread::yield();
    } while (MonotonicClock::Default()->Now() < latest);
    ADD_FAILURE() << "it never came: " << snapshot.dump();
    return snapshot;
  }
  Json AwaitTask(const std::string& kind, const std::string& state) {
    const Json snapshot = Await([&](const Json& shown) {
      return FindTask(shown, kind, state).is_object();
    });
    return FindTask(snapshot, kind, state);
  }

  static Json FindTask(const Json& snapshot, const std::string& kind,
                       const std::string& state) {
    for (const Json& task : snapshot.at("tasks")) {
      if (task["kind"] == kind && task["state"] == state) return task;
    }
    return nullptr;
  }

  // A file in L0 with `count` values of 1000 bytes.
  void AddFile(int count, int first = 0) {
    for (int i = 0; i < count; ++i) Put(first + i);
    ASSERT_TRUE(db_->Flush(ROCKSDB_NAMESPACE::FlushOptions()).ok());
  }
  void Put(int key) {
    ++version_;
    const std::string value = std::to_string(version_) + std::string(1000, 'v');
    values_[key] = value;
    const auto status = db_->Put(ROCKSDB_NAMESPACE::WriteOptions(),
                                 "key" + std::to_string(key), value);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  void ExpectAllThere() {
    for (const auto& [key, value] : values_) {
      std::string found;
      const auto status = db_->Get(ROCKSDB_NAMESPACE::ReadOptions(),
                                   "key" + std::to_string(key), &found);
      ASSERT_TRUE(status.ok()) << status.ToString();
      ASSERT_EQ(found, value);
    }
  }
  uint64_t FilesAtLevel(int level) {
    std::string count;
    db_->GetProperty("rocksdb.num-files-at-level" + std::to_string(level),
                     &count);
    return std::stoull(count);
  }

  std::string folder_;
  ROCKSDB_NAMESPACE::Options options_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
  std::map<int, std::string> values_;
  int version_ = 0;
};

}  // namespace sluice
