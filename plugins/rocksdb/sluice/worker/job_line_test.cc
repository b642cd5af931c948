#include "sluice/worker/job_line.h"

#include <gtest/gtest.h>

#include <random>

#include "rocksdb/version.h"
#include "sluice/protocol/json.h"

namespace sluice {
namespace {

Json GoodLine() {
  return {
      {"protocol_version", {{"major", 1}, {"minor", 7}}},
      {"job",
       {{"id", "j1"},
        {"database_path", "/srv/db"},
        {"output_path", "/srv/db/.sluice-compaction-j1"},
        {"rocksdb_version",
         {{"major", ROCKSDB_MAJOR}, {"minor", ROCKSDB_MINOR}, {"patch", 0}}},
        {"objects", Json::array({{{"kind", "comparator"}, {"name", "mine"}}})},
        {"input", "AAr/"},
        {"of_a_newer_minor_version", true}}},
      {"libraries", {"/opt/filters.so"}},
      {"memory_limit_bytes", 1},
      {"temporary_limit_bytes", 1e3}};
}

std::string ReasonOf(const Json& line) {
  const auto read = ReadJobLine(WriteJson(line));
  const auto* failure = std::get_if<JobFailure>(&read);
  return failure == nullptr ? "" : failure->reason;
}

TEST(JobLineTest, AGoodLineIsAJob) {
  const auto read = ReadJobLine(WriteJson(GoodLine()));
  const auto& job = std::get<WorkerJob>(read);
  EXPECT_EQ(job.id, "j1");
  EXPECT_EQ(job.input, std::string("\0\n\xFF", 3));
  EXPECT_EQ(job.objects[0].second, "mine");
  EXPECT_EQ(job.libraries[0], "/opt/filters.so");
  EXPECT_EQ(job.temporary_limit_bytes, 1000u);
  EXPECT_FALSE(job.is_resumable);
}

TEST(JobLineTest, AJobIsResumableIfItSaysSo) {
  Json line = GoodLine();
  line["resumable"] = true;
  const auto read = ReadJobLine(WriteJson(line));
  EXPECT_TRUE(std::get<WorkerJob>(read).is_resumable);
  line["resumable"] = 1;
  EXPECT_EQ(ReasonOf(line), "failed");
}

TEST(JobLineTest, AJobIsAutomaticIfItSaysSo) {
  Json line = GoodLine();
  EXPECT_FALSE(std::get<WorkerJob>(ReadJobLine(WriteJson(line))).is_automatic);
  line["job"]["is_automatic"] = true;
  EXPECT_TRUE(std::get<WorkerJob>(ReadJobLine(WriteJson(line))).is_automatic);
}

TEST(JobLineTest, AnotherVersionIsSaidFirst) {
  Json line = GoodLine();
  line["job"]["rocksdb_version"]["minor"] = ROCKSDB_MINOR + 1;
  line["job"].erase("input");
  EXPECT_EQ(ReasonOf(line), "version");
  line = GoodLine();
  line["protocol_version"]["major"] = 2;
  EXPECT_EQ(ReasonOf(line), "version");
}

TEST(JobLineTest, ANewerPatchVersionIsAnotherOne) {
  Json line = GoodLine();
  line["job"]["rocksdb_version"]["patch"] = ROCKSDB_PATCH;
  EXPECT_EQ(ReasonOf(line), "");
  line["job"]["rocksdb_version"]["patch"] = ROCKSDB_PATCH + 1;
  EXPECT_EQ(ReasonOf(line), "version");
}

TEST(JobLineTest, TablesOfTheNextLevelHaveKeysAndSizes) {
  Json line = GoodLine();
  Json& tables = line["job"]["next_level_tables"];
  tables =
      Json::array({{{"smallest", "AAr/"}, {"largest", ""}, {"bytes", 1e3}}});
  const auto read = ReadJobLine(WriteJson(line));
  const auto& told = std::get<WorkerJob>(read).next_level_tables;
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].smallest, std::string("\0\n\xFF", 3));
  EXPECT_EQ(told[0].largest, "");
  EXPECT_EQ(told[0].bytes, 1000u);
  tables[0]["largest"] = "?";
  EXPECT_EQ(ReasonOf(line), "failed");
  tables = Json::array({1});
  EXPECT_EQ(ReasonOf(line), "failed");
  tables = 1;
  EXPECT_EQ(ReasonOf(line), "failed");
}

TEST(JobLineTest, PathsLeadNowhereElse) {
  for (const char* path : {"", "srv", "/srv/../etc", "/srv//db", "/srv/./db",
                           "/srv/db/", "/srv/d\nb"}) {
    Json line = GoodLine();
    line["job"]["database_path"] = path;
    EXPECT_EQ(ReasonOf(line), "path") << path;
  }
  for (const char* path :
       {"/srv/db", "/srv/db/.sluice-compaction-j2",
        "/srv/db/.sluice-compaction-j1/../x", ".sluice-compaction-j1"}) {
    Json line = GoodLine();
    line["job"]["output_path"] = path;
    EXPECT_EQ(ReasonOf(line), "path") << path;
  }
}

