#include "sluice/store/figures.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(FiguresTest, OnlySoManyNamesAreCounted) {
  Figures figures;
  for (size_t i = 0; i < 2 * Figures::kMaxNames; ++i) {
    figures.Add(std::to_string(i) + "_total", 1);
  }
  figures.Add("0_total", 1);
  EXPECT_EQ(figures.All().size(), Figures::kMaxNames);
  EXPECT_EQ(figures.All().at("0_total"), 2u);
}

}  // namespace
}  // namespace sluice
