package dev.sluice.ycsb.rocksdb;

import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.ConfigOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.OptionsUtil;
import org.rocksdb.RateLimiter;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** The options of the settings as RocksDB's own objects, of the database and of the family. */
record DatabaseOptions(DBOptions database, ColumnFamilyOptions family) implements AutoCloseable {

  /**
   * From the options file or the option strings, else RocksDB's own.
   *
   * @throws SettingException when RocksDB does not take them
   */
  static DatabaseOptions of(RocksDbSettings settings) {
    RocksDB.loadLibrary();
    if (!settings.optionsFile().isEmpty()) {
      return ofFile(settings);
    }
    DBOptions database = database(settings.databaseOptions());
    limit(database, settings.autoTunedLimiterBytesPerSecond());
    return new DatabaseOptions(database, family(settings.familyOptions()));
  }

  /** An option string can name a fixed rate only. */
  private static void limit(DBOptions database, int bytesPerSecond) {
    if (bytesPerSecond == 0) {
      return;
    }
    // The options keep it.
    try (RateLimiter limiter =
        new RateLimiter(
            bytesPerSecond,
            RateLimiter.DEFAULT_REFILL_PERIOD_MICROS,
            RateLimiter.DEFAULT_FAIRNESS,
            RateLimiter.DEFAULT_MODE,
            true)) {
      database.setRateLimiter(limiter);
    }
  }

  /** Both in one object, as some of RocksDB's functions ask for. */
  Options whole() {
    return new Options(database, family);
  }

  @Override
  public void close() {
    database.close();
    family.close();
  }

  private static DatabaseOptions ofFile(RocksDbSettings settings) {
    DBOptions database = new DBOptions();
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    try (ConfigOptions strict = new ConfigOptions()) {
      OptionsUtil.loadOptionsFromFile(strict, settings.optionsFile(), database, families);
    } catch (RocksDBException e) {
      throw refused(RocksDbSettings.OPTIONS_FILE, settings.optionsFile(), e.getMessage());
    }
    for (ColumnFamilyDescriptor each : families) {
      if (settings.family().equals(new String(each.getName(), StandardCharsets.UTF_8))) {
        return new DatabaseOptions(database, each.getOptions());
      }
    }
    throw refused(
        RocksDbSettings.OPTIONS_FILE,
        settings.optionsFile(),
        "it has no column family '" + settings.family() + "'");
  }

  private static DBOptions database(String text) {
    if (text.isEmpty()) {
      return new DBOptions();
    }
    Setting setting = RocksDbSettings.DATABASE_OPTIONS;
    try (ConfigOptions strict = new ConfigOptions()) {
      var options = DBOptions.getDBOptionsFromProps(strict, OptionString.parse(setting, text));
      return accepted(setting, text, options);
    }
  }

  private static ColumnFamilyOptions family(String text) {
    if (text.isEmpty()) {
      return new ColumnFamilyOptions();
    }
    Setting setting = RocksDbSettings.FAMILY_OPTIONS;
    try (ConfigOptions strict = new ConfigOptions()) {
      var options =
          ColumnFamilyOptions.getColumnFamilyOptionsFromProps(
              strict, OptionString.parse(setting, text));
      return accepted(setting, text, options);
    }
  }

  /** RocksDB's Java gives null and no reason. */
  private static <T> T accepted(Setting setting, String text, T options) {
    if (options == null) {
      throw refused(setting, text, "RocksDB does not take it; check its names and values");
    }
    return options;
  }

  private static SettingException refused(Setting setting, String text, String why) {
    return new SettingException(setting.name() + "=" + text + ": " + why);
  }
}
