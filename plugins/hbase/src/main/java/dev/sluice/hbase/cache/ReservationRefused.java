package dev.sluice.hbase.cache;

/** The cache's bounds do not allow a reservation. */
public final class ReservationRefused extends Exception {
  private static final long serialVersionUID = 1;
  private final String hint;

  ReservationRefused(String message, String hint) {
    super(message);
    this.hint = hint;
  }

  /** What to do next. */
  public String hint() {
    return hint;
  }
}
