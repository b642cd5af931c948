#include "sluice/remote/agent_silence.h"

#include <gtest/gtest.h>

#include "sluice/lease/moved_clock.h"

namespace sluice {
namespace {

TEST(AgentSilenceTest, ASilentAgentIsLeftAloneForAWhile) {
  MovedClock clock;
  AgentSilence silence(&clock);
  EXPECT_TRUE(silence.IsOver());
  silence.Begin();
  clock.Move(AgentSilence::kSeconds - 0.1);
  EXPECT_FALSE(silence.IsOver());
  clock.Move(0.1);
  EXPECT_TRUE(silence.IsOver());
}

}  // namespace
}  // namespace sluice
