package dev.sluice.hbase.modules;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.util.ConcurrentModificationException;
import java.util.Iterator;
import org.apache.hadoop.hbase.replication.regionserver.MetricsSource;
import org.junit.Test;

/**
 * What a replication source notes of tables while another of its threads looks at that. On a stock
 * build, which the system property says, the one that looks fails.
 */
public class ReplicationFiguresTest {
  private static final boolean MENDED = !Boolean.getBoolean("sluice.stock");

  @Test
  public void tablesCanComeWhileOthersAreLookedAt() {
    MetricsSource source = new MetricsSource("peer");
    note(source, "first", "second");
    Iterator<String> tables = source.getSingleSourceSourceByTable().keySet().iterator();
    tables.next();
    note(source, "third");
    if (MENDED) {
      tables.next();
    } else {
      assertThrows(ConcurrentModificationException.class, tables::next);
    }
    assertEquals(3, source.getSingleSourceSourceByTable().size());
  }

  private static void note(MetricsSource source, String... tables) {
    for (String table : tables) {
      source.setAgeOfLastShippedOpByTable(0, table);
    }
  }
}
