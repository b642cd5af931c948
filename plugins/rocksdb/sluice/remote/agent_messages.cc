#include "sluice/remote/agent_messages.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "rocksdb/version.h"
#include "sluice/plugin_version.h"
#include "sluice/protocol/json.h"
#include "sluice/text/base64.h"
#include "sluice/text/printable.h"

namespace sluice {
namespace {

constexpr int kMajor = 1;
constexpr int kMinor = 1;
constexpr size_t kMaxReasonBytes = 40;
// From here on a text is not left to the parser.
constexpr size_t kLongBytes = 4096;
// In its place; no base64.
constexpr char kTaken[] = "+";

Json Request(const char* method, Json params) {
  return {{"jsonrpc", "2.0"},
          {"id", 1},
          {"method", method},
          {"params", std::move(params)}};
}

AgentAnswer Local(std::string reason) {
  AgentAnswer answer;
  answer.reason = std::move(reason);
  return answer;
}

// A reason becomes part of the name of a figure.
bool IsReason(const std::string& text) {
  return !text.empty() && text.size() <= kMaxReasonBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

std::string TextOf(const Json& members, const char* name) {
  const auto found = members.find(name);
  const bool is_text = found != members.end() && found->is_string();
  return is_text ? found->get<std::string>() : "";
}

AgentAnswer LocalBecause(const Json& result) {
  std::string reason = TextOf(result, "reason");
  return Local(IsReason(reason) ? std::move(reason) : "agent-error");
}

std::optional<Json> ResultOf(const std::string& line) {
  const auto answer = ReadJson(line);
  if (!answer || !answer->is_object()) return std::nullopt;
  const auto result = answer->find("result");
  if (result == answer->end() || !result->is_object()) return std::nullopt;
  return *result;
}

uint64_t CountOf(const Json& members, const char* name) {
  const auto found = members.find(name);
  if (found == members.end()) return 0;
  return WholeNumber(*found).value_or(0);
}

// Takes a long text of base64 out of a line, which is then short: a parser of
// JSON takes several times as long for each byte. Nothing if there is none.
std::optional<std::string> TakeLongText(std::string* line) {
  size_t open = line->find('"');
  for (size_t close; open != std::string::npos; open = close) {
    close = line->find('"', open + 1);
    const bool is_long =
        close != std::string::npos && close - open > kLongBytes;
    if (!is_long) continue;
    // Between two texts there is more than base64, and in one that has an
    // escape.
    if (open > 0 && (*line)[open - 1] == '\\') return std::nullopt;
    const size_t size = close - open - 1;
    auto taken = FromBase64(std::string_view(*line).substr(open + 1, size));
    if (taken) line->replace(open + 1, size, kTaken);
    return taken;
  }
  return std::nullopt;
}

}  // namespace

std::string RunLine(const RemoteJob& job) {
  Json objects = Json::array();
  for (const NeededObject& each : job.objects) {
    objects.push_back({{"kind", each.kind}, {"name", Printable(each.name)}});
  }
  Json next_level = Json::array();
  for (const NextLevelTable& each : job.next_level_tables) {
    next_level.push_back({{"smallest", ToBase64(each.smallest)},
                          {"largest", ToBase64(each.largest)},
                          {"bytes", each.bytes}});
  }
  Json members = {{"id", job.id},
                  {"database_path", job.database_path},
                  // All of its tables are below the path of the database.
                  {"data_paths", Json::array()},
                  {"output_path", job.output_path},
                  {"rocksdb_version",
                   {{"major", ROCKSDB_MAJOR},
                    {"minor", ROCKSDB_MINOR},
                    {"patch", ROCKSDB_PATCH}}},
                  {"plugin_version", kPluginVersion},
                  {"column_family", Printable(job.family)},
                  {"input_level", job.input_level},
                  {"output_level", job.output_level},
                  {"is_automatic", job.is_automatic},
                  {"input_bytes", job.input_bytes},
                  {"input_files", job.input_files},
                  {"objects", std::move(objects)},
                  {"next_level_tables", std::move(next_level)},
                  {"input", ToBase64(job.input)}};
  if (!job.pool_session.empty()) members["pool_session"] = job.pool_session;
  return WriteJson(Request(
      "run", {{"protocol_version", {{"major", kMajor}, {"minor", kMinor}}},
              {"job", std::move(members)}}));
}

std::string WaitLine() { return WriteJson(Request("wait", Json::object())); }

AgentAnswer ReadRunAnswer(const std::string& line) {
  const auto result = ResultOf(line);
  if (!result) return Local("agent-error");
  if (TextOf(*result, "placement") != "remote") return LocalBecause(*result);
  AgentAnswer answer;
  answer.state = AgentAnswer::State::kRemote;
  return answer;
}

AgentAnswer ReadWaitAnswer(std::string line) {
  auto taken = TakeLongText(&line);
  const auto result = ResultOf(line);
  if (!result) return Local("agent-error");
  const std::string state = TextOf(*result, "state");
  AgentAnswer answer;
  if (state == "running") {
    answer.state = AgentAnswer::State::kRunning;
    answer.bytes_read = CountOf(*result, "bytes_read");
    answer.bytes_written = CountOf(*result, "bytes_written");
    return answer;
  }
  if (state != "done") return LocalBecause(*result);
  const std::string text = TextOf(*result, "result");
  auto payload = taken && text == kTaken ? std::move(taken) : FromBase64(text);
  if (!payload || payload->empty()) return Local("output-invalid");
  answer.state = AgentAnswer::State::kDone;
  answer.result = std::move(*payload);
  return answer;
}

}  // namespace sluice
