package dev.sluice.local.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.lease.FakeClock;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class GuardedTest {
  private final FakeClock clock = new FakeClock();
  private final Repetitions repetitions = new Repetitions(clock);
  private final List<String> errors = new ArrayList<>();
  private final Logger log =
      (Logger)
          Proxy.newProxyInstance(
              Logger.class.getClassLoader(),
              new Class<?>[] {Logger.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("error")) {
                  errors.add(arguments[1] + ": " + arguments[2]);
                }
                return null;
              });

  private void fail(String part, RuntimeException fault) {
    Guarded.call(
        part,
        () -> {
          throw fault;
        },
        repetitions,
        log);
  }

  /** A ticker has it fail ten times a second, for as long as the server runs. */
  @Test
  void whatFailsAtEachCallIsToldOnceAMinute() {
    for (int i = 0; i < 601; i++) {
      fail("caches", new IllegalStateException("a fault"));
      clock.advanceSeconds(0.1);
    }
    assertEquals(2, errors.size());
    assertEquals("caches: java.lang.IllegalStateException: a fault", errors.get(0));
  }

  @Test
  void anotherPartOrFaultIsToldAtOnce() {
    fail("caches", new IllegalStateException("a fault"));
    fail("streams", new IllegalStateException("a fault"));
    fail("caches", new IllegalArgumentException("another"));
    assertEquals(3, errors.size());
  }
}
