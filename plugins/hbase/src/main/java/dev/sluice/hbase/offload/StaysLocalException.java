package dev.sluice.hbase.offload;

/** A compaction is done by the region server itself. */
final class StaysLocalException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /**
   * Says why.
   *
   * @param reason a word of docs/hbase-offload.md, for who counts
   * @param detail a sentence, for who reads
   */
  StaysLocalException(String reason, String detail) {
    super(detail);
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}
