// What a worker says to its agent: lines on standard output.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "sluice/protocol/json.h"
#include "sluice/worker/job_line.h"

namespace sluice {

struct JobResult {
  // What RocksDB has written for the store's process.
  std::string payload;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  double open_seconds = 0;
  double cpu_seconds = 0;
  // Of the output, what an earlier worker of the job had written.
  uint64_t resumed_bytes = 0;
};

// Safe for threads: each line is written whole.
class ReportLines {
 public:
  explicit ReportLines(int descriptor) : descriptor_(descriptor) {}

  void Started();
  void Progress(uint64_t bytes_read, uint64_t bytes_written);
  void Result(const JobResult& result);
  void Failure(const JobFailure& failure);
  // A failure for want of memory, which takes none to say. Nothing may be said
  // after it: it does not wait for other threads.
  void NoMemory() const;

 private:
  void WriteLine(const Json& document) const;
  void Write(std::string_view line) const;

  const int descriptor_;
  std::mutex mutex_;
  // After the last line there is none.
  bool has_ended_ = false;
};

}  // namespace sluice
