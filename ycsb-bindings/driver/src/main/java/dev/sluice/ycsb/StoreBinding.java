package dev.sluice.ycsb;

import java.util.List;
import java.util.Properties;
import site.ycsb.DB;

/**
 * A store that YCSB can drive. Implementations are named in {@code
 * META-INF/services/dev.sluice.ycsb.StoreBinding} of the binding's jar.
 */
public interface StoreBinding {
  /** The step, of every store, that makes an empty table; fails if there is one. */
  String CREATE_TABLE = "create-table";

  /** The step, of every store, that removes the table if there is one. */
  String DROP_TABLE = "drop-table";

  /** The word that selects the store on the command line; also the prefix of its settings. */
  String name();

  /** One line for the help. */
  String summary();

  /** A client for one thread, not yet initialised. */
  DB newDb();

  /**
   * The part of the store that a table is, as Sluice's service levels name it: what response times
   * are reported for.
   */
  default String scope(Properties properties, String table) {
    return table;
  }

  /** All properties that start with the store's name and a dot. */
  List<Setting> settings();

  /** What {@code sluice-ycsb prepare} can do: the two steps above and what the store has more. */
  List<PrepareStep> prepareSteps();
}
