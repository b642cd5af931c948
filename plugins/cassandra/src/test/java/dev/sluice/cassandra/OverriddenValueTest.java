package dev.sluice.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** A value of the store is overridden for some time, and put back. */
class OverriddenValueTest {
  private int value = 64;
  private final List<Integer> settings = new ArrayList<>();
  private final OverriddenValue<Integer> overridden = new OverriddenValue<>(() -> value, this::set);

  private void set(int wanted) {
    settings.add(wanted);
    value = wanted;
  }

  @Test
  void withoutAnOrderNothingIsSet() {
    overridden.follow(Optional.empty());
    assertEquals(List.of(), settings);
    assertEquals(64, overridden.own());
  }

  @Test
  void anOrderIsSetOnceAndPutBackOnce() {
    overridden.follow(Optional.of(3));
    overridden.follow(Optional.of(3));
    assertEquals(64, overridden.own());
    overridden.follow(Optional.empty());
    overridden.follow(Optional.empty());
    assertEquals(List.of(3, 64), settings);
  }

  @Test
  void anotherOrderDoesNotChangeWhatIsPutBack() {
    overridden.follow(Optional.of(3));
    overridden.follow(Optional.of(5));
    assertEquals(64, overridden.own());
    overridden.follow(Optional.empty());
    assertEquals(64, value);
  }

  @Test
  void whatSomebodySetsMeanwhileIsPutBackAndDoesNotWin() {
    overridden.follow(Optional.of(3));
    value = 7;
    assertEquals(7, overridden.own());
    overridden.follow(Optional.of(3));
    assertEquals(3, value);
    overridden.follow(Optional.empty());
    assertEquals(7, value);
  }

  @Test
  void whatSomebodySetsAsTheOrderEndsIsKept() {
    overridden.follow(Optional.of(3));
    value = 7;
    overridden.follow(Optional.empty());
    assertEquals(7, value);
  }

  @Test
  void aStoreThatRoundsIsNotSetAgainAndAgain() {
    OverriddenValue<Integer> rounding =
        new OverriddenValue<>(() -> value, wanted -> set(wanted / 10 * 10));
    rounding.follow(Optional.of(35));
    rounding.follow(Optional.empty());
    assertEquals(60, value, "64, as the store rounds it");
    assertEquals(List.of(30, 60), settings);
  }

  /** 0 is the end of an order, up to 9 an order, and from 10 on what somebody else sets. */
  @Property
  void inTheEndTheStoreHasWhatWasSetLastByOthers(
      @ForAll @Size(max = 20) List<@IntRange(min = 0, max = 19) Integer> events) {
    value = 64;
    int own = 64;
    for (int event : events) {
      if (event >= 10) {
        value = event;
        own = event;
      } else {
        overridden.follow(event == 0 ? Optional.empty() : Optional.of(event));
      }
    }
    overridden.follow(Optional.empty());
    assertEquals(own, value);
  }
}
