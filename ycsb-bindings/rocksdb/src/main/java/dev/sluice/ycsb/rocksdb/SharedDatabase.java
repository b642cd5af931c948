package dev.sluice.ycsb.rocksdb;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** One open database for all threads of a process, since nobody can open it twice. */
final class SharedDatabase {
  /** Far more than threads, so that they hardly ever wait for a lock that is not of their key. */
  private static final int LOCKS = 4096;

  private static final Map<Path, SharedDatabase> OPEN = new HashMap<>();

  private final Path directory;
  private final OpenDatabase opened;
  private final Object[] locks = new Object[LOCKS];
  private int users;

  private SharedDatabase(Path directory, OpenDatabase opened) {
    this.directory = directory;
    this.opened = opened;
    Arrays.setAll(locks, i -> new Object());
  }

  /** The database of these settings, opened by the first to ask. */
  static SharedDatabase acquire(RocksDbSettings settings) throws RocksDBException {
    synchronized (OPEN) {
      SharedDatabase shared = OPEN.get(settings.directory());
      if (shared == null) {
        shared = new SharedDatabase(settings.directory(), OpenDatabase.open(settings));
        OPEN.put(settings.directory(), shared);
      }
      shared.users++;
      return shared;
    }
  }

  RocksDB database() {
    return opened.database();
  }

  ColumnFamilyHandle family() {
    return opened.family();
  }

  /** Held by whoever changes the record: an update reads it first. */
  Object lockOf(String key) {
    return locks[Math.floorMod(key.hashCode(), LOCKS)];
  }

  /** Gives it back; the last one closes it. */
  void release() {
    synchronized (OPEN) {
      users--;
      if (users > 0) {
        return;
      }
      OPEN.remove(directory);
      opened.close();
    }
  }
}
