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
 * Asks for major compactions. Each line of standard input is a table, and is answered by its name
 * when compactions of all its regions have been asked for.
 */
public final class MajorCompactions {
  private MajorCompactions() {}

  /** Answers requests until the end of standard input. */
  public static void main(String[] arguments) throws IOException {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Admin admin = connection.getAdmin()) {
      BufferedReader requests =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String table = requests.readLine(); table != null; table = requests.readLine()) {
        admin.majorCompact(TableName.valueOf(table));
        System.out.println(table);
        System.out.flush();
      }
    }
  }
}
