package dev.sluice.hbase.compaction;

import java.util.Arrays;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;

/**
 * Whether the store has the hooks of Sluice's patches: the plug-in works without them, with less.
 */
final class StoreHooks {
  private StoreHooks() {}

  /** Whether queued compactions can be put off. */
  static boolean canDefer() {
    return Arrays.stream(ThroughputController.class.getMethods())
        .anyMatch(method -> method.getName().equals("defer"));
  }
}
