package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.Identifier;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.StoreBinding;
import java.util.Properties;
import org.apache.ignite.client.IgniteClient;
import org.apache.ignite.lang.IgniteException;
import org.apache.ignite.sql.IgniteSql;
import org.apache.ignite.sql.ResultSet;
import org.apache.ignite.sql.SqlRow;
import org.apache.ignite.table.QualifiedName;
import site.ycsb.workloads.CoreWorkload;

/** What is done to the table between loads and runs. */
final class TableSteps {
  /** Ignite tells nobody when a replica has caught up; one has to ask. */
  private static final int ASK_MILLISECONDS = 200;

  private static final String HEALTHY_REPLICAS =
      "SELECT COUNT(*) FROM SYSTEM.LOCAL_ZONE_PARTITION_STATES"
          + " WHERE ZONE_NAME = ? AND PARTITION_STATE = 'HEALTHY'";

  private static final String WANTED_REPLICAS =
      "SELECT ZONE_PARTITIONS, ZONE_REPLICAS FROM SYSTEM.ZONES WHERE ZONE_NAME = ?";

  private interface Step {
    void run(IgniteClient client, String table) throws InterruptedException;
  }

  private TableSteps() {}

  static void create(Properties properties) throws InterruptedException {
    IgniteSettings settings = IgniteSettings.of(properties);
    String fieldPrefix =
        properties.getProperty(
            CoreWorkload.FIELD_NAME_PREFIX, CoreWorkload.FIELD_NAME_PREFIX_DEFAULT);
    int fields = fieldCount(properties);
    with(
        properties,
        (client, table) -> {
          // Made before the zone, which a name that is refused would leave alone.
          boolean isGrouped = settings.shares() != Placement.Shares.HASH;
          String createTable = Statements.createTable(table, fieldPrefix, fields, isGrouped);
          refuseIfItExists(client, table);
          createZone(client.sql(), table, settings);
          execute(client.sql(), createTable);
          if (isGrouped) {
            GroupTable.create(client, table, settings);
          }
        });
  }

  static void drop(Properties properties) throws InterruptedException {
    with(
        properties,
        (client, table) -> {
          execute(client.sql(), Statements.dropTable(table));
          execute(client.sql(), Statements.dropTable(Statements.groupTable(table)));
          execute(client.sql(), Statements.dropZone(table));
        });
  }

  /** A zone may want more replicas than there are nodes; each node has one at most. */
  static void awaitReplicas(Properties properties) throws InterruptedException {
    with(
        properties,
        (client, table) -> {
          long wanted = wantedReplicas(client, table);
          while (count(client.sql(), HEALTHY_REPLICAS, table) < wanted) {
            Thread.sleep(ASK_MILLISECONDS);
          }
        });
  }

  private static long wantedReplicas(IgniteClient client, String table) {
    int nodes = client.cluster().nodes().size();
    try (ResultSet<SqlRow> zones = client.sql().execute(null, WANTED_REPLICAS, table)) {
      if (!zones.hasNext()) {
        throw new SettingException(
            "there is no table "
                + table
                + "; use the step "
                + StoreBinding.CREATE_TABLE
                + " before");
      }
      SqlRow zone = zones.next();
      return (long) zone.intValue(0) * Math.min(zone.intValue(1), nodes);
    }
  }

  private static void with(Properties properties, Step step) throws InterruptedException {
    String table =
        properties.getProperty(
            CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT);
    Identifier.quote(table);
    try (IgniteClient client = connect(IgniteSettings.of(properties))) {
      step.run(client, table);
    }
  }

  private static IgniteClient connect(IgniteSettings settings) {
    try {
      return Connector.connect(settings);
    } catch (IgniteException e) {
      throw new SettingException(Connector.cannotConnect(settings, e));
    }
  }

  private static void refuseIfItExists(IgniteClient client, String table) {
    if (client.tables().table(QualifiedName.fromSimple(Identifier.quote(table))) != null) {
      throw new SettingException(
          "the table " + table + " exists; use the step " + StoreBinding.DROP_TABLE + " before");
    }
  }

  private static void createZone(IgniteSql sql, String table, IgniteSettings settings) {
    try {
      execute(sql, Statements.createZone(table, settings));
    } catch (IgniteException e) {
      throw new SettingException(
          "cannot create the zone "
              + table
              + ": "
              + e.getMessage()
              + "; if there is one, use the step "
              + StoreBinding.DROP_TABLE
              + " before; "
              + IgniteSettings.PROFILE.name()
              + " has to be one of storage.profiles in the nodes' ignite-config.conf");
    }
  }

  private static void execute(IgniteSql sql, String statement) {
    sql.execute(null, statement).close();
  }

  private static long count(IgniteSql sql, String query, Object... parameters) {
    try (ResultSet<SqlRow> rows = sql.execute(null, query, parameters)) {
      return rows.next().longValue(0);
    }
  }

  private static int fieldCount(Properties properties) {
    String text =
        properties.getProperty(
            CoreWorkload.FIELD_COUNT_PROPERTY, CoreWorkload.FIELD_COUNT_PROPERTY_DEFAULT);
    try {
      int count = Integer.parseInt(text.trim());
      if (count > 0) {
        return count;
      }
    } catch (NumberFormatException e) {
      // Reported below, as 0 is.
    }
    throw new SettingException("fieldcount=" + text + " is not a whole number from 1 up");
  }
}
