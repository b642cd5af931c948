package dev.sluice.hbase.log;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALSplitUtil;
import org.apache.hadoop.hbase.wal.WALStreamReader;

/**
 * The files with edits of a region that the logs of a dead server were split into, one for each
 * file of a log. They are replayed in the order of their last sequence numbers.
 */
final class RecoveredEdits {
  /** The sequence numbers in a file. */
  record Range(long first, long last) {
    boolean contains(long number) {
      return first <= number && number <= last;
    }
  }

  private RecoveredEdits() {}

  /** What the files in a region's folder have. */
  static List<Range> in(Path folder, FileSystem files, Configuration conf) throws IOException {
    List<Range> found = new ArrayList<>();
    for (Path file : WALSplitUtil.getSplitEditFilesSorted(files, folder)) {
      // The name is the last number; upstream has had names with a sign.
      long last = Math.abs(Long.parseLong(file.getName()));
      found.add(new Range(first(file, files, conf), last));
    }
    return found;
  }

  private static long first(Path file, FileSystem files, Configuration conf) throws IOException {
    try (WALStreamReader reader = WALFactory.createStreamReader(files, file, conf)) {
      WAL.Entry entry = reader.next();
      return entry == null ? Long.MAX_VALUE : entry.getKey().getSequenceId();
    }
  }

  /**
   * The number up to which all edits have been replayed when the last was one of a given number.
   * Where only one file has numbers on both sides of that, it is the one that is replayed, and the
   * others are done or come later. Where more have, each but that one may still be to come.
   */
  static long replayed(List<Range> files, long number) {
    List<Range> around = files.stream().filter(file -> file.contains(number)).toList();
    if (around.size() < 2) {
      return number;
    }
    return around.stream().mapToLong(Range::first).min().getAsLong() - 1;
  }
}
