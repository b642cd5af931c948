package dev.sluice.hbase.commands;

/** A column FAMILY:QUALIFIER, or a family as a whole where the qualifier is null. */
record Column(byte[] family, byte[] qualifier) {

  /** The column called FAMILY or FAMILY:QUALIFIER; the qualifier may be empty. */
  static Column parse(String text) {
    int colon = text.indexOf(':');
    String family = colon < 0 ? text : text.substring(0, colon);
    if (family.isEmpty()) {
      throw new CommandFailure(
          "'" + text + "' names no column family", "write FAMILY or FAMILY:QUALIFIER");
    }
    byte[] qualifier = colon < 0 ? null : BinaryText.parse(text.substring(colon + 1));
    return new Column(BinaryText.parse(family), qualifier);
  }

  /** A column with a qualifier. */
  static Column parseOne(String text) {
    Column column = parse(text);
    if (column.qualifier() == null) {
      throw new CommandFailure(
          "'" + text + "' is a column family, not a column",
          "write FAMILY:QUALIFIER; FAMILY: is the column with the empty qualifier");
    }
    return column;
  }
}
