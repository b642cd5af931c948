// Latency of one class of requests over intervals.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

struct LatencySummary {
  uint64_t count = 0;
  double mean_seconds = 0;
  double p50_seconds = 0;
  double p99_seconds = 0;
  double p999_seconds = 0;
  double max_seconds = 0;
};

// Counts in buckets that are at most 1/32 wide, relative to what they hold.
// Recording takes no lock; threads are spread over shards, so that they do
// not contend for the same counters.
class Histogram {
 public:
  // The last bucket holds all that took longer: more than a week.
  static constexpr size_t kBuckets = 1184;

  Histogram();

  void Record(uint64_t microseconds);

  // Sums up what was recorded since the last call. For one thread at a time.
  LatencySummary TakeInterval();

  static size_t BucketOf(uint64_t microseconds);
  // The largest value that a bucket holds.
  static uint64_t UpperMicroseconds(size_t bucket);

 private:
  static constexpr size_t kShards = 8;

  struct alignas(64) Shard {
    std::array<std::atomic<uint64_t>, kBuckets> counts{};
    std::atomic<uint64_t> sum_microseconds{0};
  };

  std::unique_ptr<std::array<Shard, kShards>> shards_;
  std::vector<uint64_t> counts_before_;
  uint64_t sum_before_ = 0;
};

}  // namespace sluice
