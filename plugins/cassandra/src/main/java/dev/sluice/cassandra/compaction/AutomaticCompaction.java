package dev.sluice.cassandra.compaction;

import org.apache.cassandra.db.ColumnFamilyStore;

/**
 * The automatic compaction of a table, which orders have off for some time. Not safe for threads.
 */
final class AutomaticCompaction {
  /** What it asks of a table, and does to it. */
  interface Table {
    /** Whether compactions begin by themselves. */
    boolean isOn();

    /** Whether the table's options say so, whatever has been set since. */
    boolean isOnByOptions();

    void switchOn();

    void switchOff();
  }

  private boolean isOff;
  private boolean wasOnByOptions;

  /** A table of the node. */
  static Table of(ColumnFamilyStore table) {
    return new Table() {
      @Override
      public boolean isOn() {
        return !table.isAutoCompactionDisabled();
      }

      @Override
      public boolean isOnByOptions() {
        return table.getCompactionStrategyManager().shouldBeEnabled();
      }

      @Override
      public void switchOn() {
        table.enableAutoCompaction();
      }

      @Override
      public void switchOff() {
        table.disableAutoCompaction();
      }
    };
  }

  /** Whether an order has it off now. */
  boolean isOff() {
    return isOff;
  }

  /** Switches it off, unless somebody else has. */
  void switchOff(Table table) {
    if (table.isOn()) {
      wasOnByOptions = table.isOnByOptions();
      table.switchOff();
      isOff = true;
    }
  }

  /** Switches it on if it was switched off here, and nobody else wants it to be off by now. */
  void switchOn(Table table) {
    if (!isOff) {
      return;
    }
    isOff = false;
    // Of what is off already, ALTER TABLE changes the options alone.
    boolean isOffByOthers = wasOnByOptions && !table.isOnByOptions();
    if (!isOffByOthers) {
      table.switchOn();
    }
  }
}
