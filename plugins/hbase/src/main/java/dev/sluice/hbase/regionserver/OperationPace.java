package dev.sluice.hbase.regionserver;

/** What a controller of the store asks about the operations that it is told of, by their names. */
public interface OperationPace {
  void start(String name);

  /** Waits as long as the operation must, and gives how long it did, in milliseconds. */
  long written(String name, long bytes) throws InterruptedException;

  void finish(String name);

  /** The store asks another controller from now on; operations that run still end with this one. */
  default void stop(String why) {}
}
