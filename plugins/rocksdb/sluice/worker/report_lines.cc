#include "sluice/worker/report_lines.h"

#include <unistd.h>

#include <cerrno>

#include "rocksdb/version.h"
#include "sluice/protocol/json.h"
#include "sluice/text/base64.h"

namespace sluice {

void ReportLines::Started() {
  WriteLine({{"started",
              {{"protocol_version", {{"major", 1}, {"minor", 0}}},
               {"rocksdb_version",
                {{"major", ROCKSDB_MAJOR},
                 {"minor", ROCKSDB_MINOR},
                 {"patch", ROCKSDB_PATCH}}}}}});
}

void ReportLines::Progress(uint64_t bytes_read, uint64_t bytes_written) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (has_ended_) return;
  WriteLine({{"progress",
              {{"bytes_read", bytes_read}, {"bytes_written", bytes_written}}}});
}

// Base64 needs no escapes. A writer of JSON would look for some in each byte of
// by far the longest text that there is.
void ReportLines::Result(const JobResult& result) {
  std::string line = WriteJson({{"result",
                                 {{"result", ""},
                                  {"bytes_read", result.bytes_read},
                                  {"bytes_written", result.bytes_written},
                                  {"open_seconds", result.open_seconds},
                                  {"cpu_seconds", result.cpu_seconds},
                                  {"resumed_bytes", result.resumed_bytes}}}});
  constexpr std::string_view kNoText = "\"\"";
  line.insert(line.find(kNoText) + 1, ToBase64(result.payload));
  line += '\n';
  std::lock_guard<std::mutex> lock(mutex_);
  has_ended_ = true;
  Write(line);
}

void ReportLines::Failure(const JobFailure& failure) {
  std::lock_guard<std::mutex> lock(mutex_);
  has_ended_ = true;
  WriteLine({{"failure",
              {{"reason", failure.reason}, {"message", failure.message}}}});
}

void ReportLines::NoMemory() const {
  Write(R"({"failure":{"reason":"worker-memory",)"
        R"("message":"the memory of the job is used up"}})"
        "\n");
}

void ReportLines::WriteLine(const Json& document) const {
  Write(WriteJson(document) + "\n");
}

void ReportLines::Write(std::string_view line) const {
  size_t written = 0;
  while (written < line.size()) {
    const ssize_t count =
        ::write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) written += static_cast<size_t>(count);
  }
}

}  // namespace sluice
