#include "sluice/protocol/requests.h"

#include <exception>
#include <optional>

#include "sluice/text/printable.h"

namespace sluice {
namespace {

constexpr size_t kMaxIdCharacters = 64;
constexpr char kOneObject[] = "Send one JSON object on each line.";

std::string Line(const Json& id, const char* name, Json value) {
  return WriteJson(
      Json{{"jsonrpc", "2.0"}, {"id", id}, {name, std::move(value)}});
}

std::string ErrorLine(const Json& id, const Refusal& refusal) {
  Json data = {{"code", WordOf(refusal.code)}};
  if (!refusal.hint.empty()) data["hint"] = refusal.hint;
  return Line(id, "error",
              Json{{"code", static_cast<int>(refusal.code)},
                   {"message", refusal.message},
                   {"data", std::move(data)}});
}

std::string ResultLine(const Json& id, Json result) {
  std::string line = Line(id, "result", std::move(result));
  if (line.size() <= kMaxLineBytes) return line;
  return ErrorLine(id,
                   {ErrorCode::kInternal,
                    "the result takes " + std::to_string(line.size()) +
                        " bytes, a line holds " + std::to_string(kMaxLineBytes),
                    "The process has too many databases and families for "
                    "one socket."});
}

// The id to repeat: a whole number or a short text; nothing else is one.
std::optional<Json> IdOf(const Json& request) {
  const auto id = request.find("id");
  if (id == request.end()) return std::nullopt;
  if (id->is_string()) {
    const auto& text = id->get_ref<const std::string&>();
    if (CharacterCount(text) > kMaxIdCharacters) return std::nullopt;
    return *id;
  }
  const auto number = WholeNumber(*id);
  return number ? std::optional<Json>(*number) : std::nullopt;
}

Refusal NotRequest(std::string message, std::string hint) {
  return {ErrorCode::kRequest, std::move(message), std::move(hint)};
}

}  // namespace

std::string Requests::Answer(std::string_view line) noexcept {
  try {
    return AnswerOrThrow(line);
  } catch (const std::exception&) {
    // Memory has run out: the store must not learn of it from here.
    return R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,)"
           R"("message":"the plug-in has failed"}})";
  }
}

std::string Requests::AnswerOrThrow(std::string_view line) {
  const auto request = ReadJson(line);
  if (!request) {
    return ErrorLine(nullptr, {ErrorCode::kParse,
                               "the line is not JSON in UTF-8", kOneObject});
  }
  if (!request->is_object()) {
    return ErrorLine(nullptr,
                     NotRequest("the line is not a JSON object", kOneObject));
  }
  const auto id = IdOf(*request);
  if (!id) {
    return ErrorLine(
        nullptr,
        NotRequest("a request needs an id: a whole number of at most 2^53-1, "
                   "or a text of at most 64 characters",
                   "Notifications are not taken: every request is answered."));
  }
  Methods::Outcome outcome = Call(*request);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    return ErrorLine(*id, *refusal);
  }
  return ResultLine(*id, std::move(std::get<Json>(outcome)));
}

Methods::Outcome Requests::Call(const Json& request) {
  // Never destroyed: a thread that is still there at exit may come here.
  static const Json& kNone = *new Json(Json::object());
  const auto version = request.find("jsonrpc");
  if (version == request.end() || *version != "2.0") {
    return NotRequest("the member \"jsonrpc\" must be \"2.0\"", "");
  }
  const auto method = request.find("method");
  if (method == request.end() || !method->is_string()) {
    return NotRequest("the member \"method\" must be the name of a method", "");
  }
  const auto params = request.find("params");
  if (params != request.end() && !params->is_object()) {
    return Refusal{ErrorCode::kInvalid,
                   "the member \"params\" must be an object",
                   "Params go by name."};
  }
  return methods_->Call(method->get<std::string>(),
                        params == request.end() ? kNone : *params);
}

std::string Requests::TooLong() {
  return ErrorLine(nullptr,
                   NotRequest("a line is longer than " +
                                  std::to_string(kMaxLineBytes) + " bytes",
                              "This connection is closed now."));
}

std::string Requests::TurnedAway(size_t open_connections) {
  return ErrorLine(nullptr, {ErrorCode::kUnavailable,
                             std::to_string(open_connections) +
                                 " connections are open already",
                             "Close some of them."});
}

}  // namespace sluice
