package dev.sluice.ycsb.rocksdb;

import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.SettingValues;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

/** Where the database is, and how to open it and write to it. */
record RocksDbSettings(
    Path directory,
    String family,
    String optionsFile,
    String databaseOptions,
    String familyOptions,
    boolean sync,
    int batchSize,
    int autoTunedLimiterBytesPerSecond) {
  static final Setting DIRECTORY =
      Setting.of("rocksdb.directory", "", "where the database is; must be set");
  static final Setting FAMILY =
      Setting.of("rocksdb.family", "default", "column family that holds the table");
  static final Setting OPTIONS_FILE =
      Setting.of(
          "rocksdb.optionsfile",
          "",
          "an OPTIONS file of RocksDB's with the options of database and family");
  static final Setting DATABASE_OPTIONS =
      Setting.of(
          "rocksdb.databaseoptions",
          "",
          "option string of the database, such as max_background_jobs=4");
  static final Setting FAMILY_OPTIONS =
      Setting.of(
          "rocksdb.familyoptions",
          "",
          "option string of the family, such as write_buffer_size=4194304");
  static final Setting SYNC =
      Setting.of("rocksdb.sync", "false", "a write is on the disk before it is done");
  static final Setting BATCH_SIZE =
      Setting.of("rocksdb.batchsize", "1", "inserts that are written together");
  static final Setting AUTO_TUNED_LIMITER =
      Setting.of(
          "rocksdb.autotunedlimiterbytespersecond",
          "0",
          "a rate limiter of writes that tunes itself up to this; 0: none");

  static List<Setting> all() {
    return List.of(
        DIRECTORY,
        FAMILY,
        OPTIONS_FILE,
        DATABASE_OPTIONS,
        FAMILY_OPTIONS,
        SYNC,
        BATCH_SIZE,
        AUTO_TUNED_LIMITER);
  }

  /**
   * Reads the settings.
   *
   * @throws SettingException for a missing or wrong one
   */
  static RocksDbSettings of(Properties properties) {
    SettingValues values = new SettingValues(properties);
    RocksDbSettings settings =
        new RocksDbSettings(
            directory(values),
            values.text(FAMILY),
            values.text(OPTIONS_FILE),
            values.text(DATABASE_OPTIONS),
            values.text(FAMILY_OPTIONS),
            values.bool(SYNC),
            values.number(BATCH_SIZE, 1),
            values.number(AUTO_TUNED_LIMITER, 0));
    settings.check();
    return settings;
  }

  /** Whether there is a database; the file names its newest state. */
  boolean exists() {
    return Files.exists(directory.resolve("CURRENT"));
  }

  private void check() {
    if (family.isEmpty()) {
      throw new SettingException(FAMILY.name() + " is empty; leave it out for the default family");
    }
    if (optionsFile.isEmpty()) {
      return;
    }
    if (!databaseOptions.isEmpty() || !familyOptions.isEmpty()) {
      throw new SettingException(
          "set either "
              + OPTIONS_FILE.name()
              + ", or "
              + DATABASE_OPTIONS.name()
              + " and "
              + FAMILY_OPTIONS.name());
    }
    if (autoTunedLimiterBytesPerSecond > 0) {
      throw new SettingException(
          "set either "
              + OPTIONS_FILE.name()
              + " or "
              + AUTO_TUNED_LIMITER.name()
              + "; the limiter is that of the file");
    }
    if (!Files.isReadable(Path.of(optionsFile))) {
      throw new SettingException(OPTIONS_FILE.name() + "=" + optionsFile + " cannot be read");
    }
  }

  private static Path directory(SettingValues values) {
    String value = values.required(DIRECTORY, "/srv/rocksdb/ycsb");
    return Path.of(value).toAbsolutePath().normalize();
  }
}
