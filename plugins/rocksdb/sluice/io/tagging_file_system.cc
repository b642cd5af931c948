#include "sluice/io/tagging_file_system.h"

#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "env/composite_env_wrapper.h"
#include "sluice/guarded.h"

namespace sluice {
namespace {

using ROCKSDB_NAMESPACE::CompositeEnvWrapper;
using ROCKSDB_NAMESPACE::DataVerificationInfo;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::FSRandomAccessFileOwnerWrapper;
using ROCKSDB_NAMESPACE::FSReadRequest;
using ROCKSDB_NAMESPACE::FSWritableFile;
using ROCKSDB_NAMESPACE::FSWritableFileOwnerWrapper;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

bool HoldsData(const std::string& name) {
  return EndsWith(name, ".sst") || EndsWith(name, ".blob");
}

class PacedFile : public FSWritableFileOwnerWrapper {
 public:
  PacedFile(std::unique_ptr<FSWritableFile> file, std::shared_ptr<Task> task,
            Pace* pace)
      : FSWritableFileOwnerWrapper(std::move(file)),
        task_(std::move(task)),
        pace_(pace) {}

  IOStatus Append(const Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    pace_->BeforeWrite(task_.get(), data.size());
    return target()->Append(data, options, debug);
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const DataVerificationInfo& verification,
                  IODebugContext* debug) override {
    pace_->BeforeWrite(task_.get(), data.size());
    return target()->Append(data, options, verification, debug);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset,
                            const IOOptions& options,
                            IODebugContext* debug) override {
    pace_->BeforeWrite(task_.get(), data.size());
    return target()->PositionedAppend(data, offset, options, debug);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset,
                            const IOOptions& options,
                            const DataVerificationInfo& verification,
                            IODebugContext* debug) override {
    pace_->BeforeWrite(task_.get(), data.size());
    return target()->PositionedAppend(data, offset, options, verification,
                                      debug);
  }

 private:
  const std::shared_ptr<Task> task_;
  Pace* const pace_;
};

void CountRead(size_t bytes) {
  const auto& task = CurrentTask();
  if (task) task->bytes_read.fetch_add(bytes, std::memory_order_relaxed);
}

class CountedFile : public FSRandomAccessFileOwnerWrapper {
 public:
  using FSRandomAccessFileOwnerWrapper::FSRandomAccessFileOwnerWrapper;

  IOStatus Read(uint64_t offset, size_t bytes, const IOOptions& options,
                Slice* result, char* scratch,
                IODebugContext* debug) const override {
    const IOStatus status =
        target()->Read(offset, bytes, options, result, scratch, debug);
    if (status.ok()) CountRead(result->size());
    return status;
  }
  IOStatus MultiRead(FSReadRequest* requests, size_t count,
                     const IOOptions& options, IODebugContext* debug) override {
    const IOStatus status =
        target()->MultiRead(requests, count, options, debug);
    for (size_t i = 0; i < count; ++i) CountRead(requests[i].result.size());
    return status;
  }
};

// What the store asks of an environment itself about files, as the size of a
// log, goes to the file system too.
class TaggingEnv : public CompositeEnvWrapper {
 public:
  TaggingEnv(Env* base, Pace* pace)
      : CompositeEnvWrapper(
            base,
            std::make_shared<TaggingFileSystem>(
                std::make_shared<TieredLogFileSystem>(base->GetFileSystem()),
                pace)),
        base_file_system_(base->GetFileSystem()) {}

  const char* Name() const override { return "SluiceTaggingEnv"; }

  // Another environment may have come to be at the same address.
  bool IsOver(Env* base) const {
    return env_target() == base && base->GetFileSystem() == base_file_system_;
  }

 private:
  const std::shared_ptr<FileSystem> base_file_system_;
};

}  // namespace

IOStatus TaggingFileSystem::NewWritableFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<FSWritableFile>* file, IODebugContext* debug) {
  IOStatus status = target()->NewWritableFile(name, options, file, debug);
  const auto& task = CurrentTask();
  if (status.ok() && task && HoldsData(name)) {
    // Without the memory for it the file is neither counted nor paced.
    Guarded([&] {
      *file = std::make_unique<PacedFile>(std::move(*file), task, pace_);
    });
  }
  return status;
}

IOStatus TaggingFileSystem::NewRandomAccessFile(
    const std::string& name, const FileOptions& options,
    std::unique_ptr<FSRandomAccessFile>* file, IODebugContext* debug) {
  IOStatus status = target()->NewRandomAccessFile(name, options, file, debug);
  if (status.ok() && HoldsData(name)) {
    Guarded([&] { *file = std::make_unique<CountedFile>(std::move(*file)); });
  }
  return status;
}

Env* TaggingEnvOver(Env* base, Pace* pace) {
  static std::mutex mutex;
  // Never freed, see the header; there are as many as a program has
  // environments of its own.
  static auto* const made = new std::vector<std::unique_ptr<TaggingEnv>>();
  std::lock_guard<std::mutex> lock(mutex);
  for (const auto& each : *made) {
    if (each.get() == base || each->IsOver(base)) return each.get();
  }
  made->push_back(std::make_unique<TaggingEnv>(base, pace));
  return made->back().get();
}

TieredLogFileSystem* TieredLogsIn(Env* tagging_env) {
  const auto* const files =
      static_cast<TaggingFileSystem*>(tagging_env->GetFileSystem().get());
  return static_cast<TieredLogFileSystem*>(files->target());
}

bool HasLocalFiles(Env* tagging_env) {
  return TieredLogsIn(tagging_env)->target() == FileSystem::Default().get();
}

}  // namespace sluice
