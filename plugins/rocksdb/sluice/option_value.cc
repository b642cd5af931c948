#include "sluice/option_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>

#include "sluice/protocol/json.h"
#include "sluice/protocol/orders.h"

namespace sluice {
namespace {

// Far above the number of levels that RocksDB allows.
constexpr double kLargestLevel = 255;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Bounds {
  std::string_view option;
  double smallest;
  double largest;
  bool is_whole;
};

constexpr std::array<Bounds, 6> kBounds = {{
    {"max_time_to_live_seconds", kSmallestTimeToLiveSeconds,
     kLargestTimeToLiveSeconds, false},
    {"minimum_input_bytes", 0, kMaxWholeNumber, true},
    {"minimum_level", 0, kLargestLevel, true},
    {"redirect_queue_requests", 0, kMaxWholeNumber, false},
    {"redirect_size_bytes", 0, kMaxWholeNumber, false},
    {"redirect_step_ratio", 0, 1, false},
}};

double FractionOf(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return text.empty() || *end != '\0' ? kNaN : number;
}

// Digits, and one of the suffixes that RocksDB has for powers of 1024.
double WholeOf(std::string text) {
  constexpr std::string_view kSuffixes = "kmgt";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  double factor = 1;
  if (!text.empty() && !is_digit(text.back())) {
    // Letters of ASCII differ in this bit alone from the small ones.
    const size_t suffix = kSuffixes.find(static_cast<char>(text.back() | 0x20));
    if (suffix == std::string_view::npos) return kNaN;
    factor = std::pow(1024.0, static_cast<double>(suffix + 1));
    text.pop_back();
  }
  if (!std::all_of(text.begin(), text.end(), is_digit)) return kNaN;
  return FractionOf(text) * factor;
}

std::string WantedNumber(const Bounds& bounds, const std::string& text) {
  const double number = bounds.is_whole ? WholeOf(text) : FractionOf(text);
  // No comparison holds for nan.
  if (number >= bounds.smallest && number <= bounds.largest) return "";
  std::ostringstream wanted;
  wanted << "a " << (bounds.is_whole ? "whole " : "") << "number from "
         << bounds.smallest << " to " << bounds.largest;
  return wanted.str();
}

// What the option is to be set to in place of this value; empty if it may have
// it.
std::string Wanted(const std::string& name, const std::string& text) {
  if (name == "latency") {
    const bool is_word = text == "auto" || text == "on" || text == "off";
    return is_word ? "" : "auto, on or off";
  }
  if (name == "database_name") {
    return text.find('/') == std::string::npos ? "" : "a name without a slash";
  }
  const auto* const bounds =
      std::find_if(kBounds.begin(), kBounds.end(),
                   [&](const Bounds& each) { return each.option == name; });
  return bounds == kBounds.end() ? "" : WantedNumber(*bounds, text);
}

}  // namespace

std::string WhyNoOption(const std::string& name, const std::string& text) {
  const std::string wanted = Wanted(name, text);
  if (wanted.empty()) return "";
  return "the option " + name + " of compaction_service={id=sluice;...} is " +
         text + ": set it to " + wanted + ", or leave it out";
}

}  // namespace sluice
