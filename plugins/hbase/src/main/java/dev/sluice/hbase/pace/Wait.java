package dev.sluice.hbase.pace;

/**
 * What an operation has to do before it goes on.
 *
 * @param nanos how long to wait at most before asking again, 0 to go on
 * @param held whether an order holds it, for however long
 * @param ordered whether it is an order that makes it wait, and not the store's own pace
 */
record Wait(long nanos, boolean held, boolean ordered) {
  static final Wait NONE = new Wait(0, false, false);
  static final Wait HELD = new Wait(Long.MAX_VALUE, true, true);

  boolean isOver() {
    return nanos == 0;
  }

  /** The longer one of two. */
  Wait and(Wait other) {
    return other.nanos > nanos ? other : this;
  }
}
