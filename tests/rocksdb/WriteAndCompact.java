import java.nio.charset.StandardCharsets;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Writes some files, compacts them, reads them, and says with which options. */
public final class WriteAndCompact {
  private static final int FILES = 4;
  private static final int KEYS = 1000;

  public static void main(String[] arguments) throws RocksDBException {
    CompressionType compression = CompressionType.valueOf(arguments[1]);
    try (Options options =
            new Options().setCreateIfMissing(true).setCompressionType(compression);
        RocksDB database = RocksDB.open(options, arguments[0])) {
      for (int file = 0; file < FILES; file++) {
        write(database);
      }
      database.compactRange();
      System.out.println("rows " + rows(database));
      System.out.println("max_background_jobs " + database.getDBOptions().maxBackgroundJobs());
    }
  }

  private static void write(RocksDB database) throws RocksDBException {
    for (int key = 0; key < KEYS; key++) {
      database.put(bytes("key " + key), bytes("value of key " + key));
    }
    try (FlushOptions wait = new FlushOptions()) {
      database.flush(wait);
    }
  }

  private static int rows(RocksDB database) throws RocksDBException {
    int rows = 0;
    try (RocksIterator row = database.newIterator()) {
      for (row.seekToFirst(); row.isValid(); row.next()) {
        String key = new String(row.key(), StandardCharsets.UTF_8);
        String value = new String(row.value(), StandardCharsets.UTF_8);
        rows += value.equals("value of " + key) ? 1 : 0;
      }
      row.status();
    }
    return rows;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
