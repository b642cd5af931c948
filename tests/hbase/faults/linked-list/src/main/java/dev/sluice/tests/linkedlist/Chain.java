package dev.sluice.tests.linkedlist;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rows that were acknowledged. Each refers to the one {@code width} before it, and the first {@code
 * width} to the last, so that every row is referred to by exactly one.
 */
record Chain(int number, int rows, int width, int fillerBytes) {
  private static final String NUMBER = "(0|[1-9][0-9]{0,9})";
  private static final Pattern LINE =
      Pattern.compile("chain %1$s rows %1$s width %1$s filler %1$s".formatted(NUMBER));

  Chain {
    if (number < 0 || width < 1 || rows < width || rows % width != 0 || fillerBytes < 0) {
      throw new IllegalArgumentException(
          "no chain has number %d, %d rows, width %d and %d bytes of filler"
              .formatted(number, rows, width, fillerBytes));
    }
  }

  boolean has(Node node) {
    return node.chain() == number && node.index() < rows;
  }

  /** The row that a row refers to. */
  Node previousOf(int index) {
    return new Node(number, index < width ? rows - width + index : index - width);
  }

  String line() {
    return "chain %d rows %d width %d filler %d".formatted(number, rows, width, fillerBytes);
  }

  /**
   * A chain from its line.
   *
   * @throws IllegalArgumentException if it is not one
   */
  static Chain parse(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "'" + line + "' is not 'chain NUMBER rows NUMBER width NUMBER filler NUMBER'");
    }
    // Beyond the range of an int it is a NumberFormatException, which is one of these as well.
    return new Chain(
        Integer.parseInt(matcher.group(1)),
        Integer.parseInt(matcher.group(2)),
        Integer.parseInt(matcher.group(3)),
        Integer.parseInt(matcher.group(4)));
  }
}
