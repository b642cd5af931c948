package dev.sluice.ycsb;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;

/** What a user gave as values of settings, read as what a binding wants. */
public final class SettingValues {
  private final Properties properties;

  /** Those among these properties. */
  public SettingValues(Properties properties) {
    this.properties = properties;
  }

  /** The value without space around it, or the setting's default. */
  public String text(Setting setting) {
    return properties.getProperty(setting.name(), setting.defaultValue()).trim();
  }

  /**
   * The same of a setting that must have a value.
   *
   * @param example a value as it may look like, for the message
   * @throws SettingException when it is absent or empty
   */
  public String required(Setting setting, String example) {
    String value = text(setting);
    if (value.isEmpty()) {
      throw new SettingException(
          setting.name()
              + " is not set; add -p "
              + setting.name()
              + "="
              + example
              + ", or put it into a file that you name with -P");
    }
    return value;
  }

  /** The values between commas, without space around them; none when it is empty. */
  public List<String> list(Setting setting) {
    String value = text(setting);
    return value.isEmpty() ? List.of() : List.of(value.split("\\s*,\\s*", -1));
  }

  /**
   * A whole number.
   *
   * @param least the smallest that is allowed
   * @throws SettingException when it is something else
   */
  public int number(Setting setting, int least) {
    String text = text(setting);
    try {
      int value = Integer.parseInt(text);
      if (value >= least) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, as a number out of range is.
    }
    throw new SettingException(
        setting.name() + "=" + text + " is not a whole number from " + least + " up");
  }

  /**
   * True or false.
   *
   * @throws SettingException when it is something else
   */
  public boolean bool(Setting setting) {
    String text = text(setting);
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new SettingException(setting.name() + "=" + text + "; use true or false");
    };
  }

  /**
   * One of the constants of a type, which users write in lower case.
   *
   * @throws SettingException when it is none of them
   */
  public <E extends Enum<E>> E one(Setting setting, Class<E> type) {
    String text = text(setting);
    for (E value : type.getEnumConstants()) {
      if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
        return value;
      }
    }
    throw new SettingException(
        setting.name()
            + "="
            + text
            + "; use one of "
            + Arrays.toString(type.getEnumConstants()).toLowerCase(Locale.ROOT));
  }
}
