package dev.sluice.cassandra.compaction;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Whether a table compacts by itself after orders that had put that off. */
class AutomaticCompactionTest {
  private final FakeTable table = new FakeTable();
  private final AutomaticCompaction compaction = new AutomaticCompaction();

  /**
   * As Cassandra has it: options that change switch what is on off, and leave what is off alone.
   */
  private static final class FakeTable implements AutomaticCompaction.Table {
    private boolean isOn = true;
    private boolean isOnByOptions = true;

    void alterToOff() {
      isOn = false;
      isOnByOptions = false;
    }

    @Override
    public boolean isOn() {
      return isOn;
    }

    @Override
    public boolean isOnByOptions() {
      return isOnByOptions;
    }

    @Override
    public void switchOn() {
      isOn = true;
    }

    @Override
    public void switchOff() {
      isOn = false;
    }
  }

  @Test
  void whatAnOrderHasOffIsOnAfterIt() {
    compaction.switchOff(table);
    compaction.switchOff(table);
    assertTrue(compaction.isOff());
    assertFalse(table.isOn);
    compaction.switchOn(table);
    assertFalse(compaction.isOff());
    assertTrue(table.isOn);
  }

  @Test
  void whatSomebodyElseHasOffStaysOff() {
    table.isOn = false;
    compaction.switchOff(table);
    assertFalse(compaction.isOff());
    compaction.switchOn(table);
    assertFalse(table.isOn);
  }

  @Test
  void whatAlterTableSwitchesOffMeanwhileStaysOff() {
    compaction.switchOff(table);
    table.alterToOff();
    compaction.switchOff(table);
    compaction.switchOn(table);
    assertFalse(table.isOn);
    compaction.switchOff(table);
    compaction.switchOn(table);
    assertFalse(table.isOn);
  }

  @Test
  void whatWasOnAgainstItsOptionsIsOnAgain() {
    table.isOnByOptions = false;
    compaction.switchOff(table);
    compaction.switchOn(table);
    assertTrue(table.isOn);
  }
}
