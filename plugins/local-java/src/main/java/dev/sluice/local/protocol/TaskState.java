package dev.sluice.local.protocol;

/** What has become of a task. */
public enum TaskState {
  QUEUED,
  DEFERRED,
  RUNNING,
  HELD,
  DONE,
  FAILED;

  String text() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
