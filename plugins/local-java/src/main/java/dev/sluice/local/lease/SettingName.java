package dev.sluice.local.lease;

import java.util.Optional;

/** The settings of the local protocol, with the values that they take. */
public enum SettingName {
  RATE_BYTES_PER_SECOND("rate_bytes_per_second", Aspect.PACE, Value.NUMBER, 1),
  RATE_OPERATIONS_PER_SECOND("rate_operations_per_second", Aspect.PACE, Value.NUMBER, 1),
  HOLD("hold", Aspect.PACE, Value.NONE, 0),
  DURATION_SECONDS("duration_seconds", Aspect.PACE, Value.NUMBER, 0),
  FULL("full", Aspect.PACE, Value.NONE, 0),
  STOCK("stock", Aspect.PACE, Value.NONE, 0),
  SYNC_GAP_SECONDS("sync_gap_seconds", Aspect.SYNC_GAP, Value.NUMBER, 0),
  DEFER_UNTIL_DEBT_BYTES("defer_until_debt_bytes", Aspect.DEFERRAL, Value.NUMBER, 1),
  CONCURRENCY("concurrency", Aspect.CONCURRENCY, Value.WHOLE_NUMBER, 1),
  PRIORITY("priority", Aspect.PRIORITY, Value.NUMBER, 0),
  RESERVED_BYTES("reserved_bytes", Aspect.RESERVED_BYTES, Value.NUMBER, 0),
  ADDED_BYTES("added_bytes", Aspect.RESERVED_BYTES, Value.NUMBER, 0),
  TIER("tier", Aspect.TIER, Value.TEXT, 0),
  REDIRECT_QUEUE_REQUESTS("redirect_queue_requests", Aspect.REDIRECT_QUEUE, Value.NUMBER, 0),
  REDIRECT_SIZE_BYTES("redirect_size_bytes", Aspect.REDIRECT_SIZE, Value.NUMBER, 0),
  REDIRECT_STEP_RATIO("redirect_step_ratio", Aspect.REDIRECT_STEP, Value.NUMBER, 0);

  /** What a setting takes as its value. */
  public enum Value {
    NONE,
    NUMBER,
    WHOLE_NUMBER,
    TEXT
  }

  private final String text;
  private final Aspect aspect;
  private final Value value;
  private final double minimum;

  SettingName(String text, Aspect aspect, Value value, double minimum) {
    this.text = text;
    this.aspect = aspect;
    this.value = value;
    this.minimum = minimum;
  }

  /** The setting that the protocol calls so, if there is one. */
  public static Optional<SettingName> find(String text) {
    for (SettingName name : values()) {
      if (name.text.equals(text)) {
        return Optional.of(name);
      }
    }
    return Optional.empty();
  }

  public String text() {
    return text;
  }

  public Aspect aspect() {
    return aspect;
  }

  public Value value() {
    return value;
  }

  /** Least number that the setting takes. */
  public double minimum() {
    return minimum;
  }
}
