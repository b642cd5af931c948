#include "sluice/protocol/requests.h"

#include <gtest/gtest.h>

#include <random>

#include "sluice/lease/moved_clock.h"
#include "sluice/protocol/two_tables.h"

namespace sluice {
namespace {

class RequestsTest : public testing::Test {
 protected:
  Json Answer(const std::string& line) {
    return *ReadJson(requests_.Answer(line));
  }
  int CodeOf(const std::string& line) {
    const Json answer = Answer(line);
    return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
  }

  MovedClock clock_;
  LeaseStore leases_{&clock_};
  TwoTables store_;
  Methods methods_{&store_, &leases_};
  Requests requests_{&methods_};
};

TEST_F(RequestsTest, WhatIsNoJsonIsAnsweredWithNull) {
  const std::string lines[] = {
      "",
      "hello",
      "{",
      R"({"jsonrpc":"2.0","id":1} x)",
      R"({"jsonrpc":"2.0","id":1})" + std::string(1, 0),
      "{\"id\":\"\xFF\"}",
      std::string(100000, '['),
      std::string(100, '[') + std::string(100, ']')};
  for (const std::string& line : lines) {
    EXPECT_EQ(CodeOf(line), -32700) << line.substr(0, 40);
    EXPECT_TRUE(Answer(line)["id"].is_null());
  }
}

TEST_F(RequestsTest, ANumberThatNoDoubleHoldsIsRefusedAsAMember) {
  const std::string order =
      R"({"jsonrpc":"2.0","id":7,"method":"set","params":{"kind":"compaction",)"
      R"("setting":{"name":"hold"},"owner":"-1e400 \\\" 1e400",)"
      R"("time_to_live_seconds":)";
  EXPECT_EQ(CodeOf(order + "1e400}}"), -32602);
  EXPECT_EQ(Answer(order + "-1e400}}")["id"], 7);
  EXPECT_EQ(Answer(order + "1e400}")["id"], nullptr);
  EXPECT_EQ(CodeOf(order + "1e2}}"), 0);
}

TEST_F(RequestsTest, BracketsInTextsAreNoNesting) {
  const std::string brackets = "\\\"" + std::string(60, '[');
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","id":1,"method":"snapshot","x":")" +
                   brackets + "\"}"),
            0);
}

TEST_F(RequestsTest, WhatIsNoRequestIsRefused) {
  for (const char* line :
       {"[]", "7", "null", "{}", R"({"jsonrpc":"2.0","method":"snapshot"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"snapshot"})",
        R"({"jsonrpc":"2.0","id":-1,"method":"snapshot"})",
        R"({"jsonrpc":"1.0","id":1,"method":"snapshot"})",
        R"({"jsonrpc":"2.0","id":1,"method":7})"}) {
    EXPECT_EQ(CodeOf(line), -32600) << line;
  }
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","id":1,"method":"explode"})"), -32601);
  EXPECT_EQ(
      CodeOf(R"({"jsonrpc":"2.0","id":1,"method":"snapshot","params":[]})"),
      -32602);
}

TEST_F(RequestsTest, IdsAreRepeated) {
  for (const char* id : {"0", "9007199254740991", "\"\"", R"("µ \" \\ \n")"}) {
    const Json answer = Answer(R"({"jsonrpc":"2.0","method":"snapshot","id":)" +
                               std::string(id) + "}");
    EXPECT_EQ(answer["id"], *ReadJson(id));
    EXPECT_TRUE(answer.contains("result"));
  }
  const std::string long_id(65, 'z');
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","method":"snapshot","id":")" + long_id +
                   "\"}"),
            -32600);
}

TEST_F(RequestsTest, AnAnswerIsNeverLongerThanALine) {
  store_.padding_bytes = kMaxLineBytes;
  EXPECT_EQ(CodeOf(R"({"jsonrpc":"2.0","id":1,"method":"snapshot"})"), -32603);
}

// Lines that are almost requests: each gets one answer, which is one line.
TEST_F(RequestsTest, AnyLineHasAnAnswer) {
  const std::string seeds[] = {
      R"({"jsonrpc":"2.0","id":1,"method":"set","params":{"kind":"compaction",)"
      R"("scope":"a","setting":{"name":"hold"},"owner":"x",)"
      R"("time_to_live_seconds":1e2,"replace":true}})",
      R"({"jsonrpc":"2.0","id":"a","method":"describe","params":{)"
      R"("protocol_version":{"major":1,"minor":2}}})",
      R"({"jsonrpc":"2.0","id":2,"method":"clear","params":{"owner":"x"}})"};
  std::mt19937 random(9);
  for (int i = 0; i < 100000; ++i) {
    std::string line = seeds[random() % std::size(seeds)];
    for (unsigned changes = random() % 4; changes > 0; --changes) {
      const size_t at = random() % line.size();
      switch (random() % 3) {
        case 0:
          line[at] = static_cast<char>(random());
          break;
        case 1:
          line.erase(at, random() % 8);
          line += ' ';
          break;
        default:
          line.insert(at, line.substr(random() % line.size(), random() % 9));
      }
    }
    const std::string answer = requests_.Answer(line);
    const auto read = ReadJson(answer);
    ASSERT_TRUE(read) << line << "\n" << answer;
    ASSERT_EQ((*read)["jsonrpc"], "2.0");
    ASSERT_EQ(answer.find('\n'), std::string::npos);
    ASSERT_NE(read->contains("result"), read->contains("error"));
  }
}

}  // namespace
}  // namespace sluice
