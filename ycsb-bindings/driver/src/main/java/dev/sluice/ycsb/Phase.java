package dev.sluice.ycsb;

import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.Workload;

/** The two halves of a YCSB benchmark: filling the store, and working on it. */
enum Phase {
  LOAD {
    @Override
    boolean execute(Workload workload, DB db, Object state) {
      return workload.doInsert(db, state);
    }

    @Override
    long operations(Properties properties) {
      String records = properties.getProperty(Client.RECORD_COUNT_PROPERTY);
      return Long.parseLong(properties.getProperty(Client.INSERT_COUNT_PROPERTY, records));
    }
  },
  RUN {
    @Override
    boolean execute(Workload workload, DB db, Object state) {
      return workload.doTransaction(db, state);
    }

    @Override
    long operations(Properties properties) {
      return Long.parseLong(properties.getProperty(Client.OPERATION_COUNT_PROPERTY));
    }
  };

  /**
   * Does one operation; false when the workload has come to an end, which in a load is a failure.
   */
  abstract boolean execute(Workload workload, DB db, Object state);

  /** How many operations the properties ask for; 0 for no limit. */
  abstract long operations(Properties properties);
}
