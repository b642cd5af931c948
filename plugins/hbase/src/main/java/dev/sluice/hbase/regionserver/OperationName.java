package dev.sluice.hbase.regionserver;

import java.util.Optional;

/**
 * What ThroughputControlUtil makes names of: {@code region#family#operation#number}. A family may
 * have the separator in its own name.
 */
public record OperationName(String encodedRegion, String family) {
  private static final char SEPARATOR = '#';

  /** Reads a name; empty if it is none of those. */
  public static Optional<OperationName> parse(String name) {
    int first = name.indexOf(SEPARATOR);
    int last = name.lastIndexOf(SEPARATOR);
    int middle = last <= 0 ? -1 : name.lastIndexOf(SEPARATOR, last - 1);
    if (first <= 0 || middle <= first) {
      return Optional.empty();
    }
    return Optional.of(
        new OperationName(name.substring(0, first), name.substring(first + 1, middle)));
  }
}
