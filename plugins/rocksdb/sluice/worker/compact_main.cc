// sluice-compact: one compaction of a database that another process has open.
// The job comes as a line on standard input, the result goes to standard
// output. The agent that started it sees to its place, memory and end.
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "sluice/signal_free_thread.h"
#include "sluice/worker/job_line.h"
#include "sluice/worker/job_run.h"
#include "sluice/worker/report_lines.h"

namespace sluice {
namespace {

constexpr auto kProgressPeriod = std::chrono::milliseconds(500);

std::atomic<JobRun*> run_to_cancel{nullptr};
std::atomic<bool> is_cancelled{false};

void CancelOnSignal(int) {
  is_cancelled = true;
  if (JobRun* const run = run_to_cancel) run->Cancel();
}

// Lives until the end of the process: threads use it that nobody waits for.
ReportLines* Report() {
  static auto* const report = new ReportLines(STDOUT_FILENO);
  return report;
}

// RocksDB cannot go on after an exception, least of all in threads of its own.
void EndForWantOfMemory() {
  static std::atomic<bool> has_begun{false};
  // The first one ends the process for all.
  while (has_begun.exchange(true)) ::pause();
  Report()->NoMemory();
  ::_exit(EXIT_FAILURE);
}

// A compaction may have more inputs than a process may have open by default. A
// bound that cannot be raised is what there is.
void RaiseFileLimit() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Buffers are taken and given back for every table. What goes back to the
// kernel is faulted in again page by page, a fifth of the time of a job with
// small tables, and the process ends with the job anyway.
void KeepFreedMemory() {
  constexpr int kLeastMappedBytes = 32 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLeastMappedBytes);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

ssize_t ReadSome(char* bytes, size_t size) {
  ssize_t count;
  do {
    count = ::read(STDIN_FILENO, bytes, size);
  } while (count < 0 && errno == EINTR);
  return count;
}

// The first line; nothing if the agent ends before, or it is too long.
std::optional<std::string> ReadLine() {
  std::string line;
  std::array<char, 64 << 10> part;
  while (line.size() <= kMaxJobLineBytes) {
    const ssize_t count = ReadSome(part.data(), part.size());
    if (count <= 0) return std::nullopt;
    line.append(part.data(), static_cast<size_t>(count));
    const size_t end = line.find('\n');
    if (end != std::string::npos) return line.substr(0, end);
  }
  return std::nullopt;
}

// Once standard input ends, the agent is gone, and nobody wants the result.
void EndWithTheAgent() {
  std::array<char, 256> ignored;
  while (ReadSome(ignored.data(), ignored.size()) > 0) {
  }
  ::_exit(EXIT_FAILURE);
}

void ReportProgress(JobRun* run) {
  for (;;) {
    run->CheckTemporarySpace();
    Report()->Progress(run->bytes_read(), run->bytes_written());
    std::this_thread::sleep_for(kProgressPeriod);
  }
}

int Fail(const JobFailure& failure) {
  Report()->Failure(failure);
  return EXIT_FAILURE;
}

int Main() {
  // The store reaches the files by their group.
  ::umask(0007);
  KeepFreedMemory();
  RaiseFileLimit();
  Report()->Started();
  std::set_new_handler(EndForWantOfMemory);
  ::signal(SIGTERM, CancelOnSignal);
  const auto line = ReadLine();
  if (!line) return Fail({"failed", "no job came on standard input"});
  auto read = ReadJobLine(*line);
  if (const auto* failure = std::get_if<JobFailure>(&read)) {
    return Fail(*failure);
  }
  // As the report, until the end.
  static JobRun run(std::move(std::get<WorkerJob>(read)));
  run_to_cancel = &run;
  if (is_cancelled) run.Cancel();
  StartSignalFreeThread("sluice-agent", EndWithTheAgent).detach();
  StartSignalFreeThread("sluice-report", [] { ReportProgress(&run); }).detach();
  const auto outcome = run.Run();
  if (const auto* failure = std::get_if<JobFailure>(&outcome)) {
    return Fail(*failure);
  }
  Report()->Result(std::get<JobResult>(outcome));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace sluice

int main() {
  const int status = sluice::Main();
  // Nothing is to be cleaned up that the end of the process does not, and
  // threads are still there.
  ::_exit(status);
}
