#include "sluice/protocol/params.h"

#include <algorithm>
#include <sstream>

#include "sluice/text/printable.h"

namespace sluice {
namespace {

constexpr size_t kMaxWordBytes = 63;

bool IsWord(std::string_view text, char separator) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_inner = [&](char c) {
    return is_lower(c) || (c >= '0' && c <= '9') || c == separator;
  };
  return !text.empty() && text.size() <= kMaxWordBytes && is_lower(text[0]) &&
         std::all_of(text.begin(), text.end(), is_inner);
}

std::string ToText(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

}  // namespace

std::string Params::Named(const char* name) const {
  return "the member \"" + (path_.empty() ? "" : path_ + ".") + name + "\"";
}

void Params::Refuse(std::string message, std::string hint) {
  if (refusal_) return;
  refusal_ = Refusal{ErrorCode::kInvalid, std::move(message), std::move(hint)};
}

void Params::Join(Params* inner) {
  if (!refusal_) refusal_ = inner->refusal_;
}

const Json* Params::Find(const char* name, bool required) {
  known_.emplace_back(name);
  const auto found = members_.find(name);
  if (found != members_.end()) return &*found;
  if (required) Refuse(Named(name) + " is missing");
  return nullptr;
}

std::string Params::Text(const char* name, TextBounds bounds) {
  const Json* value = Find(name, /*required=*/true);
  if (value == nullptr) return "";
  if (!value->is_string()) {
    Refuse(Named(name) + " must be a text");
    return "";
  }
  auto text = value->get<std::string>();
  if (text.size() < bounds.min_bytes || text.size() > bounds.max_bytes) {
    Refuse(Named(name) + " has " + std::to_string(text.size()) +
           " bytes, it must have " + std::to_string(bounds.min_bytes) + " to " +
           std::to_string(bounds.max_bytes));
  } else if (!IsPrintable(text)) {
    Refuse(Named(name) + " has control characters");
  }
  return text;
}

std::string Params::OptionalText(const char* name, TextBounds bounds) {
  if (Has(name)) return Text(name, bounds);
  known_.emplace_back(name);
  return "";
}

std::string Params::Word(const char* name, char separator) {
  std::string text = Text(name, {0, 1024});
  if (!IsWord(text, separator)) {
    Refuse(Named(name) + " must be a word of lower case letters");
  }
  return text;
}

double Params::Number(const char* name, double smallest, double largest) {
  const Json* value = Find(name, /*required=*/true);
  if (value == nullptr) return smallest;
  if (!value->is_number()) {
    Refuse(Named(name) + " must be a number");
    return smallest;
  }
  const auto number = value->get<double>();
  if (!(number >= smallest && number <= largest)) {
    Refuse(Named(name) + " is " + ToText(number) + ", it must be from " +
           ToText(smallest) + " to " + ToText(largest));
  }
  return number;
}

uint64_t Params::Whole(const char* name, uint64_t largest) {
  const double number = Number(name, 0, static_cast<double>(largest));
  const auto whole = WholeNumber(Json(number));
  if (!whole) Refuse(Named(name) + " must be a whole number");
  return whole.value_or(0);
}

bool Params::OptionalBoolean(const char* name) {
  const Json* value = Find(name, /*required=*/false);
  if (value == nullptr) return false;
  if (!value->is_boolean()) {
    Refuse(Named(name) + " must be true or false");
    return false;
  }
  return value->get<bool>();
}

const Json& Params::Object(const char* name) {
  // Never destroyed: a thread that is still there at exit may come here.
  static const Json& kEmpty = *new Json(Json::object());
  const Json* value = Find(name, /*required=*/true);
  if (value == nullptr) return kEmpty;
  if (value->is_object()) return *value;
  Refuse(Named(name) + " must be an object");
  return kEmpty;
}

void Params::RefuseOthers() {
  for (const auto& member : members_.items()) {
    const std::string& name = member.key();
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      Refuse(Named(Printable(name).c_str()) + " is not known",
             "Is it misspelt? Or of a newer version of the protocol?");
      return;
    }
  }
}

}  // namespace sluice
