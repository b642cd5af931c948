// Members of params, which are strict: what is not known is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/protocol/json.h"
#include "sluice/protocol/refusal.h"

namespace sluice {

// Reads the members of an object. The first thing that is wrong is kept, and
// what is read after it means nothing.
class Params {
 public:
  // `path` names the object in messages; empty for the params themselves.
  Params(const Json& members, std::string path)
      : members_(members), path_(std::move(path)) {}

  struct TextBounds {
    size_t min_bytes = 0;
    size_t max_bytes = 1024;
  };

  std::string Text(const char* name, TextBounds bounds);
  std::string OptionalText(const char* name, TextBounds bounds);
  // A word such as "compaction": [a-z][a-z0-9SEPARATOR]*, at most 63 bytes.
  std::string Word(const char* name, char separator);
  double Number(const char* name, double smallest, double largest);
  uint64_t Whole(const char* name, uint64_t largest);
  bool OptionalBoolean(const char* name);
  // An object; an empty one if it is missing or no object.
  const Json& Object(const char* name);

  bool Has(const char* name) const { return members_.contains(name); }

  // Refuses members that nobody has asked for; call it last.
  void RefuseOthers();
  void Refuse(std::string message, std::string hint = "");
  // Takes over what is wrong with an object inside this one.
  void Join(Params* inner);

  const std::optional<Refusal>& refusal() const { return refusal_; }

 private:
  const Json* Find(const char* name, bool required);
  std::string Named(const char* name) const;

  const Json& members_;
  const std::string path_;
  std::vector<std::string_view> known_;
  std::optional<Refusal> refusal_;
};

}  // namespace sluice
