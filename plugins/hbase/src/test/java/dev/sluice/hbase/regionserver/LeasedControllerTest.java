package dev.sluice.hbase.regionserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configurable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ChoreService;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store that cannot load a part of the plug-in has its own controllers, and starts. */
class LeasedControllerTest {
  private static final String COMPACTIONS =
      "dev.sluice.hbase.compaction.LeasedCompactionController";
  private static final String FLUSHES = "dev.sluice.hbase.flush.LeasedFlushController";
  private static final String TEST = LeasedControllerTest.class.getName();

  /** A controller of the store's own that counts what it is asked. */
  public static final class Counting implements ThroughputController {
    static final AtomicInteger CALLS = new AtomicInteger();
    static final AtomicInteger STOPS = new AtomicInteger();

    @Override
    public void setup(RegionServerServices server) {
      CALLS.incrementAndGet();
    }

    @Override
    public void start(String name) {
      CALLS.incrementAndGet();
    }

    @Override
    public long control(String name, long size) {
      CALLS.incrementAndGet();
      return size;
    }

    @Override
    public void finish(String name) {
      CALLS.incrementAndGet();
    }

    @Override
    public void stop(String why) {
      STOPS.incrementAndGet();
    }

    @Override
    public boolean isStopped() {
      return STOPS.get() > 0;
    }
  }

  /** Loads the plug-in anew, all but a class, as if the store had not what that class needs. */
  private static final class Lacking extends ClassLoader {
    private final String lacking;

    Lacking(String lacking) {
      super(LeasedControllerTest.class.getClassLoader());
      this.lacking = lacking;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("dev.sluice.") || name.startsWith(TEST)) {
        return super.loadClass(name, resolve);
      }
      if (name.equals(lacking)) {
        throw new ClassNotFoundException(name);
      }
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }

    private Class<?> define(String name) throws ClassNotFoundException {
      try (InputStream file = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] code = file.readAllBytes();
        return defineClass(name, code, 0, code.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  private final Configuration conf = new Configuration(false);
  private final ChoreService chores = mock(ChoreService.class);
  private final RegionServerServices server = mock(RegionServerServices.class);

  @BeforeEach
  void prepare() {
    Counting.CALLS.set(0);
    Counting.STOPS.set(0);
    when(server.getConfiguration()).thenReturn(conf);
    when(server.getChoreService()).thenReturn(chores);
  }

  @AfterEach
  void stopPlugin() {
    when(server.isStopped()).thenReturn(true);
  }

  private ThroughputController controller(String type, String lacking) throws Exception {
    ThroughputController controller =
        (ThroughputController)
            new Lacking(lacking).loadClass(type).getDeclaredConstructor().newInstance();
    ((Configurable) controller).setConf(conf);
    controller.setup(server);
    return controller;
  }

  private void assertAsksUpstream(ThroughputController controller) throws Exception {
    controller.start("name");
    assertEquals(7, controller.control("name", 7));
    controller.finish("name");
    assertEquals(4, Counting.CALLS.get());
    assertFalse(controller.isStopped());
    controller.stop("the test is over");
    assertTrue(controller.isStopped());
    assertEquals(1, Counting.STOPS.get());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev.sluice.hbase.compaction.CompactionPart",
        "dev.sluice.hbase.compaction.CompactionQueue",
        "dev.sluice.hbase.pace.Throttle",
        "dev.sluice.hbase.regionserver.RegionServerPlugin"
      })
  void compactionsGoOnWithoutThePart(String lacking) throws Exception {
    conf.set("sluice.compaction.stock.controller", Counting.class.getName());
    assertAsksUpstream(controller(COMPACTIONS, lacking));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "dev.sluice.hbase.flush.FlushPart",
        "dev.sluice.hbase.compaction.CompactionPart",
        "dev.sluice.hbase.pace.Throttle"
      })
  void flushesGoOnWithoutThePart(String lacking) throws Exception {
    conf.set("sluice.flush.stock.controller", Counting.class.getName());
    assertAsksUpstream(controller(FLUSHES, lacking));
  }

  @Test
  void withoutAnotherUpstreamsStandardControllerIsUsed() throws Exception {
    ThroughputController controller =
        controller(COMPACTIONS, "dev.sluice.hbase.compaction.CompactionPart");
    verify(chores).scheduleChore(any());
    controller.stop("the test is over");
  }
}
