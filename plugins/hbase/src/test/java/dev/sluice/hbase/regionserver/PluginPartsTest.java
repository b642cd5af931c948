package dev.sluice.hbase.regionserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class PluginPartsTest {
  private final PluginParts parts = new PluginParts();
  private final Counting last = new Counting();

  /** Counts the calls. */
  private static final class Counting implements PluginPart {
    private int ticks;
    private int detaches;

    @Override
    public void attach(RegionServerPlugin plugin) {}

    @Override
    public void tick() {
      ticks++;
    }

    @Override
    public void detach() {
      detaches++;
    }
  }

  /** Needs what this version of the store does not have. */
  private static final class OfAnotherVersion implements PluginPart {
    private final boolean isAttached;

    private OfAnotherVersion(boolean isAttached) {
      this.isAttached = isAttached;
    }

    @Override
    public void attach(RegionServerPlugin plugin) {
      if (!isAttached) {
        throw new NoSuchMethodError("HRegionServer.isNotThere()");
      }
    }

    @Override
    public void tick() {
      throw new NoClassDefFoundError("HRegion");
    }

    @Override
    public void detach() {
      throw new IllegalStateException("a fault");
    }
  }

  private void attach(PluginPart... all) {
    parts.attach(List.of(all).iterator(), null);
  }

  @Test
  void onePartsFaultIsNotTheOthers() {
    attach(new OfAnotherVersion(true), last);
    parts.tick();
    parts.tick();
    parts.detach();
    assertEquals(List.of(2, 1), List.of(last.ticks, last.detaches));
  }

  @Test
  void onePartThatCannotBeAttachedIsNotThere() {
    attach(new OfAnotherVersion(false), last);
    parts.tick();
    assertEquals(1, last.ticks);
    assertThrows(IllegalStateException.class, () -> parts.get(OfAnotherVersion.class));
    assertEquals(last, parts.get(Counting.class));
  }
}
