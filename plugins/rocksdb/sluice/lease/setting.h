// What an order sets, in the words of the local protocol.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

enum class SettingName {
  kRate,
  kHold,
  kFull,
  kStock,
  kDeferUntilDebt,
  kConcurrency,
  kPriority,
  kTier,
  kRedirectQueue,
  kRedirectSize,
  kRedirectStep,
};

// Leases of one aspect exclude each other on the same kind and scope.
enum class Aspect {
  kPace,
  kDeferral,
  kConcurrency,
  kPriority,
  kTier,
  kRedirectQueue,
  kRedirectSize,
  kRedirectStep,
};
inline constexpr size_t kAspects = 8;

struct Setting {
  SettingName name;
  double number = 0;
  // Initialized here, so that settings without one may leave it out.
  std::string text{};

  bool operator==(const Setting&) const = default;
};

std::string_view NameOf(SettingName name);
std::optional<SettingName> SettingNamed(std::string_view name);
Aspect AspectOf(SettingName name);
bool HasNumber(SettingName name);
bool HasText(SettingName name);
double SmallestNumber(SettingName name);
// Infinity where there is no bound.
double LargestNumber(SettingName name);
bool NeedsWholeNumber(SettingName name);

// For messages, such as "rate_bytes_per_second=6e+06" and "tier=slow".
std::string ToText(const Setting& setting);

}  // namespace sluice
