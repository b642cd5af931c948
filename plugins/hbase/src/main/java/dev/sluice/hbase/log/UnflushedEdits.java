package dev.sluice.hbase.log;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKeyImpl;

/**
 * The lowest sequence numbers of edits that are in memory alone, by region and family. A log knows
 * of an edit when it has written it: of two logs, one can know of an edit while the other has yet
 * to write an earlier one. So edits are noted here before a log gets them. A number may be lower
 * than the edit's, which has more replayed than need be, and never higher, which loses edits.
 */
final class UnflushedEdits {
  // By the array itself, of which a region that is open has one, as in upstream's logs.
  private final ConcurrentMap<byte[], Region> regions = new ConcurrentHashMap<>();

  /** To be called before a log gets an edit, which has its number only from there. */
  void note(WALKeyImpl key, WALEdit edits) {
    Region region = of(key.getEncodedRegionName());
    Set<byte[]> families = edits.getFamilies();
    if (families != null) {
      families.forEach(family -> region.note(family, key));
    } else {
      edits.getCells().forEach(cell -> region.note(CellUtil.cloneFamily(cell), key));
    }
  }

  private Region of(byte[] region) {
    return regions.computeIfAbsent(region, each -> new Region());
  }

  /** The number of a family, or {@link HConstants#NO_SEQNUM}. */
  long lowest(byte[] region, byte[] family) {
    Region known = regions.get(region);
    return known == null ? HConstants.NO_SEQNUM : known.lowest(family);
  }

  /** The number of all families, or {@link HConstants#NO_SEQNUM}. */
  long lowest(byte[] region) {
    Region known = regions.get(region);
    return known == null ? HConstants.NO_SEQNUM : known.lowest();
  }

  /**
   * Begins a flush of families, while the region takes no edits. Gives the lowest number of what is
   * not flushed: of other families, or of those with a number that they keep.
   */
  long startFlush(byte[] region, Map<byte[], Long> families) {
    return of(region).startFlush(families);
  }

  void completeFlush(byte[] region) {
    of(region).completeFlush();
  }

  void abortFlush(byte[] region) {
    of(region).abortFlush();
  }

  /** Forgets a region that is closed, and gives the families that it has had edits of. */
  Set<byte[]> forget(byte[] region) {
    Region known = regions.remove(region);
    return known == null ? Set.of() : known.families;
  }

  /** The numbers of a region. */
  private static final class Region {
    private final ConcurrentMap<byte[], Long> unflushed =
        new ConcurrentSkipListMap<>(Bytes.BYTES_COMPARATOR);
    private final Map<byte[], Long> flushing = new TreeMap<>(Bytes.BYTES_COMPARATOR);
    // Also those that have nothing unflushed.
    private final Set<byte[]> families = new ConcurrentSkipListSet<>(Bytes.BYTES_COMPARATOR);

    /** Not synchronized, as it is called for each edit: no flush begins meanwhile. */
    void note(byte[] family, WALKeyImpl key) {
      if (unflushed.containsKey(family) || Bytes.equals(family, WALEdit.METAFAMILY)) {
        return;
      }
      families.add(family);
      // The edit's number will be above those that have been given, of which this is the highest
      // that everybody sees.
      unflushed.putIfAbsent(family, key.getMvcc().getReadPoint() + 1);
    }

    synchronized long lowest(byte[] family) {
      Long number = flushing.getOrDefault(family, unflushed.get(family));
      return number == null ? HConstants.NO_SEQNUM : number;
    }

    synchronized long lowest() {
      return lowest(Stream.concat(flushing.values().stream(), unflushed.values().stream()));
    }

    private static long lowest(Stream<Long> numbers) {
      return numbers.min(Long::compare).orElse(HConstants.NO_SEQNUM);
    }

    synchronized long startFlush(Map<byte[], Long> families) {
      families.forEach(
          (family, left) -> {
            Long before =
                left == HConstants.NO_SEQNUM
                    ? unflushed.remove(family)
                    : unflushed.replace(family, left);
            if (before != null) {
              flushing.merge(family, before, Math::min);
            }
          });
      return lowest(unflushed.values().stream());
    }

    synchronized void completeFlush() {
      flushing.clear();
    }

    synchronized void abortFlush() {
      flushing.forEach((family, number) -> unflushed.merge(family, number, Math::min));
      flushing.clear();
    }
  }
}
