import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/**
 * Asks for major compactions. Each line of standard input is a table, and is answered by a line:
 *
 * <pre>
 * find TABLE       its regions are found, so that what is asked for next is asked for at once
 * compact TABLE    the compaction has been asked for
 * </pre>
 */
public final class MajorCompactions {
  private MajorCompactions() {}

  /** Answers requests until the end of standard input. */
  public static void main(String[] arguments) throws IOException {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Admin admin = connection.getAdmin()) {
      BufferedReader requests =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = requests.readLine(); line != null; line = requests.readLine()) {
        System.out.println(answer(admin, line.split(" ")));
        System.out.flush();
      }
    }
  }

  private static String answer(Admin admin, String[] request) throws IOException {
    TableName table = TableName.valueOf(request[1]);
    switch (request[0]) {
      case "find" -> admin.getCompactionState(table);
      case "compact" -> admin.majorCompact(table);
      default -> throw new IllegalArgumentException("use find or compact, not " + request[0]);
    }
    return request[0];
  }
}
