package dev.sluice.ycsb.rocksdb;

import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** Option strings of RocksDB's, such as {@code a=1;b={c=2;d=3}}, which its Java takes by name. */
final class OptionString {
  private OptionString() {}

  /**
   * The options by name, values as they are written.
   *
   * @param setting that the text is the value of, for messages
   * @throws SettingException when there is no option in it, or something that is none
   */
  static Properties parse(Setting setting, String text) {
    Properties options = new Properties();
    for (String part : parts(setting, text)) {
      int equals = part.indexOf('=');
      if (equals < 1) {
        throw wrong(setting, text, "'" + part + "' is not NAME=VALUE");
      }
      options.setProperty(part.substring(0, equals).trim(), part.substring(equals + 1).trim());
    }
    if (options.isEmpty()) {
      throw wrong(setting, text, "there is no option in it");
    }
    return options;
  }

  /** What is between semicolons, those in braces left alone. */
  private static List<String> parts(Setting setting, String text) {
    List<String> parts = new ArrayList<>();
    int depth = 0;
    int begin = 0;
    for (int i = 0; i <= text.length(); i++) {
      char at = i < text.length() ? text.charAt(i) : ';';
      depth += at == '{' ? 1 : at == '}' ? -1 : 0;
      if (depth < 0 || (i == text.length() && depth > 0)) {
        throw wrong(setting, text, "its braces do not match");
      }
      if (at == ';' && depth == 0) {
        parts.add(text.substring(begin, i).trim());
        begin = i + 1;
      }
    }
    parts.removeIf(String::isEmpty);
    return parts;
  }

  private static SettingException wrong(Setting setting, String text, String why) {
    return new SettingException(
        setting.name() + "=" + text + ": " + why + "; write it like NAME=VALUE;NAME={NAME=VALUE}");
  }
}
