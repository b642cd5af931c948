package dev.sluice.ycsb.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * When a database is at rest, told by what RocksDB answers while it works between two questions.
 */
class DatabaseStepsTest {
  private static final String DUE = "rocksdb.compaction-pending";
  private static final String RUNNING = "rocksdb.num-running-compactions";

  /** More questions than two looks ask. */
  private static final int LONG = 12;

  private int asked;

  /** One letter per question: a compaction is due, runs, or there is none. */
  private long answer(String states, String property) {
    char state = asked < states.length() ? states.charAt(asked) : '-';
    asked++;
    return switch (property) {
      case DUE -> state == 'd' ? 1 : 0;
      case RUNNING -> state == 'r' ? 1 : 0;
      default -> 0;
    };
  }

  private void assertSeesTheEndOf(String states) throws Exception {
    DatabaseSteps.awaitRest(property -> answer(states, property), true);
    assertTrue(asked > states.length(), asked + " questions of " + states);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void compactionMayBeginBetweenAnyTwoQuestions(int questions) throws Exception {
    assertSeesTheEndOf("d".repeat(questions) + "r".repeat(LONG));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void compactionMayEndAndMakeTheNextDueBetweenAnyTwoQuestions(int questions) throws Exception {
    assertSeesTheEndOf("r".repeat(questions) + "dd" + "r".repeat(LONG));
  }

  @Test
  void whatIsDueAndNeverBeginsIsNotAskedFor() throws Exception {
    List<String> properties = new ArrayList<>();
    DatabaseSteps.awaitRest(
        property -> {
          properties.add(property);
          return property.equals(DUE) ? 1 : 0;
        },
        false);
    assertEquals(-1, properties.indexOf(DUE));
  }
}
