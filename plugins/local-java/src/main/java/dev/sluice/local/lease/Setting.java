package dev.sluice.local.lease;

/**
 * What an order sets.
 *
 * @param number its value, null where the name takes none
 * @param text its value, null where the name takes none
 */
public record Setting(SettingName name, Double number, String text) {

  /** A setting without a value. */
  public static Setting of(SettingName name) {
    return new Setting(name, null, null);
  }

  /** A setting with a number. */
  public static Setting of(SettingName name, double number) {
    return new Setting(name, number, null);
  }

  public Aspect aspect() {
    return name.aspect();
  }

  @Override
  public String toString() {
    if (number == null && text == null) {
      return name.text();
    }
    return name.text() + "=" + (number == null ? text : number.toString());
  }
}
