package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseConflictException;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Leases come and end while regions move away, with or without eviction of their blocks, and come
 * back: reservations are those of the leases in force, and the end of a lease drops no block.
 */
class LeaseExpiryPropertyTest {
  private static final List<CacheScope> FAMILIES = List.of(Caches.HOT, Caches.COLD);
  private static final double LONGEST_SECONDS = 10;

  /** A server with its cache, leases and time. */
  private static final class Server {
    private final FakeClock clock = new FakeClock();
    private final LeaseStore leases = new LeaseStore(clock);
    private final FamilyBlockCache cache = Caches.cache();
    private final CacheReservations reservations = new CacheReservations();

    Server() {
      reservations.attach(cache, leases, Runnable::run, () -> false, Set::of);
    }

    void order(CacheScope scope, long bytes, double seconds) {
      Scope of = new Scope(scope.table().getNameAsString(), scope.family());
      Setting setting = Setting.of(SettingName.RESERVED_BYTES, bytes);
      try {
        reservations.checkOrder(of, setting);
        leases.set(CacheReservations.KIND, of, setting, "policy/test", seconds, false);
      } catch (Refusal refused) {
        assertEquals(-32003, refused.number());
      } catch (LeaseConflictException e) {
        throw new AssertionError("there is one owner alone", e);
      }
    }

    void pass(double seconds) {
      Caches.finishEviction(cache);
      long blocks = cache.getBlockCount();
      clock.advanceSeconds(seconds);
      leases.sweep();
      Caches.finishEviction(cache);
      assertEquals(blocks, cache.getBlockCount(), "the end of a lease has dropped blocks");
    }

    void move(CacheScope family, boolean evictOnClose) {
      if (evictOnClose) {
        Caches.view(cache, family).evictBlocksByHfileName(Caches.key(family, 0).getHfileName());
      }
      Caches.view(cache, family);
    }

    void check() {
      Set<CacheScope> inForce =
          leases.all(CacheReservations.KIND).stream()
              .filter(lease -> lease.setting().number() > 0)
              .map(Server::scopeOf)
              .collect(Collectors.toSet());
      assertEquals(inForce, cache.reservations().keySet());
      assertEquals(1 + inForce.size(), cache.parts().size());
      Caches.finishEviction(cache);
      Caches.checkFigures(cache);
    }

    private static CacheScope scopeOf(Lease lease) {
      return FAMILIES.stream()
          .filter(each -> each.family().equals(lease.scope().family()))
          .findFirst()
          .orElse(CacheScope.ofTable(Caches.TABLE));
    }
  }

  /** Something that happens to a server. */
  private interface Event {
    void on(Server server);
  }

  @Provide
  Arbitrary<List<Event>> events() {
    Arbitrary<CacheScope> families = Arbitraries.of(FAMILIES);
    Arbitrary<CacheScope> scopes =
        Arbitraries.of(Caches.HOT, Caches.COLD, CacheScope.ofTable(Caches.TABLE));
    Arbitrary<Event> reads =
        Combinators.combine(families, Arbitraries.integers().between(1, 1500))
            .as((family, count) -> server -> read(server, family, count));
    Arbitrary<Event> orders =
        Combinators.combine(
                scopes,
                Arbitraries.longs().between(0, 20 * Caches.MIB),
                Arbitraries.doubles().between(0.1, LONGEST_SECONDS))
            .as((scope, bytes, seconds) -> server -> server.order(scope, bytes, seconds));
    Arbitrary<Event> passes =
        Arbitraries.doubles()
            .between(0, LONGEST_SECONDS)
            .map(seconds -> server -> server.pass(seconds));
    Arbitrary<Event> moves =
        Combinators.combine(families, Arbitraries.of(true, false))
            .as((family, evicts) -> server -> server.move(family, evicts));
    return Arbitraries.oneOf(reads, orders, passes, moves).list().ofMinSize(1).ofMaxSize(25);
  }

  private static void read(Server server, CacheScope family, int count) {
    for (int block = 0; block < count; block++) {
      Caches.read(server.cache, family, block);
    }
  }

  @Property(tries = 60)
  void reservationsFollowLeasesAndEndWithThem(@ForAll("events") List<Event> events) {
    Server server = new Server();
    try {
      for (Event event : events) {
        event.on(server);
        server.check();
      }
      server.pass(LONGEST_SECONDS + 1);
      server.check();
      assertTrue(server.cache.reservations().isEmpty());
      assertEquals(List.of(Caches.TOTAL_BYTES), Caches.partSizes(server.cache));
    } finally {
      server.cache.shutdown();
    }
  }
}
