package dev.sluice.ycsb.postgres;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.StoreBinding;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import site.ycsb.DB;
import site.ycsb.workloads.CoreWorkload;

/** PostgreSQL for {@code sluice-ycsb}. */
public final class PostgresBinding implements StoreBinding {
  private static final String DUPLICATE_TABLE = "42P07";

  /** Made by the service loader. */
  public PostgresBinding() {}

  @Override
  public String name() {
    return "postgres";
  }

  @Override
  public String summary() {
    return "PostgreSQL over JDBC: a row per record, a committed statement per operation";
  }

  @Override
  public DB newDb() {
    return new PostgresClient();
  }

  @Override
  public List<Setting> settings() {
    return PostgresSettings.all();
  }

  @Override
  public List<PrepareStep> prepareSteps() {
    return List.of(
        new PrepareStep(
            CREATE_TABLE, "create the table; fails if it exists", PostgresBinding::createTable),
        new PrepareStep(DROP_TABLE, "drop the table if it exists", PostgresBinding::dropTable),
        new PrepareStep(
            "vacuum-analyze",
            "settle the table after a load: hint bits, visibility map, statistics",
            properties -> execute(properties, "VACUUM (ANALYZE) " + table(properties))),
        new PrepareStep(
            "checkpoint",
            "start the next phase from a fresh checkpoint; needs pg_checkpoint",
            properties -> execute(properties, "CHECKPOINT")));
  }

  /** The key sorts by byte, as in other stores and whatever the database's locale. */
  private static void createTable(Properties properties) throws SQLException {
    String prefix =
        properties.getProperty(
            CoreWorkload.FIELD_NAME_PREFIX, CoreWorkload.FIELD_NAME_PREFIX_DEFAULT);
    String columns =
        IntStream.range(0, fieldCount(properties))
            .mapToObj(i -> ", " + Statements.quote(prefix + i) + " text")
            .collect(Collectors.joining());
    String key = Statements.quote(Statements.KEY) + " text COLLATE \"C\" PRIMARY KEY";
    try {
      execute(properties, "CREATE TABLE " + table(properties) + " (" + key + columns + ")");
    } catch (SQLException e) {
      if (DUPLICATE_TABLE.equals(e.getSQLState())) {
        throw new SettingException(e.getMessage() + "; use the step " + DROP_TABLE + " before");
      }
      throw e;
    }
  }

  private static void dropTable(Properties properties) throws SQLException {
    execute(properties, "DROP TABLE IF EXISTS " + table(properties));
  }

  private static void execute(Properties properties, String sql) throws SQLException {
    try (Connection connection = connect(PostgresSettings.of(properties));
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static Connection connect(PostgresSettings settings) {
    try {
      return settings.connectForStep();
    } catch (SQLException e) {
      throw new SettingException(settings.cannotConnect(e));
    }
  }

  private static String table(Properties properties) {
    return Statements.quote(
        properties.getProperty(
            CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT));
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
