#include "sluice/pool/pool_messages.h"

#include <utility>

namespace sluice {
namespace {

constexpr int kMajor = 1;
constexpr int kMinor = 1;

Json OwnVersion() { return {{"major", kMajor}, {"minor", kMinor}}; }

PoolAnswer RefusedBy(const Json& error) {
  PoolAnswer answer;
  const auto message = TextIn(error, "message");
  if (!message) return answer;
  answer.kind = PoolAnswer::Kind::kRefused;
  answer.message = *message;
  const auto data = error.find("data");
  if (data == error.end() || !data->is_object()) return answer;
  answer.code = TextIn(*data, "code").value_or("");
  answer.reason = TextIn(*data, "reason").value_or("");
  const auto hint = TextIn(*data, "hint");
  if (hint) answer.message += " (" + *hint + ")";
  return answer;
}

std::optional<PoolName> NameIn(const Json& entry) {
  if (!entry.is_object()) return std::nullopt;
  const auto name = TextIn(entry, "name");
  const auto kind = TextIn(entry, "kind");
  if (!name || name->empty() || !kind) return std::nullopt;
  return PoolName{*name, *kind == "directory",
                  CountIn(entry, "length_bytes").value_or(0)};
}

}  // namespace

std::string PoolRequest(const char* method, Json params) {
  return WriteJson({{"jsonrpc", "2.0"},
                    {"id", 1},
                    {"method", method},
                    {"params", std::move(params)}});
}

Json AttachParams(const PoolPlace& place, const std::string& lock) {
  Json params = {{"protocol_version", OwnVersion()},
                 {"volume", place.volume},
                 {"path", place.directory},
                 {"holder", place.holder}};
  if (!lock.empty()) params["lock"] = lock;
  if (place.outer_epoch != 0) params["outer_epoch"] = place.outer_epoch;
  return params;
}

Json JoinParams(const std::string& session) {
  return {{"protocol_version", OwnVersion()}, {"session", session}};
}

Json ViewParams(const PoolPlace& place) {
  return {{"protocol_version", OwnVersion()}, {"volume", place.volume}};
}

PoolAnswer ReadPoolAnswer(const std::string& line) {
  PoolAnswer answer;
  const auto read = ReadJson(line);
  if (!read || !read->is_object()) return answer;
  const auto error = read->find("error");
  if (error != read->end()) {
    return error->is_object() ? RefusedBy(*error) : answer;
  }
  const auto result = read->find("result");
  if (result == read->end() || !result->is_object()) return answer;
  answer.kind = PoolAnswer::Kind::kDone;
  answer.result = *result;
  return answer;
}

std::optional<uint64_t> CountIn(const Json& result, const char* name) {
  const auto found = result.find(name);
  if (found == result.end()) return std::nullopt;
  return WholeNumber(*found);
}

std::optional<std::string> TextIn(const Json& result, const char* name) {
  const auto found = result.find(name);
  if (found == result.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

uint64_t MinorVersionIn(const Json& result) {
  const auto version = result.find("protocol_version");
  if (version == result.end() || !version->is_object()) return 0;
  return CountIn(*version, "minor").value_or(0);
}

std::optional<PoolNames> NamesIn(const Json& result) {
  const auto names = result.find("names");
  const auto more = result.find("more");
  if (names == result.end() || !names->is_array() || more == result.end() ||
      !more->is_boolean()) {
    return std::nullopt;
  }
  PoolNames read;
  read.has_more = more->get<bool>();
  for (const Json& entry : *names) {
    auto name = NameIn(entry);
    if (!name) return std::nullopt;
    read.names.push_back(std::move(*name));
  }
  // Else who asks for the rest would ask for ever.
  if (read.has_more && read.names.empty()) return std::nullopt;
  return read;
}

}  // namespace sluice
