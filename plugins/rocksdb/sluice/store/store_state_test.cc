#include "sluice/store/store_state.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr uint64_t kGiB = 1ull << 30;

TEST(StoreStateTest, AFamilyIsFoundByItsId) {
  StoreState store;
  store.families.resize(3);
  store.families[1].id = 4;
  store.families[2].id = 9;
  EXPECT_EQ(store.Find(0), &store.families[0]);
  EXPECT_EQ(store.Find(9), &store.families[2]);
  EXPECT_EQ(store.Find(5), nullptr);
  EXPECT_EQ(store.Find(10), nullptr);
}

TEST(StoreStateTest, AFamilyIsFoundByItsName) {
  StoreState store;
  store.families.resize(2);
  store.families[1].name = "users";
  EXPECT_EQ(store.Find("users"), &store.families[1]);
  EXPECT_EQ(store.Find("orders"), nullptr);
}

TEST(StoreStateTest, ObsoleteFilesMayBeAQuarterOfTheStore) {
  StoreState store;
  store.live_bytes = 40 * kGiB;
  store.obsolete_bytes = 5 * kGiB;
  EXPECT_DOUBLE_EQ(ObsoleteFilesCloseness(store), 0.5);
  store.obsolete_bytes = 10 * kGiB;
  EXPECT_DOUBLE_EQ(ObsoleteFilesCloseness(store), 1);
}

TEST(StoreStateTest, ASmallStoreMayKeepAGibibyte) {
  StoreState store;
  store.obsolete_bytes = kGiB / 2;
  EXPECT_DOUBLE_EQ(ObsoleteFilesCloseness(store), 0.5);
}

TEST(StoreStateTest, TwiceABoundIsTheLimitOfWhatGoesBeyondIt) {
  EXPECT_EQ(ExcessCloseness(kGiB, kGiB), 0);
  EXPECT_DOUBLE_EQ(ExcessCloseness(kGiB + kGiB / 2, kGiB), 0.5);
  EXPECT_DOUBLE_EQ(ExcessCloseness(2 * kGiB, kGiB), 1);
  EXPECT_EQ(ExcessCloseness(kGiB, 0), 0);
}

}  // namespace
}  // namespace sluice
