package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.hbase.log.RecoveredEdits.Range;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecoveredEditsTest {
  @Test
  void filesThatFollowEachOtherAreReplayedUpToTheLastEdit() {
    List<Range> files = List.of(new Range(11, 20), new Range(21, 30));
    assertEquals(15, RecoveredEdits.replayed(files, 15));
    assertEquals(20, RecoveredEdits.replayed(files, 20));
    assertEquals(21, RecoveredEdits.replayed(files, 21));
    assertEquals(30, RecoveredEdits.replayed(files, 30));
  }

  @Test
  void whereFilesOverlapNothingOfThemIsReplayed() {
    List<Range> files = List.of(new Range(1, 10), new Range(11, 29), new Range(12, 30));
    assertEquals(11, RecoveredEdits.replayed(files, 11));
    assertEquals(10, RecoveredEdits.replayed(files, 15));
    assertEquals(10, RecoveredEdits.replayed(files, 29));
  }

  @Test
  void theLastEditOfAllIsReplayedLast() {
    List<Range> files = List.of(new Range(11, 29), new Range(12, 30));
    assertEquals(30, RecoveredEdits.replayed(files, 30));
  }

  @Test
  void whatIsInNoFileIsAsItIsSaid() {
    assertEquals(7, RecoveredEdits.replayed(List.of(), 7));
  }
}
