// A log on two tiers in a folder of its own, for tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>

#include "sluice/log/chosen_place.h"
#include "sluice/log/tiered_log_reader.h"

namespace sluice {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FSRandomRWFile;
using ROCKSDB_NAMESPACE::FSRandomRWFileOwnerWrapper;
using ROCKSDB_NAMESPACE::FSSequentialFile;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::FSWritableFileOwnerWrapper;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

// Writes to files of a tier fail half way while it is full, and no file can be
// looked at while the device is broken.
class FailingFiles : public FileSystemWrapper {
 public:
  FailingFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "FailingFiles"; }

  IOStatus FileExists(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    if (is_broken) return IOStatus::IOError(name, "the test wants it");
    return target()->FileExists(name, options, debug);
  }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file,
                           IODebugContext* debug) override {
    IOStatus status = target()->NewWritableFile(name, options, file, debug);
    const bool is_slow = name.find(".slow-log") != std::string::npos;
    if (status.ok()) {
      *file = std::make_unique<FillingFile>(std::move(*file),
                                            is_slow ? &is_full : &is_fast_full);
    }
    return status;
  }

  IOStatus NewRandomRWFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* file,
                           IODebugContext* debug) override {
    IOStatus status = target()->NewRandomRWFile(name, options, file, debug);
    if (status.ok()) {
      *file = std::make_unique<FillingRWFile>(std::move(*file), &is_full);
    }
    return status;
  }

  bool is_full = false;
  bool is_fast_full = false;
  bool is_broken = false;

 private:
  class FillingFile : public FSWritableFileOwnerWrapper {
   public:
    FillingFile(std::unique_ptr<FSWritableFile> file, const bool* is_full)
        : FSWritableFileOwnerWrapper(std::move(file)), is_full_(is_full) {}
    IOStatus Append(const Slice& data, const IOOptions& options,
                    IODebugContext* debug) override {
      if (!*is_full_) return target()->Append(data, options, debug);
      const Slice half(data.data(), data.size() / 2);
      target()->Append(half, options, debug).PermitUncheckedError();
      return IOStatus::NoSpace("the test wants it");
    }

   private:
    const bool* const is_full_;
  };

  class FillingRWFile : public FSRandomRWFileOwnerWrapper {
   public:
    FillingRWFile(std::unique_ptr<FSRandomRWFile> file, const bool* is_full)
        : FSRandomRWFileOwnerWrapper(std::move(file)), is_full_(is_full) {}
    IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                   IODebugContext* debug) override {
      const Slice part(data.data(), *is_full_ ? data.size() / 2 : data.size());
      IOStatus status =
          FSRandomRWFileOwnerWrapper::Write(offset, part, options, debug);
      return *is_full_ ? IOStatus::NoSpace("the test wants it") : status;
    }

   private:
    const bool* const is_full_;
  };
};

// What a damaged device has in the place of a frame.
inline void Spoil(const std::string& path, uint64_t place, size_t bytes,
                  char with) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(place));
  file << std::string(bytes, with);
}

// Its length without blank space at the end.
inline uint64_t WrittenBytes(const std::string& path) {
  std::string bytes;
  ROCKSDB_NAMESPACE::ReadFileToString(FileSystem::Default().get(), path, &bytes)
      .PermitUncheckedError();
  return bytes.find_last_not_of('\0') + 1;
}

class TieredLogTest : public testing::Test {
 protected:
  TieredLogTest() {
    char folder[] = "/tmp/sluice-log-test-XXXXXX";
    folder_ = ::mkdtemp(folder);
    std::filesystem::create_directories(folder_ + "/fast");
    std::filesystem::create_directories(folder_ + "/slow");
    logs_ = std::make_unique<LogFiles>(&files_, folder_ + "/fast",
                                       folder_ + "/slow");
    fast_path_ = folder_ + "/fast/000007.log";
    slow_path_ = logs_->SlowPath(7);
    MakeLog();
  }
  ~TieredLogTest() override {
    log_.reset();
    std::filesystem::remove_all(folder_);
  }

  void MakeLog() {
    log_.reset();
    std::unique_ptr<FSWritableFile> fast;
    const LogId id = NewLogId();
    ASSERT_TRUE(logs_->Make(fast_path_, FileOptions(), id, &fast).ok());
    log_ = std::make_unique<TieredLogWriter>(
        std::move(fast), id,
        std::make_unique<ChosenPlace>(logs_.get(), fast_path_, id, &tier_));
    written_.clear();
    synced_ = 0;
    synced_fast_ = synced_slow_ = 0;
  }
  void MakeSlowAhead() {
    ASSERT_TRUE(log_->MakeSlowAhead().ok());
    synced_fast_ = SizeOf(fast_path_);
  }
  void Append(Tier tier, const std::string& data) {
    tier_ = tier;
    ASSERT_TRUE(log_->Append(data, IOOptions(), nullptr).ok());
    written_ += data;
  }
  void Sync() {
    ASSERT_TRUE(log_->Sync(IOOptions(), nullptr).ok());
    synced_ = written_.size();
    synced_fast_ = SizeOf(fast_path_);
    synced_slow_ = WrittenBytes(slow_path_);
  }
  void Spoil(uint64_t place, size_t bytes, char with) {
    sluice::Spoil(fast_path_, place, bytes, with);
  }
  static uint64_t SizeOf(const std::string& path) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    return ignored ? 0 : size;
  }

  std::unique_ptr<TieredLogReader> Open() {
    std::unique_ptr<TieredLogReader> reader;
    const auto status = logs_->OpenForCopy(fast_path_, &reader);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return reader;
  }
  std::unique_ptr<FSSequentialFile> OpenAsStore() {
    std::unique_ptr<FSSequentialFile> reader;
    const auto status = logs_->OpenForStore(fast_path_, &reader);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return reader;
  }
  // All up to an end or an error, in reads of this size.
  static IOStatus ReadAll(FSSequentialFile* reader, size_t count,
                          std::string* read) {
    std::string scratch(count, '\0');
    for (;;) {
      Slice part;
      IOStatus status =
          reader->Read(count, IOOptions(), &part, scratch.data(), nullptr);
      read->append(part.data(), part.size());
      if (!status.ok() || part.empty()) return status;
    }
  }
  IOStatus ReadAll(std::string* read, size_t count = 1000) {
    return ReadAll(Open().get(), count, read);
  }

  std::string folder_;
  FailingFiles files_;
  std::unique_ptr<LogFiles> logs_;
  std::string fast_path_;
  std::string slow_path_;
  Tier tier_ = Tier::kFast;
  std::unique_ptr<TieredLogWriter> log_;
  std::string written_;
  size_t synced_ = 0;
  uint64_t synced_fast_ = 0;
  uint64_t synced_slow_ = 0;
};

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  // From 0 up to and without `end`.
  uint64_t Below(uint64_t end) { return random_() % end; }
  std::string Text() {
    const bool is_large = Below(10) == 0;
    return std::string(1 + Below(is_large ? 300000 : 300),
                       static_cast<char>('a' + Below(26)));
  }
  Tier AnyTier() { return Below(2) == 0 ? Tier::kFast : Tier::kSlow; }

 private:
  std::mt19937 random_;
};

}  // namespace sluice
