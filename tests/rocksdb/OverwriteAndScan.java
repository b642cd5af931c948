import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Overwrites keys in rounds, which makes compactions, and says how many rows are what was written last. */
public final class OverwriteAndScan {
  private static final int KEYS = 50_000;
  private static final int WRITES_PER_ROUND = 20_000;
  private static final String FILLING = "x".repeat(150);

  private final RocksDB database;
  private final int[] written = new int[KEYS];
  private final Random random = new Random(7);

  private OverwriteAndScan(RocksDB database) {
    this.database = database;
  }

  public static void main(String[] arguments) throws Exception {
    try (Options options =
            new Options()
                .setCreateIfMissing(true)
                .setWriteBufferSize(1 << 20)
                .setTargetFileSizeBase(2 << 20)
                .setMaxBytesForLevelBase(4 << 20)
                .setMaxBackgroundJobs(4);
        RocksDB database = RocksDB.open(options, arguments[0])) {
      OverwriteAndScan run = new OverwriteAndScan(database);
      for (int round = 1; round <= Integer.parseInt(arguments[1]); round++) {
        run.overwrite(round);
      }
      run.waitForCompactions();
      run.scan();
    }
  }

  private void overwrite(int round) throws RocksDBException {
    for (int write = 0; write < WRITES_PER_ROUND; write++) {
      int key = random.nextInt(KEYS);
      written[key] = round * WRITES_PER_ROUND + write;
      database.put(bytes("key " + key), bytes(written[key] + " " + FILLING));
    }
    try (FlushOptions wait = new FlushOptions()) {
      database.flush(wait);
    }
  }

  private void waitForCompactions() throws Exception {
    while (is("rocksdb.num-running-compactions") || is("rocksdb.compaction-pending")) {
      Thread.sleep(20);
    }
  }

  private boolean is(String property) throws RocksDBException {
    return !database.getProperty(property).equals("0");
  }

  private void scan() throws RocksDBException {
    int rows = 0;
    int right = 0;
    try (RocksIterator row = database.newIterator()) {
      for (row.seekToFirst(); row.isValid(); row.next()) {
        int key = Integer.parseInt(text(row.key()).substring("key ".length()));
        rows++;
        right += text(row.value()).equals(written[key] + " " + FILLING) ? 1 : 0;
      }
      row.status();
    }
    int expected = 0;
    for (int value : written) {
      expected += value == 0 ? 0 : 1;
    }
    System.out.println("expected " + expected + "\nrows " + rows + "\nright " + right);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
