package dev.sluice.local.protocol;

import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import java.util.Optional;

/**
 * Params of {@code set} and {@code start}, in the form that the schema asks for.
 *
 * @param settingName as it was sent, null if the order has no setting
 * @param setting null if the order has none, or one that the protocol does not know
 * @param variant empty if the order has none
 */
record Order(
    String kind,
    String scope,
    String settingName,
    Setting setting,
    String variant,
    String owner,
    double timeToLiveSeconds,
    boolean replace) {
  static final String KIND_FORM = "[a-z][a-z0-9-]{0,62}";
  static final int MAX_SCOPE_BYTES = 1024;
  static final int MAX_OWNER_BYTES = 63;
  static final int MAX_TASK_BYTES = 255;
  private static final String SETTING_FORM = "[a-z][a-z0-9_]{0,62}";
  private static final int MAX_TEXT_BYTES = 1024;
  private static final double LEAST_TIME_TO_LIVE_SECONDS = 0.001;

  /** Reads the params of {@code set}, which needs a setting, or of {@code start}. */
  static Order read(Params params, boolean isStart, double maxTimeToLiveSeconds) throws Refusal {
    String kind = params.name("kind", KIND_FORM);
    String scope = params.optionalText("scope", 0, MAX_SCOPE_BYTES).orElse("");
    String settingName = null;
    Setting setting = null;
    if (!isStart || params.has("setting")) {
      Params inner = params.object("setting");
      settingName = inner.name("name", SETTING_FORM);
      setting = readSetting(inner, settingName);
      inner.refuseOthers();
    }
    boolean hasVariant = isStart && params.has("variant");
    String variant = hasVariant ? params.name("variant", KIND_FORM) : "";
    String owner = params.text("owner", 1, MAX_OWNER_BYTES);
    double timeToLiveSeconds =
        params.number("time_to_live_seconds", LEAST_TIME_TO_LIVE_SECONDS, maxTimeToLiveSeconds);
    boolean replace = params.flag("replace");
    params.refuseOthers();
    return new Order(kind, scope, settingName, setting, variant, owner, timeToLiveSeconds, replace);
  }

  private static Setting readSetting(Params params, String text) throws Refusal {
    Optional<SettingName> known = SettingName.find(text);
    if (known.isEmpty()) {
      // Of a newer version: it is refused for its name, whatever its value.
      params.skip("number");
      params.skip("text");
      return null;
    }
    SettingName name = known.get();
    return switch (name.value()) {
      case NONE -> Setting.of(name);
      case NUMBER -> Setting.of(name, params.number("number", name.minimum(), Double.MAX_VALUE));
      case WHOLE_NUMBER ->
          Setting.of(name, params.wholeNumber("number", name.minimum(), Double.MAX_VALUE));
      case TEXT -> new Setting(name, null, params.text("text", 1, MAX_TEXT_BYTES));
    };
  }
}
