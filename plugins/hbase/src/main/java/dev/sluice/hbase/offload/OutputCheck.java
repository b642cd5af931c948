package dev.sluice.hbase.offload;

import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;

/**
 * Whether a file that another node has written is one that this compaction could have come to: what
 * upstream relies on after a compaction is looked at, before the file is the store's.
 */
final class OutputCheck {
  private final HStore store;
  private final CompactionRequestImpl request;
  private final ColumnFamilyDescriptor family;
  private final Comparator<Cell> comparator;

  OutputCheck(HStore store, CompactionRequestImpl request) {
    this.store = store;
    this.request = request;
    family = store.getColumnFamilyDescriptor();
    comparator = store.getComparator();
  }

  /** Opens a file, and throws unless it is as it has to be. */
  void check(Path path, OffloadOutcome.OutputFile said) throws IOException, StaysLocalException {
    HStoreFile file = store.getStoreEngine().createStoreFileAndReader(path);
    try {
      checkNumbers(file, said);
      checkMarks(file);
      checkForm(file.getReader());
      checkKeys(file);
    } finally {
      file.closeStoreFile(true);
    }
  }

  private void checkNumbers(HStoreFile file, OffloadOutcome.OutputFile said)
      throws StaysLocalException {
    StoreFileReader reader = file.getReader();
    expect(reader.length() == said.bytes(), file, "has another length than was said");
    expect(reader.getEntries() == said.entries(), file, "has not as many cells as was said");
    long read = inputs().stream().mapToLong(each -> each.getReader().getEntries()).sum();
    expect(reader.getEntries() <= read, file, "has more cells than were read");
  }

  private void checkMarks(HStoreFile file) throws IOException, StaysLocalException {
    long sequence = inputs().stream().mapToLong(HStoreFile::getMaxSequenceId).max().orElseThrow();
    expect(file.getMaxSequenceId() == sequence, file, "has another sequence id");
    expect(
        file.isMajorCompactionResult() == request.isAllFiles(),
        file,
        "says something else than that all files were merged, or not");
    Set<String> merged = new HashSet<>();
    inputs().forEach(input -> merged.add(input.getPath().getName()));
    byte[] event = file.getMetadataValue(HStoreFile.COMPACTION_EVENT_KEY);
    expect(
        event != null && ProtobufUtil.toCompactedStoreFiles(event).containsAll(merged),
        file,
        "does not say of which files it is made");
  }

  private void checkForm(StoreFileReader reader) throws StaysLocalException {
    HFile.Reader file = reader.getHFileReader();
    Compression.Algorithm compression =
        request.isMajor()
            ? family.getMajorCompactionCompressionType()
            : family.getMinorCompactionCompressionType();
    expect(file.getFileContext().getCompression() == compression, file, "is compressed otherwise");
    expect(
        file.getDataBlockEncoding() == family.getDataBlockEncoding(), file, "is encoded otherwise");
    expect(
        reader.getEntries() == 0 || reader.getBloomFilterType() == family.getBloomFilterType(),
        file,
        "has another Bloom filter");
  }

  private void checkKeys(HStoreFile file) throws StaysLocalException {
    if (file.getFirstKey().isEmpty() || file.getLastKey().isEmpty()) {
      expect(file.getReader().getEntries() == 0, file, "has cells, and no keys");
      return;
    }
    Cell first = file.getFirstKey().get();
    Cell last = file.getLastKey().get();
    RegionInfo region = store.getRegionInfo();
    expect(
        region.containsRow(CellUtil.cloneRow(first)) && region.containsRow(CellUtil.cloneRow(last)),
        file,
        "has rows that are not of the region");
    boolean isWithin =
        inputs().stream()
                .flatMap(input -> input.getFirstKey().stream())
                .anyMatch(least -> comparator.compare(least, first) <= 0)
            && inputs().stream()
                .flatMap(input -> input.getLastKey().stream())
                .anyMatch(most -> comparator.compare(most, last) >= 0);
    expect(isWithin, file, "has keys beyond those that were read");
  }

  private Collection<HStoreFile> inputs() {
    return request.getFiles();
  }

  private static void expect(boolean isSo, Object file, String problem) throws StaysLocalException {
    if (!isSo) {
      throw new StaysLocalException(Reasons.INVALID, file + " " + problem);
    }
  }
}
