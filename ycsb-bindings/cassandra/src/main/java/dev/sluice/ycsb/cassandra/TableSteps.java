package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import dev.sluice.ycsb.Identifier;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.StoreBinding;
import java.util.Properties;
import site.ycsb.workloads.CoreWorkload;

/** What is done to the table between loads and runs. */
final class TableSteps {
  private TableSteps() {}

  static void create(Properties properties) {
    CassandraSettings settings = CassandraSettings.of(properties);
    String table = table(properties);
    String fieldPrefix =
        properties.getProperty(
            CoreWorkload.FIELD_NAME_PREFIX, CoreWorkload.FIELD_NAME_PREFIX_DEFAULT);
    // Made before the keyspace, which a name that is refused would leave alone.
    String createTable =
        Statements.createTable(
            Statements.qualified(settings, table), fieldPrefix, fieldCount(properties));
    try (CqlSession session = connect(settings)) {
      session.execute(Statements.createKeyspace(settings));
      session.execute(createTable);
    } catch (AlreadyExistsException e) {
      throw new SettingException(
          "the table " + table + " exists; use the step " + StoreBinding.DROP_TABLE + " before");
    }
  }

  static void drop(Properties properties) {
    CassandraSettings settings = CassandraSettings.of(properties);
    String table = Statements.qualified(settings, table(properties));
    try (CqlSession session = connect(settings)) {
      if (session.getMetadata().getKeyspace(Identifier.quote(settings.keyspace())).isPresent()) {
        session.execute(Statements.dropTable(table));
      }
    }
  }

  private static String table(Properties properties) {
    return properties.getProperty(
        CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT);
  }

  private static CqlSession connect(CassandraSettings settings) {
    try {
      return Connector.connect(settings);
    } catch (DriverException | IllegalStateException e) {
      throw new SettingException(Connector.cannotConnect(settings, e));
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
