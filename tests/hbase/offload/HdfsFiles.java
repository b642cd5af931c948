import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;

/**
 * Looks at HDFS, and takes room away from a folder of it, in a process that is there already: the
 * start of a Java takes longer than a worker may stand still. Each line of standard input has words
 * with tabs between them, "list GLOB" or "quota FOLDER BYTES", and is answered by a line: "done" and
 * what was found, or "failed" and why, with tabs between as well.
 */
public final class HdfsFiles {
  private final DistributedFileSystem fileSystem;

  private HdfsFiles(DistributedFileSystem fileSystem) {
    this.fileSystem = fileSystem;
  }

  /** Answers until the end of standard input. */
  public static void main(String[] arguments) throws IOException {
    Configuration conf = new HdfsConfiguration();
    HdfsFiles files = new HdfsFiles((DistributedFileSystem) FileSystem.get(conf));
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      System.out.println(String.join("\t", files.answer(line.split("\t"))));
      System.out.flush();
    }
  }

  private List<String> answer(String... words) {
    List<String> answer = new ArrayList<>(List.of("done"));
    try {
      switch (words[0]) {
        case "list" -> answer.addAll(list(words[1]));
        case "quota" -> limit(words[1], Long.parseLong(words[2]));
        default -> throw new IOException("there is no request " + words[0]);
      }
    } catch (IOException e) {
      return List.of("failed", e.toString().replaceAll("\\s", " "));
    }
    return answer;
  }

  private List<String> list(String glob) throws IOException {
    FileStatus[] found = fileSystem.globStatus(new Path(glob));
    List<String> paths = new ArrayList<>();
    for (FileStatus each : found == null ? new FileStatus[0] : found) {
      paths.add(each.getPath().toUri().getPath());
    }
    return paths;
  }

  private void limit(String folder, long bytes) throws IOException {
    fileSystem.setQuota(new Path(folder), HdfsConstants.QUOTA_DONT_SET, bytes);
  }
}
