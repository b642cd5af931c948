// What a worker counts of its job.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "rocksdb/statistics.h"

namespace sluice {

// RocksDB's own statistics time each read of a block and keep each number once
// for every processor: a twentieth of the time of a job. Here numbers are kept
// once, and of times that of the opening alone.
class JobStatistics : public ROCKSDB_NAMESPACE::Statistics {
 public:
  const char* Name() const override { return "SluiceJobStatistics"; }

  double open_seconds() const;

  uint64_t getTickerCount(uint32_t ticker) const override;
  void recordTick(uint32_t ticker, uint64_t count) override;
  void setTickerCount(uint32_t ticker, uint64_t count) override;
  uint64_t getAndResetTickerCount(uint32_t ticker) override;

  bool HistEnabledForType(uint32_t type) const override;
  void recordInHistogram(uint32_t type, uint64_t time) override;
  // There is no more than one time.
  void histogramData(uint32_t,
                     ROCKSDB_NAMESPACE::HistogramData* const) const override {}

 private:
  std::array<std::atomic<uint64_t>, ROCKSDB_NAMESPACE::TICKER_ENUM_MAX>
      counts_{};
  std::atomic<uint64_t> open_micros_{0};
};

}  // namespace sluice
