#include "sluice/store/scope_names.h"

#include <gtest/gtest.h>

#include <set>

namespace sluice {
namespace {

TEST(ScopeNamesTest, ADatabaseHasAsManyComponentsAsTellItApart) {
  std::set<std::string> names;
  const auto add = [&](const std::string& path) {
    std::string name = DatabaseName(
        path, [&](const std::string& each) { return names.count(each) > 0; });
    names.insert(name);
    return name;
  };
  EXPECT_EQ(add("/srv/a/store"), "store");
  EXPECT_EQ(add("/srv/b/store/"), "b:store");
  EXPECT_EQ(add("/opt/b/store"), "opt:b:store");
  EXPECT_EQ(add("/opt/b/store"), "opt:b:store~2");
  EXPECT_EQ(add("relative\n"), "relative%0A");
}

TEST(ScopeNamesTest, TheNarrowestScopeComesFirst) {
  EXPECT_EQ(ScopesOf("orders", "index", 3),
            (std::vector<std::string>{"orders/index/L3", "orders/*/L3",
                                      "*/*/L3", "orders/index", "orders", ""}));
  EXPECT_EQ(ScopesOf("orders", "index", -1),
            (std::vector<std::string>{"orders/index", "orders", ""}));
}

TEST(ScopeNamesTest, ScopesAreSplitAsTheyAreMade) {
  for (const int level : {0, 12}) {
    const auto scopes = ScopesOf("orders", "a/b", level);
    const ScopeParts parts = SplitScope(scopes[0]);
    EXPECT_EQ(parts.database, "orders");
    EXPECT_EQ(parts.family, "a/b");
    EXPECT_EQ(parts.level, level);
  }
  EXPECT_EQ(SplitScope("").database, "");
  EXPECT_FALSE(SplitScope("orders/L1").level);
  EXPECT_EQ(SplitScope("orders/L1").family, "L1");
  for (const char* scope : {"o/f/L", "o/f/L-1", "o/f/L100", "o/f/L1x",
                            "o/f/L01", "o/f/L00", "o/f/L+1"}) {
    EXPECT_FALSE(SplitScope(scope).level) << scope;
  }
}

}  // namespace
}  // namespace sluice
