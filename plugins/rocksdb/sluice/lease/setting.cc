#include "sluice/lease/setting.h"

#include <array>
#include <limits>
#include <sstream>

namespace sluice {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

enum class Value { kNone, kNumber, kText };

struct Word {
  SettingName name;
  std::string_view text;
  Aspect aspect;
  Value value;
  double smallest = 0;
  double largest = kNoBound;
  bool whole = false;
};

constexpr std::array<Word, 11> kWords = {{
    {SettingName::kRate, "rate_bytes_per_second", Aspect::kPace, Value::kNumber,
     1},
    {SettingName::kHold, "hold", Aspect::kPace, Value::kNone},
    {SettingName::kFull, "full", Aspect::kPace, Value::kNone},
    {SettingName::kStock, "stock", Aspect::kPace, Value::kNone},
    {SettingName::kDeferUntilDebt, "defer_until_debt_bytes", Aspect::kDeferral,
     Value::kNumber, 1},
    {SettingName::kConcurrency, "concurrency", Aspect::kConcurrency,
     Value::kNumber, 1, kNoBound, true},
    {SettingName::kPriority, "priority", Aspect::kPriority, Value::kNumber},
    {SettingName::kTier, "tier", Aspect::kTier, Value::kText},
    {SettingName::kRedirectQueue, "redirect_queue_requests",
     Aspect::kRedirectQueue, Value::kNumber},
    {SettingName::kRedirectSize, "redirect_size_bytes", Aspect::kRedirectSize,
     Value::kNumber},
    {SettingName::kRedirectStep, "redirect_step_ratio", Aspect::kRedirectStep,
     Value::kNumber, 0, 1},
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

bool HasNumber(SettingName name) {
  return WordOf(name).value == Value::kNumber;
}

bool HasText(SettingName name) { return WordOf(name).value == Value::kText; }

double SmallestNumber(SettingName name) { return WordOf(name).smallest; }

double LargestNumber(SettingName name) { return WordOf(name).largest; }

bool NeedsWholeNumber(SettingName name) { return WordOf(name).whole; }

std::string ToText(const Setting& setting) {
  std::ostringstream text;
  text << NameOf(setting.name);
  if (HasNumber(setting.name)) text << '=' << setting.number;
  if (HasText(setting.name)) text << '=' << setting.text;
  return text.str();
}

}  // namespace sluice
