// A place of a log whose writes go to the tier that a test says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sluice/log/log_files.h"
#include "sluice/log/tiered_log_writer.h"

namespace sluice {

class ChosenPlace : public LogPlace {
 public:
  ChosenPlace(LogFiles* files, std::string path, LogId id, const Tier* tier)
      : files_(files), path_(std::move(path)), id_(id), tier_(tier) {}

  Tier Choose(size_t) override { return *tier_; }
  void CountWritten(Tier, size_t) override {}
  ROCKSDB_NAMESPACE::IOStatus MakeSlowFile(
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* file) override {
    const std::string name = path_.substr(path_.rfind('/') + 1);
    return files_->MakeSlow(*LogNumber(name), id_, file);
  }
  ROCKSDB_NAMESPACE::IOStatus SyncFastDirectory() override {
    return files_->SyncDirectory();
  }
  ROCKSDB_NAMESPACE::IOStatus SyncPromisedName() override {
    const std::string name = path_.substr(path_.rfind('/') + 1);
    return files_->SyncPromisedName(*LogNumber(name));
  }
  void Closed(bool, uint64_t bytes) override { files_->Closed(path_, bytes); }

 private:
  LogFiles* const files_;
  const std::string path_;
  const LogId id_;
  const Tier* const tier_;
};

}  // namespace sluice
