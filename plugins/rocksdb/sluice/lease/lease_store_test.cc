#include "sluice/lease/lease_store.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

const Setting kHold{SettingName::kHold, 0};

Setting Rate(double bytes_per_second) {
  return {SettingName::kRate, bytes_per_second};
}

class LeaseStoreTest : public testing::Test {
 protected:
  LeaseStore::Given Set(const std::string& scope, Setting setting,
                        double seconds, const std::string& owner = "ann",
                        bool replace = false) {
    return leases_.Set({Kind::kCompaction, scope, setting, owner, {}}, seconds,
                       replace);
  }
  std::optional<Lease> Find(const std::vector<std::string>& scopes,
                            Aspect aspect = Aspect::kPace) const {
    return leases_.Find(Kind::kCompaction, aspect, scopes);
  }

  MovedClock clock_;
  LeaseStore leases_{&clock_};
};

TEST_F(LeaseStoreTest, EndsByItself) {
  Set("", kHold, 5);
  clock_.Move(4.999);
  EXPECT_TRUE(Find({""}));
  clock_.Move(0.001);
  EXPECT_FALSE(Find({""}));
  EXPECT_TRUE(leases_.All().empty());
}

TEST_F(LeaseStoreTest, RenewingBeginsAnew) {
  Set("", kHold, 5);
  clock_.Move(4);
  Set("", kHold, 2);
  clock_.Move(1.5);
  EXPECT_TRUE(Find({""}));
  clock_.Move(0.5);
  EXPECT_FALSE(Find({""}));
}

TEST_F(LeaseStoreTest, TheFirstScopeThatHasOneCounts) {
  Set("", kHold, 5);
  Set("orders", Rate(7), 5);
  EXPECT_EQ(Find({"orders/default", "orders", ""})->setting, Rate(7));
  EXPECT_EQ(Find({"other/default", "other", ""})->setting, kHold);
}

TEST_F(LeaseStoreTest, AnEndedLeaseUncoversTheWiderOne) {
  Set("", kHold, 50);
  Set("orders", Rate(7), 5);
  clock_.Move(5);
  EXPECT_EQ(Find({"orders", ""})->setting, kHold);
}

TEST_F(LeaseStoreTest, AspectsAndKindsHoldSideBySide) {
  Set("", kHold, 5);
  Set("", {SettingName::kPriority, 3}, 5);
  EXPECT_EQ(leases_.All().size(), 2u);
  EXPECT_EQ(Find({""}, Aspect::kPriority)->setting.number, 3);
  EXPECT_FALSE(leases_.Find(Kind::kFlush, Aspect::kPace, {""}));
}

TEST_F(LeaseStoreTest, WhetherThereIsOneIsKnownByAspect) {
  Set("", kHold, 5);
  EXPECT_TRUE(leases_.MayHave(Kind::kCompaction, Aspect::kPace));
  EXPECT_FALSE(leases_.MayHave(Kind::kCompaction, Aspect::kDeferral));
  EXPECT_FALSE(leases_.MayHave(Kind::kFlush, Aspect::kPace));
  leases_.Clear("ann");
  EXPECT_FALSE(leases_.MayHave(Kind::kCompaction, Aspect::kPace));
}

TEST_F(LeaseStoreTest, AspectsOfLogPlacementHaveOwnersOfTheirOwn) {
  const auto set = [this](Setting setting, const char* owner) {
    return leases_.Set({Kind::kLogPlacement, "", std::move(setting), owner, {}},
                       5, false);
  };
  EXPECT_FALSE(set({SettingName::kTier, 0, "slow"}, "ann").refused);
  EXPECT_FALSE(set({SettingName::kRedirectQueue, 8}, "bob").refused);
  EXPECT_FALSE(set({SettingName::kRedirectSize, 4096}, "ann").refused);
  EXPECT_FALSE(set({SettingName::kRedirectStep, 0.5}, "bob").refused);
  EXPECT_TRUE(set({SettingName::kTier, 0, "fast"}, "bob").refused);
  EXPECT_EQ(leases_.All().size(), 4u);
  EXPECT_TRUE(leases_.MayHave(Kind::kLogPlacement, Aspect::kRedirectStep));
  EXPECT_FALSE(leases_.MayHave(Kind::kFlush, Aspect::kTier));
  const auto tier = leases_.Find(Kind::kLogPlacement, Aspect::kTier, {""});
  ASSERT_TRUE(tier);
  EXPECT_EQ(tier->setting.text, "slow");
  EXPECT_EQ(ToText(tier->setting), "tier=slow");
}

TEST_F(LeaseStoreTest, KindsHaveNames) {
  for (size_t i = 0; i < kKinds; ++i) {
    const Kind kind = static_cast<Kind>(i);
    EXPECT_EQ(KindNamed(NameOf(kind)), kind);
  }
  EXPECT_FALSE(KindNamed("checkpoint"));
}

TEST_F(LeaseStoreTest, AnotherOwnerIsRefusedUnlessItReplaces) {
  Set("", kHold, 5);
  const auto refused = Set("", Rate(7), 5, "bob");
  EXPECT_TRUE(refused.refused);
  EXPECT_EQ(refused.lease.owner, "ann");
  EXPECT_EQ(Find({""})->setting, kHold);
  EXPECT_FALSE(Set("", Rate(7), 5, "bob", true).refused);
  EXPECT_EQ(Find({""})->owner, "bob");
}

