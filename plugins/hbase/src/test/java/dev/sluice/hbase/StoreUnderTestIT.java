package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Collections;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.junit.jupiter.api.Test;

/** Without this, tests of a patched store could run on upstream's, and be skipped in silence. */
class StoreUnderTestIT {
  private static final String JAR = System.getProperty("hbase.server.jar", "");

  @Test
  void theStoreIsTheOneThatWasGivenAndIsThereOnce() throws Exception {
    String name = HRegionServer.class.getName().replace('.', '/') + ".class";
    ClassLoader loader = HRegionServer.class.getClassLoader();
    assertEquals(1, Collections.list(loader.getResources(name)).size());
    if (!JAR.isEmpty()) {
      Path used =
          Path.of(HRegionServer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      assertEquals(Path.of(JAR).toRealPath(), used.toRealPath());
    }
  }

  @Test
  void aPatchedStoreHasItsHooks() {
    assertEquals(!JAR.isEmpty(), PluginCluster.isPatched());
  }
}
