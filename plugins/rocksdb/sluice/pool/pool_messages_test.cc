#include "sluice/pool/pool_messages.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(PoolMessages, RequestsAreLinesOfJson) {
  const std::string line =
      PoolRequest("attach", AttachParams({"orders", "/db", "rocksdb"}, "0f"));
  const auto read = ReadJson(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ((*read)["method"], "attach");
  EXPECT_EQ((*read)["params"]["volume"], "orders");
  EXPECT_EQ((*read)["params"]["lock"], "0f");
  const Json first = AttachParams({"orders", "/db", "rocksdb"}, "");
  EXPECT_FALSE(first.contains("lock"));
  EXPECT_FALSE(first.contains("outer_epoch"));
  const PoolPlace nested = {"orders", "/db/job", "compaction", 7};
  EXPECT_EQ(AttachParams(nested, "")["outer_epoch"], 7);
}

TEST(PoolMessages, AnswersSayWhatIsRefused) {
  const PoolAnswer done =
      ReadPoolAnswer(R"({"jsonrpc":"2.0","id":1,"result":{"file":7}})");
  EXPECT_EQ(done.kind, PoolAnswer::Kind::kDone);
  EXPECT_EQ(CountIn(done.result, "file"), 7);
  EXPECT_FALSE(TextIn(done.result, "file"));
  const PoolAnswer refused = ReadPoolAnswer(
      R"({"id":1,"error":{"code":-32003,"message":"it is gone",)"
      R"("data":{"code":"refused","reason":"fenced","hint":"Go."}}})");
  EXPECT_EQ(refused.kind, PoolAnswer::Kind::kRefused);
  EXPECT_EQ(refused.code, "refused");
  EXPECT_EQ(refused.reason, "fenced");
  EXPECT_EQ(refused.message, "it is gone (Go.)");
}

TEST(PoolMessages, WhatIsNoAnswerIsBroken) {
  for (const char* line :
       {"", "{", "[]", "{}", R"({"result":7})", R"({"error":"no"})",
        R"({"error":{"code":-32003}})"}) {
    EXPECT_EQ(ReadPoolAnswer(line).kind, PoolAnswer::Kind::kBroken) << line;
  }
}

TEST(PoolMessages, ListsComeToAnEnd) {
  const auto names = NamesIn(
      *ReadJson(R"({"names":[{"name":"a","kind":"file","length_bytes":3},)"
                R"({"name":"b","kind":"directory"}],"more":true})"));
  ASSERT_TRUE(names);
  ASSERT_EQ(names->names.size(), 2);
  EXPECT_EQ(names->names[0].length_bytes, 3);
  EXPECT_TRUE(names->names[1].is_directory);
  EXPECT_TRUE(names->has_more);
  for (const char* result :
       {R"({"names":[],"more":true})", R"({"names":[]})", R"({"more":true})",
        R"({"names":[{"name":"","kind":"file"}],"more":false})",
        R"({"names":["a"],"more":false})"}) {
    EXPECT_FALSE(NamesIn(*ReadJson(result))) << result;
  }
}

}  // namespace
}  // namespace sluice
