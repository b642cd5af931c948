#include "sluice/latency/histogram.h"

#include <bit>
#include <cmath>

namespace sluice {
namespace {

constexpr uint64_t kSubBuckets = 32;
constexpr int kSubBucketBits = 5;
constexpr double kSecondsPerMicrosecond = 1e-6;

size_t ShardOfThread(size_t shards) {
  static std::atomic<size_t> next{0};
  thread_local const size_t own = next.fetch_add(1);
  return own % shards;
}

// The least value that at least this share of the counts does not exceed.
double Quantile(const std::vector<uint64_t>& counts, uint64_t total,
                double share) {
  const auto wanted =
      static_cast<uint64_t>(std::ceil(share * static_cast<double>(total)));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < counts.size(); ++bucket) {
    seen += counts[bucket];
    if (seen >= wanted && seen > 0) {
      return static_cast<double>(Histogram::UpperMicroseconds(bucket)) *
             kSecondsPerMicrosecond;
    }
  }
  return 0;
}

}  // namespace

Histogram::Histogram()
    : shards_(std::make_unique<std::array<Shard, kShards>>()),
      counts_before_(kBuckets) {}

// Below 64 a bucket for each value, then 32 for each power of two.
size_t Histogram::BucketOf(uint64_t microseconds) {
  if (microseconds < 2 * kSubBuckets) return microseconds;
  const int shift = std::bit_width(microseconds) - kSubBucketBits - 1;
  const size_t bucket =
      static_cast<size_t>(shift) * kSubBuckets + (microseconds >> shift);
  return bucket < kBuckets ? bucket : kBuckets - 1;
}

uint64_t Histogram::UpperMicroseconds(size_t bucket) {
  if (bucket < 2 * kSubBuckets) return bucket;
  const size_t shift = bucket / kSubBuckets - 1;
  const uint64_t leading = bucket - shift * kSubBuckets;
  return ((leading + 1) << shift) - 1;
}

void Histogram::Record(uint64_t microseconds) {
  Shard& shard = (*shards_)[ShardOfThread(kShards)];
  shard.counts[BucketOf(microseconds)].fetch_add(1, std::memory_order_relaxed);
  shard.sum_microseconds.fetch_add(microseconds, std::memory_order_relaxed);
}

LatencySummary Histogram::TakeInterval() {
  std::vector<uint64_t> counts(kBuckets);
  uint64_t sum = 0;
  for (const Shard& shard : *shards_) {
    for (size_t i = 0; i < kBuckets; ++i) {
      counts[i] += shard.counts[i].load(std::memory_order_relaxed);
    }
    sum += shard.sum_microseconds.load(std::memory_order_relaxed);
  }
  LatencySummary summary;
  std::vector<uint64_t> interval(kBuckets);
  for (size_t i = 0; i < kBuckets; ++i) {
    interval[i] = counts[i] - counts_before_[i];
    summary.count += interval[i];
  }
  const uint64_t interval_sum = sum - sum_before_;
  counts_before_ = std::move(counts);
  sum_before_ = sum;
  if (summary.count == 0) return summary;
  summary.mean_seconds = static_cast<double>(interval_sum) /
                         static_cast<double>(summary.count) *
                         kSecondsPerMicrosecond;
  summary.p50_seconds = Quantile(interval, summary.count, 0.5);
  summary.p99_seconds = Quantile(interval, summary.count, 0.99);
  summary.p999_seconds = Quantile(interval, summary.count, 0.999);
  summary.max_seconds = Quantile(interval, summary.count, 1);
  return summary;
}

}  // namespace sluice
