#include "sluice/lease/setting.h"

#include <array>
#include <sstream>

namespace sluice {
namespace {

struct Word {
  SettingName name;
  std::string_view text;
  Aspect aspect;
  bool has_number;
  double smallest;
  bool whole;
};

constexpr std::array<Word, 7> kWords = {{
    {SettingName::kRate, "rate_bytes_per_second", Aspect::kPace, true, 1,
     false},
    {SettingName::kHold, "hold", Aspect::kPace, false, 0, false},
    {SettingName::kFull, "full", Aspect::kPace, false, 0, false},
    {SettingName::kStock, "stock", Aspect::kPace, false, 0, false},
    {SettingName::kDeferUntilDebt, "defer_until_debt_bytes", Aspect::kDeferral,
     true, 1, false},
    {SettingName::kConcurrency, "concurrency", Aspect::kConcurrency, true, 1,
     true},
    {SettingName::kPriority, "priority", Aspect::kPriority, true, 0, false},
}};

const Word& WordOf(SettingName name) {
  return kWords[static_cast<size_t>(name)];
}

}  // namespace

std::string_view NameOf(SettingName name) { return WordOf(name).text; }

std::optional<SettingName> SettingNamed(std::string_view name) {
  for (const Word& word : kWords) {
    if (word.text == name) return word.name;
  }
  return std::nullopt;
}

Aspect AspectOf(SettingName name) { return WordOf(name).aspect; }

bool HasNumber(SettingName name) { return WordOf(name).has_number; }

double SmallestNumber(SettingName name) { return WordOf(name).smallest; }

bool NeedsWholeNumber(SettingName name) { return WordOf(name).whole; }

std::string ToText(const Setting& setting) {
  std::ostringstream text;
  text << NameOf(setting.name);
  if (HasNumber(setting.name)) text << '=' << setting.number;
  return text.str();
}

}  // namespace sluice
