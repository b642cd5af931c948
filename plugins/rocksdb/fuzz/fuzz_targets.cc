// What comes from outside of the process: lines of the control socket, answers
// of the agent, jobs of the worker. Built once for each, FUZZ_TARGET says
// which:
//   clang++ -std=c++20 -fsanitize=fuzzer,address -DFUZZ_TARGET=FuzzJob ...
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sluice/monotonic_clock.h"
#include "sluice/pool/pool_messages.h"
#include "sluice/protocol/requests.h"
#include "sluice/protocol/two_tables.h"
#include "sluice/remote/agent_messages.h"
#include "sluice/worker/job_line.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// Each line has one answer, which is a line of JSON.
[[maybe_unused]] void FuzzSocket(const std::string& line) {
  static sluice::LeaseStore leases(sluice::MonotonicClock::Default());
  static sluice::TwoTables store;
  static sluice::Methods methods(&store, &leases);
  static sluice::Requests requests(&methods);
  store.started.clear();
  const std::string answer = requests.Answer(line);
  const auto read = sluice::ReadJson(answer);
  Require(read && read->contains("result") != read->contains("error"));
  Require(answer.find('\n') == std::string::npos);
}

// Whatever is not a result is a local compaction for a reason.
[[maybe_unused]] void FuzzResult(const std::string& line) {
  using State = sluice::AgentAnswer::State;
  for (const auto& answer :
       {sluice::ReadRunAnswer(line), sluice::ReadWaitAnswer(line)}) {
    Require((answer.state == State::kLocal) == !answer.reason.empty());
    Require((answer.state == State::kDone) == !answer.result.empty());
  }
}

// A job that is taken leads to no other place than it says.
[[maybe_unused]] void FuzzJob(const std::string& line) {
  const auto read = sluice::ReadJobLine(line);
  const auto* job = std::get_if<sluice::WorkerJob>(&read);
  if (job == nullptr) return;
  Require(job->database_path[0] == '/' && job->output_path[0] == '/');
  Require((job->output_path + "/").find("/../") == std::string::npos);
  const std::string& checked = job->checked_output_path;
  const bool is_pooled = job->pool.has_value();
  Require(checked.empty() ==
          (job->checked_database_path.empty() && !is_pooled));
  Require(!is_pooled || job->pool->socket[0] == '/');
  Require((checked + "/").find("/../") == std::string::npos);
  Require(job->output_path.find(".sluice-compaction-" + job->id) !=
          std::string::npos);
}

// What is no answer is broken; lists come to an end.
[[maybe_unused]] void FuzzPoolAnswer(const std::string& line) {
  const sluice::PoolAnswer answer = sluice::ReadPoolAnswer(line);
  const bool is_done = answer.kind == sluice::PoolAnswer::Kind::kDone;
  Require(is_done == answer.result.is_object());
  if (!is_done) return;
  const auto names = sluice::NamesIn(answer.result);
  Require(!names || !names->has_more || !names->names.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FUZZ_TARGET(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
