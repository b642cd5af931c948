package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class LogMoverTest {
  private static final Optional<Tier> FAST = Optional.of(Tier.FAST);
  private static final Optional<Tier> SLOW = Optional.of(Tier.SLOW);

  private final FakeClock clock = new FakeClock();
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private final List<Optional<Tier>> moves = new ArrayList<>();
  private Optional<Tier> ordered = Optional.empty();
  private boolean isBroken;
  private final LogMover mover = new LogMover(() -> ordered, this::moveTo, waiting::add, clock);

  private void moveTo(Optional<Tier> tier) throws IOException {
    if (isBroken) {
      throw new IOException("the NameNode does not answer");
    }
    moves.add(tier);
  }

  /** Looks, and does what that begins. */
  private void look() {
    mover.look();
    while (!waiting.isEmpty()) {
      waiting.remove().run();
    }
  }

  @Test
  void withoutAnOrderTheLogsAreLeftAlone() {
    look();
    mover.setStale();
    look();
    assertEquals(List.of(), moves);
  }

  @Test
  void anOrderMovesThemOnce() {
    ordered = SLOW;
    look();
    look();
    assertEquals(List.of(SLOW), moves);
  }

  @Test
  void theEndOfTheOrderMovesThemBack() {
    ordered = SLOW;
    look();
    ordered = Optional.empty();
    look();
    assertEquals(List.of(SLOW, Optional.empty()), moves);
    assertEquals(2, mover.moves());
  }

  @Test
  void anOrderThatComesMeanwhileIsNext() {
    ordered = SLOW;
    mover.look();
    ordered = FAST;
    mover.look();
    assertEquals(1, waiting.size());
    look();
    assertEquals(List.of(SLOW, FAST), moves);
  }

  @Test
  void whatMovesThemDuringAMoveIsUndone() {
    ordered = SLOW;
    mover.look();
    mover.setStale();
    look();
    assertEquals(List.of(SLOW, SLOW), moves);
  }

  @Test
  void whatFailsIsTriedAgainAfterASecond() {
    ordered = SLOW;
    isBroken = true;
    look();
    isBroken = false;
    look();
    assertEquals(List.of(), moves);
    clock.advanceSeconds(1);
    look();
    assertEquals(List.of(SLOW), moves);
    assertEquals(1, mover.failures());
  }

  @Test
  void aMoveBackThatFailedIsTriedAgainToo() {
    ordered = SLOW;
    look();
    ordered = Optional.empty();
    isBroken = true;
    look();
    isBroken = false;
    clock.advanceSeconds(1);
    look();
    assertEquals(List.of(SLOW, Optional.empty()), moves);
  }

  @Test
  void logsThatSomethingElseHasMovedAreMovedAgain() {
    ordered = FAST;
    look();
    mover.setStale();
    look();
    assertEquals(List.of(FAST, FAST), moves);
  }

  @Test
  void aServerThatEndsMovesNothing() {
    ordered = SLOW;
    mover.close();
    look();
    assertEquals(List.of(), moves);
  }
}
