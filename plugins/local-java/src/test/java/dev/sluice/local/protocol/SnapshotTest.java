package dev.sluice.local.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SnapshotTest {
  /** As many as docs/local-protocol.md allows: of one with more an agent takes nothing. */
  @Test
  void theFirstThousandFiguresAreKept() {
    SnapshotMembers members =
        SnapshotMembers.of(
            snapshot -> {
              snapshot.figure("first_bytes", 1);
              IntStream.range(0, 1000).forEach(i -> snapshot.figure("family_" + i + "_bytes", i));
              snapshot.figure("first_bytes", 2);
            });
    assertEquals(1000, members.figures().size());
    assertEquals(2, members.figure("first_bytes"));
    assertEquals(998, members.figure("family_998_bytes"));
  }
}
