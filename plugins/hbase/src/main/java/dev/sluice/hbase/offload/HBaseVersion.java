package dev.sluice.hbase.offload;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.util.VersionInfo;

/** A version of HBase, without what builds of it add. */
record HBaseVersion(int major, int minor, int patch) {
  private static final Pattern FORM =
      Pattern.compile("(\\d{1,9})\\.(\\d{1,9})\\.(\\d{1,9})(\\D.*)?");

  /** That of the library in use. */
  static HBaseVersion inUse() {
    return parse(VersionInfo.getVersion());
  }

  static HBaseVersion parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(text + " is no version of HBase");
    }
    return new HBaseVersion(
        Integer.parseInt(matcher.group(1)),
        Integer.parseInt(matcher.group(2)),
        Integer.parseInt(matcher.group(3)));
  }

  Map<String, Object> toJson() {
    return Map.of("major", major, "minor", minor, "patch", patch);
  }

  static HBaseVersion of(Members members) throws StaysLocalException {
    return new HBaseVersion(
        (int) members.number("major"),
        (int) members.number("minor"),
        (int) members.number("patch"));
  }

  /** Whether a program of this version does what a store of another has in mind. */
  boolean serves(HBaseVersion store) {
    return major == store.major && minor == store.minor && patch >= store.patch;
  }
}
