#include "sluice/latency/timing_statistics.h"

#include <utility>

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::HistogramData;
using ROCKSDB_NAMESPACE::Statistics;
using ROCKSDB_NAMESPACE::StatsLevel;
using ROCKSDB_NAMESPACE::Status;

bool IsRead(uint32_t type) {
  return type == ROCKSDB_NAMESPACE::DB_GET ||
         type == ROCKSDB_NAMESPACE::DB_MULTIGET ||
         type == ROCKSDB_NAMESPACE::DB_SEEK;
}

bool IsWrite(uint32_t type) { return type == ROCKSDB_NAMESPACE::DB_WRITE; }

}  // namespace

TimingStatistics::TimingStatistics(std::shared_ptr<Statistics> own,
                                   OperationLatencies* latencies)
    : own_(std::move(own)),
      latencies_(latencies),
      level_(own_ ? own_->get_stats_level() : get_stats_level()) {
  set_stats_level(level_);
}

// Sets the one that the program has not set, and no other: it may set it again.
void TimingStatistics::FollowLevel() {
  if (!own_) return;
  const StatsLevel own_level = own_->get_stats_level();
  const StatsLevel level = get_stats_level();
  if (own_level != level_) {
    set_stats_level(level_ = own_level);
  } else if (level != level_) {
    own_->set_stats_level(level_ = level);
  }
}

uint64_t TimingStatistics::getTickerCount(uint32_t ticker) const {
  return own_ ? own_->getTickerCount(ticker) : 0;
}

void TimingStatistics::histogramData(uint32_t type,
                                     HistogramData* const data) const {
  if (own_) own_->histogramData(type, data);
}

std::string TimingStatistics::getHistogramString(uint32_t type) const {
  return own_ ? own_->getHistogramString(type) : "";
}

void TimingStatistics::recordTick(uint32_t ticker, uint64_t count) {
  if (own_) own_->recordTick(ticker, count);
}

void TimingStatistics::setTickerCount(uint32_t ticker, uint64_t count) {
  if (own_) own_->setTickerCount(ticker, count);
}

uint64_t TimingStatistics::getAndResetTickerCount(uint32_t ticker) {
  return own_ ? own_->getAndResetTickerCount(ticker) : 0;
}

void TimingStatistics::recordInHistogram(uint32_t type, uint64_t time) {
  if (IsRead(type)) latencies_->RecordRead(time);
  if (IsWrite(type)) latencies_->RecordWrite(time);
  if (own_) own_->recordInHistogram(type, time);
}

Status TimingStatistics::Reset() { return own_ ? own_->Reset() : Status::OK(); }

std::string TimingStatistics::ToString() const {
  return own_ ? own_->ToString() : "";
}

bool TimingStatistics::getTickerMap(
    std::map<std::string, uint64_t>* tickers) const {
  return own_ && own_->getTickerMap(tickers);
}

// Without the embedder's statistics nothing else is worth the clock.
bool TimingStatistics::HistEnabledForType(uint32_t type) const {
  if (IsRead(type) || IsWrite(type)) return true;
  return own_ && own_->HistEnabledForType(type);
}

}  // namespace sluice
