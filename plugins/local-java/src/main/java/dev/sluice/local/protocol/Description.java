package dev.sluice.local.protocol;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a store says of itself. */
public record Description(
    String store,
    String instance,
    String storeVersion,
    String pluginVersion,
    double maxTimeToLiveSeconds) {
  static final int MAJOR = 1;
  static final int MINOR = 3;

  Map<String, Object> toJson(List<TaskKind> kinds) {
    Map<String, Object> version = new LinkedHashMap<>();
    version.put("major", MAJOR);
    version.put("minor", MINOR);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("protocol_version", version);
    members.put("store", store);
    members.put("instance", instance);
    members.put("store_version", storeVersion);
    members.put("plugin_version", pluginVersion);
    members.put("capabilities", kinds.stream().map(Description::capability).toList());
    members.put("max_time_to_live_seconds", maxTimeToLiveSeconds);
    return members;
  }

  private static Map<String, Object> capability(TaskKind kind) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("kind", kind.kind());
    members.put("settings", kind.settings().stream().map(name -> name.text()).toList());
    members.put("can_start", kind.canStart());
    if (!kind.variants().isEmpty()) {
      members.put("variants", kind.variants());
    }
    if (kind.canAbort()) {
      members.put("can_abort", true);
    }
    return members;
  }
}
