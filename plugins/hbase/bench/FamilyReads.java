import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Reads random rows of one family, and scans another between the reads. Arguments: table, family
 * that is read, its number of rows, family that is scanned. Each line of standard input is a
 * request, and is answered by a line with the number of gets:
 *
 * <pre>
 * touch STEP           gets each STEPth row, twice
 * read GETS SCANNED    so many gets of random rows, and so many rows of the scan after each
 * </pre>
 */
public final class FamilyReads implements AutoCloseable {
  private final Table table;
  private final byte[] readFamily;
  private final int rows;
  private final byte[] scannedFamily;
  private final Random random = new Random(7);
  private ResultScanner scanner;

  private FamilyReads(Table table, String readFamily, int rows, String scannedFamily) {
    this.table = table;
    this.readFamily = Bytes.toBytes(readFamily);
    this.rows = rows;
    this.scannedFamily = Bytes.toBytes(scannedFamily);
  }

  /** Answers requests until the end of standard input. */
  public static void main(String[] arguments) throws IOException {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Table table = connection.getTable(TableName.valueOf(arguments[0]));
        FamilyReads reads =
            new FamilyReads(table, arguments[1], Integer.parseInt(arguments[2]), arguments[3])) {
      BufferedReader requests =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        System.out.println(reads.answer(line.split(" ")));
        System.out.flush();
      }
    }
  }

  private int answer(String[] request) throws IOException {
    return switch (request[0]) {
      case "touch" -> touch(Integer.parseInt(request[1]));
      case "read" -> read(Integer.parseInt(request[1]), Integer.parseInt(request[2]));
      default -> throw new IllegalArgumentException("use touch or read, not " + request[0]);
    };
  }

  /** Twice, so that the cache takes blocks for ones that are read again. */
  private int touch(int step) throws IOException {
    int gets = 0;
    for (int pass = 0; pass < 2; pass++) {
      for (int row = 0; row < rows; row += step) {
        get(row);
        gets++;
      }
    }
    return gets;
  }

  private int read(int gets, int scanned) throws IOException {
    for (int i = 0; i < gets; i++) {
      get(random.nextInt(rows));
      scan(scanned);
    }
    return gets;
  }

  private void get(int row) throws IOException {
    Get get = new Get(Bytes.toBytes(String.format("%08d", row))).addFamily(readFamily);
    if (table.get(get).isEmpty()) {
      throw new IllegalStateException("row " + row + " is not there");
    }
  }

  private void scan(int count) throws IOException {
    int left = count;
    while (left > 0) {
      if (scanner == null) {
        scanner = table.getScanner(new Scan().addFamily(scannedFamily).setCaching(count));
      }
      Result[] found = scanner.next(left);
      left -= found.length;
      if (found.length == 0) {
        scanner.close();
        scanner = null;
      }
    }
  }

  @Override
  public void close() {
    if (scanner != null) {
      scanner.close();
    }
  }
}
