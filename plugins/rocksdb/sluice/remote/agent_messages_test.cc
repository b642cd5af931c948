#include "sluice/remote/agent_messages.h"

#include <gtest/gtest.h>

#include <random>

#include "sluice/protocol/json.h"
#include "sluice/text/base64.h"

namespace sluice {
namespace {

using State = AgentAnswer::State;

TEST(AgentMessagesTest, AJobIsOneLine) {
  RemoteJob job;
  job.id = "a-b-1";
  job.database_path = "/srv/a\nb";
  job.input = std::string("\0\n\xFF", 3);
  job.is_automatic = true;
  job.objects = {{"merge-operator", "StringAppendOperator"}};
  const std::string line = RunLine(job);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto members = (*ReadJson(line))["params"]["job"];
  EXPECT_EQ(members["input"], "AAr/");
  EXPECT_EQ(members["objects"][0]["name"], "StringAppendOperator");
  EXPECT_EQ(members["rocksdb_version"]["major"], 11);
  EXPECT_EQ(members["data_paths"], Json::array());
  EXPECT_EQ(members["is_automatic"], true);
  EXPECT_FALSE(members.contains("pool_session"));
}

TEST(AgentMessagesTest, AJobInAPoolSaysOfWhichSession) {
  RemoteJob job;
  job.pool_session = "0f";
  EXPECT_EQ((*ReadJson(RunLine(job)))["params"]["job"]["pool_session"], "0f");
}

TEST(AgentMessagesTest, APlacementIsRemoteOrLocalForAReason) {
  EXPECT_EQ(
      ReadRunAnswer(R"({"result":{"placement":"remote","node":"b"}})").state,
      State::kRemote);
  const AgentAnswer busy = ReadRunAnswer(
      R"({"result":{"placement":"local","reason":"busy","detail":"x"}})");
  EXPECT_EQ(busy.state, State::kLocal);
  EXPECT_EQ(busy.reason, "busy");
}

TEST(AgentMessagesTest, WhatIsNotUnderstoodIsLocal) {
  for (const char* line :
       {"", "{}", "[]", R"({"error":{"code":-32002,"message":"x"}})",
        R"({"result":[]})", R"({"result":{"state":7}})",
        R"({"result":{"state":"local","reason":"No Word"}})",
        R"({"result":{"placement":"local"}})"}) {
    EXPECT_EQ(ReadRunAnswer(line).reason, "agent-error") << line;
    EXPECT_EQ(ReadWaitAnswer(line).reason, "agent-error") << line;
  }
}

TEST(AgentMessagesTest, AWaitEndsWithAResultOrAReason) {
  const AgentAnswer running = ReadWaitAnswer(
      R"({"result":{"state":"running","bytes_read":5,"bytes_written":3}})");
  EXPECT_EQ(running.state, State::kRunning);
  EXPECT_EQ(running.bytes_read, 5u);
  const AgentAnswer done =
      ReadWaitAnswer(R"({"result":{"state":"done","result":"AAr/"}})");
  EXPECT_EQ(done.state, State::kDone);
  EXPECT_EQ(done.result, std::string("\0\n\xFF", 3));
  EXPECT_EQ(
      ReadWaitAnswer(R"({"result":{"state":"done","result":"A"}})").reason,
      "output-invalid");
  EXPECT_EQ(ReadWaitAnswer(R"({"result":{"state":"done"}})").reason,
            "output-invalid");
  EXPECT_EQ(
      ReadWaitAnswer(R"({"result":{"state":"local","reason":"worker-lost"}})")
          .reason,
      "worker-lost");
}

// That of a compaction with hundreds of tables.
TEST(AgentMessagesTest, ALongResultIsTheSame) {
  const std::string result(300000, '\xFB');
  const std::string text = ToBase64(result);
  for (const std::string& line :
       {R"({"result":{"state":"done","node":"b","result":")" + text + "\"}}",
        R"({"result":{"result" : ")" + text + R"(" ,"state":"done"}})"}) {
    const AgentAnswer done = ReadWaitAnswer(line);
    EXPECT_EQ(done.state, State::kDone);
    EXPECT_TRUE(done.result == result);
  }
}

TEST(AgentMessagesTest, OtherLongTextsAreNoResult) {
  const std::string text(40000, 'A');
  for (const std::string& line :
       {R"({"result":{"state":"done","node":")" + text + "\"}}",
        R"({"result":{"state":"done","result":"A","x":")" + text + "\"}}",
        R"({"result":{"state":"done","result":"\"")" + text + "\"}}",
        R"({"result":{"state":"done","result":"\")" + text + R"(\""}})",
        R"({"result":{"state":"done","result":")" + text + "-\"}}",
        R"({"result":{"state":"done","result":")" + text + "\"",
        R"({"result":{"state":"done","result":")" + text}) {
    EXPECT_EQ(ReadWaitAnswer(line).state, State::kLocal) << line.substr(0, 60);
  }
}

// Whatever an agent says, a local compaction has a reason that can be counted.
TEST(AgentMessagesTest, AnyLineIsAnAnswer) {
  const std::string seeds[] = {
      R"({"jsonrpc":"2.0","id":1,"result":{"state":"done","result":"AAr/"}})",
      R"({"jsonrpc":"2.0","id":1,"result":{"placement":"local","reason":"x"}})",
      R"({"id":1,"result":{"state":"running","bytes_read":1e3}})"};
  std::mt19937 random(6);
  for (int i = 0; i < 50000; ++i) {
    std::string line = seeds[random() % std::size(seeds)];
    for (unsigned changes = random() % 4; changes > 0; --changes) {
      const size_t at = random() % line.size();
      if (random() % 2 == 0) {
        line[at] = static_cast<char>(random());
      } else {
        line.erase(at, random() % 5);
        line += '}';
      }
    }
    for (const AgentAnswer& answer :
         {ReadRunAnswer(line), ReadWaitAnswer(line)}) {
      ASSERT_EQ(answer.state == State::kLocal, !answer.reason.empty());
      ASSERT_EQ(answer.state == State::kDone, !answer.result.empty());
    }
  }
}

}  // namespace
}  // namespace sluice
