package dev.sluice.hbase.pace;

import dev.sluice.local.lease.Scope;

/**
 * A compaction or flush that is running. One thread works on it and changes what is here; others
 * read.
 */
public final class Operation {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long RATE_WINDOW_NANOS = 1_000_000_000L;

  private final String name;
  private final Scope scope;
  private final long startNanos;

  private volatile long readBytes;
  private volatile long writtenBytes;
  private volatile long orderedWaitNanos;
  private volatile boolean held;
  private volatile String abortReason = "";

  private long chargedBytes;
  private boolean letGo;

  // Of the store's own pace.
  long stockCheckedBytes;
  long stockCheckedNanos;
  long stockWaitUntilNanos;

  // Of the rate that is shown: since when, from which number of bytes, and that of the time before.
  private volatile long windowNanos;
  private volatile long windowBytes;
  private volatile double lastRate;

  public Operation(String name, Scope scope, long nowNanos) {
    this.name = name;
    this.scope = scope;
    this.startNanos = nowNanos;
    this.windowNanos = nowNanos;
    this.stockCheckedNanos = nowNanos;
    this.stockWaitUntilNanos = nowNanos;
  }

  public String name() {
    return name;
  }

  public Scope scope() {
    return scope;
  }

  /** Notes what was read from files, whether it is kept or dropped. */
  public void read(long bytes) {
    readBytes = readBytes + bytes;
  }

  /** Notes what is written. */
  public void written(long bytes) {
    writtenBytes = writtenBytes + bytes;
  }

  long writtenBytes() {
    return writtenBytes;
  }

  /** How far it has come: what it has read or what it has written, whichever is more. */
  public long doneBytes() {
    return Math.max(readBytes, writtenBytes);
  }

  boolean isCharged() {
    return chargedBytes > 0;
  }

  long unchargedBytes() {
    return doneBytes() - chargedBytes;
  }

  /** Takes for charged what has been done, and says how much that is. */
  long charge(long nowNanos) {
    long bytes = unchargedBytes();
    chargedBytes += bytes;
    if (nowNanos - windowNanos >= RATE_WINDOW_NANOS) {
      lastRate = rateSinceWindow(nowNanos);
      windowBytes = doneBytes();
      windowNanos = nowNanos;
    }
    return bytes;
  }

  /** How fast it has gone for the last second or so. */
  public double bytesPerSecondAt(long nowNanos) {
    if (held) {
      return 0;
    }
    boolean first = windowNanos == startNanos;
    boolean longEnough = nowNanos - windowNanos >= RATE_WINDOW_NANOS;
    return first || longEnough ? rateSinceWindow(nowNanos) : lastRate;
  }

  private double rateSinceWindow(long nowNanos) {
    long elapsed = nowNanos - windowNanos;
    return elapsed <= 0 ? 0 : (doneBytes() - windowBytes) * NANOS_PER_SECOND / elapsed;
  }

  void held(boolean now) {
    held = now;
  }

  public boolean isHeld() {
    return held;
  }

  /** Notes whether safety lets it go on, when that was last asked. */
  void letGo(boolean now) {
    letGo = now;
  }

  boolean isLetGo() {
    return letGo;
  }

  /** Has it end at its next step, or from its wait. */
  public void abort(String reason) {
    abortReason = reason;
  }

  void throwIfAborted() throws InterruptedException {
    String reason = abortReason;
    if (!reason.isEmpty()) {
      throw new InterruptedException(reason);
    }
  }

  void addOrderedWait(long nanos) {
    orderedWaitNanos = orderedWaitNanos + nanos;
  }

  /** For how long orders have made it wait. */
  public double orderedWaitSeconds() {
    return orderedWaitNanos / NANOS_PER_SECOND;
  }

  /** 0 for one that began after the time was taken, as while a report is made. */
  public double ageSecondsAt(long nowNanos) {
    return Math.max(0, nowNanos - startNanos) / NANOS_PER_SECOND;
  }
}
