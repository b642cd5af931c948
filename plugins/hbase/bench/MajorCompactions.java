import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;

/**
 * Asks for major compactions. Each line of standard input is a table, and is answered by a line:
 *
 * <pre>
 * rehearse TABLE   compactions of the first half of its regions have been asked for
 * compact TABLE    those of the others have
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
    List<RegionInfo> regions = admin.getRegions(table);
    regions.sort(RegionInfo.COMPARATOR);
    int half = regions.size() / 2;
    switch (request[0]) {
      case "rehearse" -> compact(admin, regions.subList(0, half));
      case "compact" -> compact(admin, regions.subList(half, regions.size()));
      default -> throw new IllegalArgumentException("use rehearse or compact, not " + request[0]);
    }
    return request[0];
  }

  private static void compact(Admin admin, List<RegionInfo> regions) throws IOException {
    for (RegionInfo region : regions) {
      admin.majorCompactRegion(region.getEncodedNameAsBytes());
    }
  }
}
