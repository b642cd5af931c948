package dev.sluice.hbase.modules;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;

/** A block cache that is named by its class, and has a view for each family. */
public class FamilyCacheTest {
  private static final String POLICY = "hfile.block.cache.policy";
  private static final byte[] OTHER = Bytes.toBytes("other");

  @ClassRule
  public static final Cluster CLUSTER =
      new Cluster(configuration -> configuration.set(POLICY, FamilyCache.class.getName()));

  @Test
  public void eachFamilyHasItsView() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("views", Cluster.FAMILY, OTHER);
    BlockCache first = cacheOf(region, Cluster.FAMILY);
    BlockCache second = cacheOf(region, OTHER);
    assertNotNull(first);
    assertSame(FamilyCache.VIEWS.get("views/a"), first);
    assertSame(FamilyCache.VIEWS.get("views/other"), second);
    assertNotSame(first, second);
    assertEquals(30, CLUSTER.rows("views"));
  }

  @Test
  public void aClassThatIsNoCacheIsRefused() {
    for (String policy : new String[] {"NoSuchPolicy", "java.lang.String"}) {
      Configuration configuration = configuration(policy);
      IllegalArgumentException refused =
          assertThrows(
              IllegalArgumentException.class,
              () -> BlockCacheFactory.createBlockCache(configuration));
      assertEquals("Unknown policy: " + policy, refused.getMessage());
    }
  }

  @Test
  public void upstreamsPoliciesAreWhatTheyWere() {
    BlockCache cache = BlockCacheFactory.createBlockCache(configuration("LRU"));
    assertEquals(LruBlockCache.class, cache.getClass());
    assertSame(cache, cache.forFamily(TableName.valueOf("any"), Cluster.FAMILY));
    cache.shutdown();
  }

  private static Configuration configuration(String policy) {
    Configuration configuration = HBaseConfiguration.create();
    configuration.set(POLICY, policy);
    return configuration;
  }

  private static BlockCache cacheOf(HRegion region, byte[] family) {
    return region.getStore(family).getCacheConfig().getBlockCache().orElse(null);
  }
}
