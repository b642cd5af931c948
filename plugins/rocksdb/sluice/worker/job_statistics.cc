#include "sluice/worker/job_statistics.h"

namespace sluice {
namespace {

constexpr double kSecondsPerMicrosecond = 1e-6;
constexpr uint32_t kOpening =
    ROCKSDB_NAMESPACE::OPEN_AND_COMPACT_DB_OPEN_MICROS;

}  // namespace

double JobStatistics::open_seconds() const {
  return static_cast<double>(open_micros_) * kSecondsPerMicrosecond;
}

// RocksDB has some for itself beyond those that have names.
uint64_t JobStatistics::getTickerCount(uint32_t ticker) const {
  if (ticker >= counts_.size()) return 0;
  return counts_[ticker].load(std::memory_order_relaxed);
}

void JobStatistics::recordTick(uint32_t ticker, uint64_t count) {
  if (ticker >= counts_.size()) return;
  counts_[ticker].fetch_add(count, std::memory_order_relaxed);
}

void JobStatistics::setTickerCount(uint32_t ticker, uint64_t count) {
  if (ticker >= counts_.size()) return;
  counts_[ticker].store(count, std::memory_order_relaxed);
}

uint64_t JobStatistics::getAndResetTickerCount(uint32_t ticker) {
  return ticker < counts_.size() ? counts_[ticker].exchange(0) : 0;
}

bool JobStatistics::HistEnabledForType(uint32_t type) const {
  return type == kOpening;
}

void JobStatistics::recordInHistogram(uint32_t type, uint64_t time) {
  if (type == kOpening) open_micros_ += time;
}

}  // namespace sluice