TEST_F(LeaseStoreTest, OnlySoManyAreGiven) {
  for (size_t i = 0; i < LeaseStore::kMaxLeases; ++i) {
    EXPECT_FALSE(Set(std::to_string(i), kHold, 5).is_full);
  }
  EXPECT_TRUE(Set("more", kHold, 5).is_full);
  EXPECT_FALSE(Set("0", Rate(7), 5).is_full);
  leases_.Clear("ann", Kind::kCompaction, "1");
  EXPECT_FALSE(Set("more", kHold, 5).is_full);
}

TEST_F(LeaseStoreTest, AnEndedLeaseIsNobodys) {
  Set("", kHold, 5);
  clock_.Move(5);
  EXPECT_FALSE(Set("", Rate(7), 5, "bob").refused);
}

TEST_F(LeaseStoreTest, ClearEndsThoseOfOneOwner) {
  Set("", kHold, 5);
  Set("orders", kHold, 5);
  Set("other", kHold, 5, "bob");
  EXPECT_EQ(leases_.Clear("ann", Kind::kCompaction, "orders"), 1u);
  EXPECT_EQ(leases_.Clear("ann", Kind::kFlush, ""), 0u);
  EXPECT_EQ(leases_.Clear("ann"), 1u);
  EXPECT_EQ(leases_.All().size(), 1u);
}

TEST_F(LeaseStoreTest, WhatHasEndedIsNotCountedAsCleared) {
  Set("", kHold, 5);
  clock_.Move(6);
  EXPECT_EQ(leases_.Clear("ann"), 0u);
}

TEST_F(LeaseStoreTest, SafetyEndsAllOfAKind) {
  Set("", kHold, 5);
  Set("orders", kHold, 5, "bob");
  leases_.Set({Kind::kFlush, "", kHold, "ann", {}}, 5, false);
  const Setting slow{SettingName::kTier, 0, "slow"};
  leases_.Set({Kind::kLogPlacement, "", slow, "ann", {}}, 5, false);
  EXPECT_EQ(leases_.EndAll(Kind::kCompaction), 2u);
  EXPECT_EQ(leases_.EndAll(Kind::kFlush), 1u);
  EXPECT_EQ(leases_.All().size(), 1u);
}

TEST_F(LeaseStoreTest, WhatIsInsideAScopeEndsWithIt) {
  for (const char* scope : {"", "a", "a/b", "a/b/L1", "ab", "*/*/L1"}) {
    Set(scope, kHold, 5);
  }
  EXPECT_EQ(leases_.EndWithin("a"), 3u);
  EXPECT_EQ(leases_.EndWithin(""), 3u);
}

TEST_F(LeaseStoreTest, RevertGivesBackWhatWasThere) {
  Set("", Rate(7), 5);
  const auto given = Set("", kHold, 9);
  leases_.Revert(given);
  EXPECT_EQ(Find({""})->setting, Rate(7));
  const auto alone = Set("orders", kHold, 9);
  leases_.Revert(alone);
  EXPECT_FALSE(Find({"orders"}));
}

TEST_F(LeaseStoreTest, RevertLeavesWhatCameAfter) {
  const auto given = Set("", kHold, 9);
  Set("", Rate(7), 5, "bob", true);
  leases_.Revert(given);
  EXPECT_EQ(Find({""})->owner, "bob");
}

TEST_F(LeaseStoreTest, ListenersHearOfEveryChange) {
  int changes = 0;
  leases_.AddListener([&] { ++changes; });
  Set("", kHold, 5);
  EXPECT_EQ(changes, 1);
  leases_.Clear("bob");
  EXPECT_EQ(changes, 1);
  clock_.Move(5);
  leases_.Sweep();
  EXPECT_EQ(changes, 2);
  leases_.Sweep();
  EXPECT_EQ(changes, 2);
  EXPECT_TRUE(leases_.IsEmpty());
}

// Random orders against a model that keeps every order ever given.
TEST_F(LeaseStoreTest, BehavesAsItsModel) {
  struct Ordered {
    std::string owner;
    double number;
    double ends_at;
  };
  std::mt19937 random(3);
  std::map<std::string, Ordered> model;
  const std::vector<std::string> scopes = {"a/b", "a", ""};
  const std::vector<std::string> owners = {"ann", "bob"};
  double now = 0;
  for (int step = 0; step < 20000; ++step) {
    const std::string& scope = scopes[random() % scopes.size()];
    const std::string& owner = owners[random() % owners.size()];
    const double seconds = 1 + random() % 5;
    const bool replace = random() % 3 == 0;
    const auto held = model.find(scope);
    const bool is_held = held != model.end() && held->second.ends_at > now;
    const bool conflicts = is_held && held->second.owner != owner && !replace;
    switch (random() % 4) {
      case 0:
        ASSERT_EQ(Set(scope, Rate(step + 1), seconds, owner, replace).refused,
                  conflicts);
        if (!conflicts) model[scope] = {owner, step + 1.0, now + seconds};
        break;
      case 1: {
        const size_t expected = is_held && held->second.owner == owner;
        ASSERT_EQ(leases_.Clear(owner, Kind::kCompaction, scope), expected);
        if (expected) model.erase(held);
        break;
      }
      case 2:
        leases_.Sweep();
        break;
      default:
        clock_.Move(0.5);
        now += 0.5;
    }
    const auto found = Find(scopes);
    const Ordered* narrowest = nullptr;
    for (const auto& each : scopes) {
      const auto entry = model.find(each);
      if (narrowest == nullptr && entry != model.end() &&
          entry->second.ends_at > now) {
        narrowest = &entry->second;
      }
    }
    ASSERT_EQ(found.has_value(), narrowest != nullptr);
    if (found) {
      ASSERT_EQ(found->setting.number, narrowest->number);
    }
  }
}

}  // namespace
}  // namespace sluice
