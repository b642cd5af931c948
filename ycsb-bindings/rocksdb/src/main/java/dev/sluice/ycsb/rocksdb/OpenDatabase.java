package dev.sluice.ycsb.rocksdb;

import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.StoreBinding;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** A database that this process has opened, with the family that holds the table. */
final class OpenDatabase implements AutoCloseable {
  private static final String DEFAULT =
      new String(RocksDB.DEFAULT_COLUMN_FAMILY, StandardCharsets.UTF_8);

  private final DatabaseOptions options;
  private final List<ColumnFamilyHandle> families = new ArrayList<>();
  private final RocksDB database;
  private final ColumnFamilyHandle family;

  private OpenDatabase(RocksDbSettings settings, DatabaseOptions options, Set<String> names)
      throws RocksDBException {
    this.options = options;
    List<ColumnFamilyDescriptor> descriptors = descriptors(settings, options, names);
    database =
        RocksDB.open(options.database(), settings.directory().toString(), descriptors, families);
    family = families.get(List.copyOf(names).indexOf(settings.family()));
  }

  /**
   * Opens what is there.
   *
   * @throws SettingException when there is no database, or no such family in it
   */
  static OpenDatabase open(RocksDbSettings settings) throws RocksDBException {
    if (!settings.exists()) {
      throw new SettingException(
          "no database in "
              + settings.directory()
              + "; make one with the step "
              + StoreBinding.CREATE_TABLE);
    }
    RocksDB.loadLibrary();
    Set<String> names = familiesOf(settings);
    if (!names.contains(settings.family())) {
      throw new SettingException(
          RocksDbSettings.FAMILY.name()
              + "="
              + settings.family()
              + " is not in "
              + settings.directory()
              + ", which has "
              + names);
    }
    return opened(settings, names, false);
  }

  /**
   * Makes a database with the family.
   *
   * @throws SettingException when there is one already
   */
  static OpenDatabase create(RocksDbSettings settings) throws RocksDBException, IOException {
    if (settings.exists()) {
      throw new SettingException(
          "there is a database in "
              + settings.directory()
              + "; use the step "
              + StoreBinding.DROP_TABLE
              + " before");
    }
    Files.createDirectories(settings.directory());
    Set<String> names = new LinkedHashSet<>(List.of(DEFAULT));
    names.add(settings.family());
    return opened(settings, names, true);
  }

  RocksDB database() {
    return database;
  }

  ColumnFamilyHandle family() {
    return family;
  }

  /** Whether compactions of the family begin without being asked for. */
  boolean compactsByItself() {
    return !options.family().disableAutoCompactions();
  }

  @Override
  public void close() {
    families.forEach(ColumnFamilyHandle::close);
    database.close();
    options.close();
  }

  private static OpenDatabase opened(RocksDbSettings settings, Set<String> names, boolean create)
      throws RocksDBException {
    DatabaseOptions options = DatabaseOptions.of(settings);
    // An options file has these as they were when it was written.
    options
        .database()
        .setCreateIfMissing(create)
        .setCreateMissingColumnFamilies(create)
        .setErrorIfExists(create);
    try {
      return new OpenDatabase(settings, options, names);
    } catch (RocksDBException e) {
      options.close();
      throw e;
    }
  }

  /** RocksDB opens all families of a database or none. */
  private static Set<String> familiesOf(RocksDbSettings settings) throws RocksDBException {
    Set<String> names = new LinkedHashSet<>();
    try (Options options = new Options()) {
      for (byte[] name : RocksDB.listColumnFamilies(options, settings.directory().toString())) {
        names.add(new String(name, StandardCharsets.UTF_8));
      }
    }
    return names;
  }

  private static List<ColumnFamilyDescriptor> descriptors(
      RocksDbSettings settings, DatabaseOptions options, Set<String> names) {
    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    for (String name : names) {
      boolean own = name.equals(settings.family());
      descriptors.add(
          new ColumnFamilyDescriptor(
              name.getBytes(StandardCharsets.UTF_8),
              own ? options.family() : new ColumnFamilyOptions()));
    }
    return descriptors;
  }
}
