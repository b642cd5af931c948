// Statistics that also time requests by intervals.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "rocksdb/statistics.h"
#include "sluice/latency/operation_latencies.h"

namespace sluice {

// RocksDB times each request for its statistics, but sums them up from the
// beginning. All of that still reaches the embedder's own statistics, if it
// has any; here the times of requests are counted by intervals as well.
class TimingStatistics : public ROCKSDB_NAMESPACE::Statistics {
 public:
  // `own` is the embedder's, which may be nullptr.
  TimingStatistics(std::shared_ptr<ROCKSDB_NAMESPACE::Statistics> own,
                   OperationLatencies* latencies);

  static constexpr char kName[] = "SluiceTimingStatistics";
  const char* Name() const override { return kName; }
  const std::shared_ptr<ROCKSDB_NAMESPACE::Statistics>& own() const {
    return own_;
  }
  const ROCKSDB_NAMESPACE::Customizable* Inner() const override {
    return own_.get();
  }
  // Which level the program has set may change, here or at its own; nobody is
  // told. For one thread at a time.
  void FollowLevel();

  uint64_t getTickerCount(uint32_t ticker) const override;
  void histogramData(
      uint32_t type,
      ROCKSDB_NAMESPACE::HistogramData* const data) const override;
  std::string getHistogramString(uint32_t type) const override;
  void recordTick(uint32_t ticker, uint64_t count) override;
  void setTickerCount(uint32_t ticker, uint64_t count) override;
  uint64_t getAndResetTickerCount(uint32_t ticker) override;
  void recordInHistogram(uint32_t type, uint64_t time) override;
  ROCKSDB_NAMESPACE::Status Reset() override;
  using Statistics::ToString;
  std::string ToString() const override;
  bool getTickerMap(std::map<std::string, uint64_t>* tickers) const override;
  bool HistEnabledForType(uint32_t type) const override;

 private:
  const std::shared_ptr<ROCKSDB_NAMESPACE::Statistics> own_;
  OperationLatencies* const latencies_;
  // When they were last the same.
  ROCKSDB_NAMESPACE::StatsLevel level_;
};

}  // namespace sluice
