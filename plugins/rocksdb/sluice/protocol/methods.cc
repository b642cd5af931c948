#include "sluice/protocol/methods.h"

#include <algorithm>
#include <limits>
#include <sstream>

namespace sluice {
namespace {

constexpr uint64_t kMajor = 1;
constexpr uint64_t kMinor = 2;
constexpr uint64_t kLargestVersion = 1000000;
constexpr Params::TextBounds kOwnerBounds = {1, 63};
constexpr Params::TextBounds kScopeBounds = {0, 1024};
constexpr Params::TextBounds kTaskBounds = {1, 255};

Json ProtocolVersion() { return {{"major", kMajor}, {"minor", kMinor}}; }

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

Refusal Unsupported(std::string message) {
  return {ErrorCode::kUnsupported, std::move(message),
          "describe says what can be ordered."};
}

// Refuses what the setting does not take as its value.
void CheckValue(SettingName setting, const std::optional<double>& number,
                const std::optional<std::string>& text, Params* params) {
  const std::string name(NameOf(setting));
  if (text.has_value() != HasText(setting)) {
    params->Refuse(name +
                   (HasText(setting) ? " needs a text" : " takes no text"));
  }
  if (number.has_value() != HasNumber(setting)) {
    params->Refuse(
        name + (HasNumber(setting) ? " needs a number" : " takes no number"));
  }
  if (number && *number < SmallestNumber(setting)) {
    params->Refuse(name + " is below its least value");
  }
  if (number && *number > LargestNumber(setting)) {
    params->Refuse(name + " is above its greatest value");
  }
  if (number && NeedsWholeNumber(setting) && !WholeNumber(Json(*number))) {
    params->Refuse(name + " must be a whole number");
  }
  if (setting == SettingName::kTier && text != "fast" && text != "slow") {
    params->Refuse("tier is \"fast\" or \"slow\"");
  }
}

Json ToJson(const Capability& capability) {
  Json settings = Json::array();
  for (const SettingName name : capability.settings) {
    settings.push_back(NameOf(name));
  }
  Json object = {{"kind", NameOf(capability.kind)},
                 {"settings", std::move(settings)},
                 {"can_start", capability.can_start}};
  if (!capability.variants.empty()) object["variants"] = capability.variants;
  return object;
}

}  // namespace

Methods::Outcome Methods::Call(const std::string& method, const Json& params) {
  if (method == "describe") return Describe(params);
  if (method == "snapshot") return Snapshot(params);
  if (method == "set") return Set(params);
  if (method == "clear") return Clear(params);
  if (method == "start") return Start(params);
  if (method == "abort") return Abort(params);
  return Refusal{ErrorCode::kMethod, "there is no such method",
                 "Methods are describe, snapshot, set, clear, start, abort."};
}

Methods::Outcome Methods::Describe(const Json& params) const {
  Params top(params, "");
  const Json& members = top.Object("protocol_version");
  Params version(members, "protocol_version");
  const uint64_t major = version.Whole("major", kLargestVersion);
  const uint64_t minor = version.Whole("minor", kLargestVersion);
  if (!top.refusal() && !version.refusal() && major != kMajor) {
    std::ostringstream message;
    message << "the plug-in speaks version " << kMajor << '.' << kMinor
            << " of the local protocol, its client version " << major << '.'
            << minor;
    return Refusal{ErrorCode::kIncompatible, message.str(),
                   "Install a plug-in and an agent whose protocols have the "
                   "same major version."};
  }
  version.RefuseOthers();
  top.RefuseOthers();
  top.Join(&version);
  if (top.refusal()) return *top.refusal();
  const Description& described = store_->Describe();
  Json capabilities = Json::array();
  for (const Capability& capability : described.capabilities) {
    capabilities.push_back(sluice::ToJson(capability));
  }
  return Json{{"protocol_version", ProtocolVersion()},
              {"store", "rocksdb"},
              {"instance", described.instance},
              {"store_version", described.store_version},
              {"plugin_version", described.plugin_version},
              {"capabilities", std::move(capabilities)},
              {"max_time_to_live_seconds", described.max_time_to_live_seconds}};
}

Methods::Outcome Methods::Snapshot(const Json& params) const {
  Params top(params, "");
  top.RefuseOthers();
  if (top.refusal()) return *top.refusal();
  Json result = store_->Snapshot();
  Json& leases = result["leases"] = Json::array();
  for (const Lease& lease : leases_->All()) {
    leases.push_back(ToJson(lease, leases_->SecondsLeft(lease)));
  }
  return result;
}

std::variant<Methods::Order, Refusal> Methods::ReadOrder(const Json& params,
                                                         bool is_start) const {
  Params top(params, "");
  Order order;
  order.kind = top.Word("kind", '-');
  order.scope = top.OptionalText("scope", kScopeBounds);
  order.owner = top.Text("owner", kOwnerBounds);
  order.time_to_live_seconds =
      top.Number("time_to_live_seconds", kSmallestTimeToLiveSeconds,
                 std::min(kLargestTimeToLiveSeconds,
                          store_->Describe().max_time_to_live_seconds));
  order.replace = top.OptionalBoolean("replace");
  if (is_start && top.Has("variant")) order.variant = top.Word("variant", '-');
  if (!is_start || top.Has("setting")) {
    ReadSetting(top.Object("setting"), &top, &order);
  }
  top.RefuseOthers();
  if (top.refusal()) return *top.refusal();
  return order;
}

void Methods::ReadSetting(const Json& members, Params* params,
                          Order* order) const {
  Params setting(members, "setting");
  order->setting_name = setting.Word("name", '_');
  if (setting.Has("number")) {
    constexpr double kAny = std::numeric_limits<double>::max();
    order->number = setting.Number("number", -kAny, kAny);
  }
  if (setting.Has("text")) order->text = setting.Text("text", {0, 1024});
  setting.RefuseOthers();
  const auto name = SettingNamed(order->setting_name);
  if (name) CheckValue(*name, order->number, order->text, &setting);
  params->Join(&setting);
}

const Capability* Methods::CapabilityOf(const std::string& kind) const {
  for (const Capability& capability : store_->Describe().capabilities) {
    if (NameOf(capability.kind) == kind) return &capability;
  }
  return nullptr;
}

// What the schema cannot say, in the order of the protocol: capabilities,
// scope, the store's limits.
std::optional<Refusal> Methods::CheckOrder(const Order& order) const {
  const Capability* capability = CapabilityOf(order.kind);
  if (capability == nullptr) {
    return Unsupported("there are no tasks of kind " + Quoted(order.kind));
  }
  if (!order.setting_name.empty()) {
    const auto name = SettingNamed(order.setting_name);
    const auto& offered = capability->settings;
    if (!name ||
        std::find(offered.begin(), offered.end(), *name) == offered.end()) {
      return Unsupported("the setting " + Quoted(order.setting_name) +
                         " is not offered for " + order.kind);
    }
  }
  if (!order.variant.empty()) {
    const auto& offered = capability->variants;
    if (std::find(offered.begin(), offered.end(), order.variant) ==
        offered.end()) {
      return Unsupported("the variant " + Quoted(order.variant) +
                         " is not offered for " + order.kind);
    }
  }
  if (!store_->HasScope(capability->kind, order.scope)) {
    return Refusal{ErrorCode::kNotFound,
                   "there is no scope " + Quoted(order.scope),
                   "Scopes are \"\", DATABASE, DATABASE/FAMILY, and of "
                   "compactions DATABASE/FAMILY/L0, DATABASE/*/L0, */*/L0."};
  }
  return std::nullopt;
}

// Gives the lease of an order that has a setting.
Methods::Outcome Methods::Give(const Order& order, LeaseStore::Given* given) {
  const Kind kind = *KindNamed(order.kind);
  const Setting setting{*SettingNamed(order.setting_name),
                        order.number.value_or(0), order.text.value_or("")};
  if (auto forbidden =
          store_->ForbidsOrder(kind, AspectOf(setting.name), order.scope)) {
    return *forbidden;
  }
  *given = leases_->Set({kind, order.scope, setting, order.owner, {}},
                        order.time_to_live_seconds, order.replace);
  if (given->is_full) {
    return Refusal{ErrorCode::kRefused,
                   "there are " + std::to_string(LeaseStore::kMaxLeases) +
                       " leases already",
                   "Order by wider scopes, or end some of them."};
  }
  if (!given->refused) {
    return Json{{"lease", ToJson(given->lease, order.time_to_live_seconds)}};
  }
  return Refusal{ErrorCode::kConflict,
                 Quoted(given->lease.owner) + " has the lease, with " +
                     ToText(given->lease.setting),
                 "Wait until it ends, or take it over with replace."};
}

Methods::Outcome Methods::Set(const Json& params) {
  const auto read = ReadOrder(params, /*is_start=*/false);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return *refusal;
  const auto& order = std::get<Order>(read);
  if (auto refusal = CheckOrder(order)) return *refusal;
  LeaseStore::Given given;
  return Give(order, &given);
}

Methods::Outcome Methods::Start(const Json& params) {
  const auto read = ReadOrder(params, /*is_start=*/true);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return *refusal;
  const auto& order = std::get<Order>(read);
  const Capability* capability = CapabilityOf(order.kind);
  if (capability != nullptr && !capability->can_start) {
    return Unsupported(order.kind + " cannot be started");
  }
  if (auto refusal = CheckOrder(order)) return *refusal;
  LeaseStore::Given given;
  if (!order.setting_name.empty()) {
    const Outcome outcome = Give(order, &given);
    if (std::holds_alternative<Refusal>(outcome)) return outcome;
  }
  if (auto refusal =
          store_->Start(capability->kind, order.scope, order.owner)) {
    if (!order.setting_name.empty()) leases_->Revert(given);
    return *refusal;
  }
  return Json::object();
}

Methods::Outcome Methods::Clear(const Json& params) {
  Params top(params, "");
  const std::string owner = top.Text("owner", kOwnerBounds);
  const bool has_kind = top.Has("kind");
  const std::string kind = has_kind ? top.Word("kind", '-') : "";
  if (top.Has("scope") && !has_kind) {
    top.Refuse("the member \"scope\" needs the member \"kind\"");
  }
  const std::string scope = top.OptionalText("scope", kScopeBounds);
  top.RefuseOthers();
  if (top.refusal()) return *top.refusal();
  if (!has_kind) return Json{{"cleared", leases_->Clear(owner)}};
  // A lease may be on a scope that has gone since: it ends all the same.
  const auto named = KindNamed(kind);
  const size_t cleared = named ? leases_->Clear(owner, *named, scope) : 0;
  Order order;
  order.kind = kind;
  order.scope = scope;
  auto refusal = cleared == 0 ? CheckOrder(order) : std::nullopt;
  if (refusal) return *refusal;
  return Json{{"cleared", cleared}};
}

// RocksDB has no way to end one automatic compaction but an error, which
// could stop all writes: no kind of task can be aborted.
Methods::Outcome Methods::Abort(const Json& params) const {
  Params top(params, "");
  const std::string kind = top.Word("kind", '-');
  top.Text("task", kTaskBounds);
  top.Text("owner", kOwnerBounds);
  top.RefuseOthers();
  if (top.refusal()) return *top.refusal();
  return Unsupported("tasks of kind " + Quoted(kind) + " cannot be aborted");
}

Json Methods::ToJson(const Lease& lease, double seconds_left) {
  Json setting = {{"name", NameOf(lease.setting.name)}};
  if (HasNumber(lease.setting.name)) setting["number"] = lease.setting.number;
  if (HasText(lease.setting.name)) setting["text"] = lease.setting.text;
  return {{"kind", NameOf(lease.kind)},
          {"scope", lease.scope},
          {"setting", std::move(setting)},
          {"owner", lease.owner},
          {"time_left_seconds", seconds_left}};
}

}  // namespace sluice
