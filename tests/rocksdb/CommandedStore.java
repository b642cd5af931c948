import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * A database that does what its standard input says, line by line, and answers each when it is done. It ends with its
 * input, and with the first error that RocksDB gives it.
 */
public final class CommandedStore {
  private static final Charset ENCODING = StandardCharsets.UTF_8;

  private final RocksDB database;
  private final WriteOptions synced;
  private final BufferedReader input;
  private final PrintWriter output;

  private CommandedStore(
      RocksDB database, WriteOptions synced, BufferedReader input, PrintWriter output) {
    this.database = database;
    this.synced = synced;
    this.input = input;
    this.output = output;
  }

  public static void main(String[] arguments) throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, ENCODING));
    PrintWriter output =
        new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out, ENCODING)));
    // Small, so that there is always something to compact.
    try (Options options =
            new Options()
                .setCreateIfMissing(true)
                .setWriteBufferSize(1 << 20)
                .setTargetFileSizeBase(2 << 20)
                .setMaxBytesForLevelBase(8 << 20)
                .setMaxBackgroundJobs(4);
        WriteOptions synced = new WriteOptions().setSync(true);
        RocksDB database = RocksDB.open(options, arguments[0])) {
      CommandedStore store = new CommandedStore(database, synced, input, output);
      store.answer("open");
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        store.obey(line.split(" "));
      }
    }
  }

  private void obey(String[] words) throws Exception {
    switch (words[0]) {
      case "write" -> write(Integer.parseInt(words[1]));
      case "settle" -> settle();
      case "verify" -> verify();
      case "scan" -> scan();
      default -> throw new IllegalArgumentException(words[0]);
    }
  }

  /** Reads so many lines, KEY VALUE to put and KEY to delete, and writes them at once. */
  private void write(int lines) throws IOException, RocksDBException {
    try (WriteBatch batch = new WriteBatch()) {
      for (int line = 0; line < lines; line++) {
        String[] row = input.readLine().split(" ");
        if (row.length == 1) {
          batch.delete(row[0].getBytes(ENCODING));
        } else {
          batch.put(row[0].getBytes(ENCODING), row[1].getBytes(ENCODING));
        }
      }
      database.write(synced, batch);
    }
    answer("written");
  }

  /** Has all rows in tables, and nothing more to compact. */
  private void settle() throws Exception {
    try (FlushOptions wait = new FlushOptions()) {
      database.flush(wait);
    }
    while (count("num-running-compactions") + count("compaction-pending") > 0) {
      Thread.sleep(20);
    }
    answer("settled");
  }

  /** Reads every block of every table. */
  private void verify() throws RocksDBException {
    database.verifyChecksum();
    answer("background-errors " + count("background-errors"));
  }

  private long count(String property) throws RocksDBException {
    return database.getLongProperty("rocksdb." + property);
  }

  private void scan() throws RocksDBException {
    try (RocksIterator row = database.newIterator()) {
      for (row.seekToFirst(); row.isValid(); row.next()) {
        output.println(new String(row.key(), ENCODING) + " " + new String(row.value(), ENCODING));
      }
      row.status();
    }
    answer("scanned");
  }

  private void answer(String line) {
    output.println(line);
    output.flush();
  }
}