TEST(JobLineTest, PathsThatWereCheckedComeTogetherAndAreClean) {
  Json line = GoodLine();
  line["checked_database_path"] = "/mnt/db";
  EXPECT_EQ(ReasonOf(line), "path");
  line["checked_output_path"] = "/mnt/db/.sluice-compaction-j1";
  const auto read = ReadJobLine(WriteJson(line));
  const auto& job = std::get<WorkerJob>(read);
  EXPECT_EQ(job.database_path, "/srv/db");
  EXPECT_EQ(job.checked_database_path, "/mnt/db");
  EXPECT_EQ(job.checked_output_path, "/mnt/db/.sluice-compaction-j1");
  line["checked_output_path"] = "/mnt/db/.sluice-compaction-j2";
  EXPECT_EQ(ReasonOf(line), "path");
  line["checked_output_path"] = 7;
  EXPECT_EQ(ReasonOf(line), "failed");
}

Json PooledLine() {
  Json line = GoodLine();
  line["job"]["pool"] = {{"volume", "orders"}, {"outer_epoch", 7}};
  line["pool_socket"] = "/run/sluice/agent/pool.sock";
  line["checked_output_path"] = "/var/tmp/.sluice-compaction-j1";
  return line;
}

TEST(JobLineTest, AJobMayBeInAPool) {
  Json line = PooledLine();
  line["resumable"] = true;
  const auto read = ReadJobLine(WriteJson(line));
  const auto& job = std::get<WorkerJob>(read);
  ASSERT_TRUE(job.pool);
  EXPECT_EQ(job.pool->volume, "orders");
  EXPECT_EQ(job.pool->outer_epoch, 7u);
  EXPECT_EQ(job.pool->socket, "/run/sluice/agent/pool.sock");
  EXPECT_EQ(job.database_path, "/srv/db");
  EXPECT_FALSE(job.is_resumable);
  EXPECT_FALSE(std::get<WorkerJob>(ReadJobLine(WriteJson(GoodLine()))).pool);
}

TEST(JobLineTest, WhatIsSaidOfAPoolIsAllThere) {
  for (const char* pool :
       {"{}", "7", R"({"volume":"orders"})", R"({"outer_epoch":7})",
        R"({"volume":"","outer_epoch":7})",
        R"({"volume":"orders","outer_epoch":0})",
        R"({"volume":"orders","outer_epoch":-1})"}) {
    Json line = PooledLine();
    line["job"]["pool"] = *ReadJson(pool);
    EXPECT_EQ(ReasonOf(line), "failed") << pool;
  }
  Json line = PooledLine();
  line.erase("pool_socket");
  EXPECT_EQ(ReasonOf(line), "failed");
  line = PooledLine();
  line["job"].erase("pool");
  EXPECT_EQ(ReasonOf(line), "failed");
}

TEST(JobLineTest, InAPoolTheFolderOfThisNodeAloneIsChecked) {
  Json line = PooledLine();
  line["pool_socket"] = "pool.sock";
  EXPECT_EQ(ReasonOf(line), "path");
  line = PooledLine();
  line["checked_database_path"] = "/srv/db";
  EXPECT_EQ(ReasonOf(line), "path");
  line = PooledLine();
  line["checked_output_path"] = "/var/tmp/.sluice-compaction-j2";
  EXPECT_EQ(ReasonOf(line), "path");
  line.erase("checked_output_path");
  EXPECT_EQ(ReasonOf(line), "path");
}

TEST(JobLineTest, WhatIsMissingOrOfAnotherTypeFails) {
  const Json good = GoodLine();
  for (const char* name : {"id", "database_path", "output_path", "objects",
                           "input", "rocksdb_version"}) {
    for (const bool is_missing : {true, false}) {
      Json line = good;
      if (is_missing) {
        line["job"].erase(name);
      } else {
        line["job"][name] = 7;
      }
      EXPECT_NE(ReasonOf(line), "") << name;
    }
  }
  Json line = good;
  line["job"]["objects"] = {7};
  EXPECT_EQ(ReasonOf(line), "failed");
  line = good;
  line["libraries"] = {"relative.so"};
  EXPECT_EQ(ReasonOf(line), "failed");
}

TEST(JobLineTest, AnyLineIsAJobOrAFailure) {
  const std::string good = WriteJson(GoodLine());
  std::mt19937 random(8);
  for (int i = 0; i < 50000; ++i) {
    std::string line = good;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % line.size();
      if (random() % 2 == 0) {
        line[at] = static_cast<char>(random());
      } else {
        line.erase(at, random() % 9);
      }
    }
    const auto read = ReadJobLine(line);
    if (const auto* failure = std::get_if<JobFailure>(&read)) {
      ASSERT_FALSE(failure->reason.empty());
      continue;
    }
    const auto& job = std::get<WorkerJob>(read);
    ASSERT_EQ(job.database_path.find("/.."), std::string::npos);
    ASSERT_FALSE(job.input.empty());
  }
}

}  // namespace
}  // namespace sluice
