package dev.sluice.hbase.modules;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.util.Bytes;

/** A cache with a view for each family; all views are of the same blocks. */
public final class FamilyCache extends LruBlockCache {
  static final Map<String, BlockCache> VIEWS = new ConcurrentHashMap<>();

  public FamilyCache(long maximumBytes, long blockBytes, Configuration configuration) {
    super(maximumBytes, blockBytes, configuration);
  }

  @Override
  public BlockCache forFamily(TableName table, byte[] family) {
    String name = table.getNameAsString() + "/" + Bytes.toString(family);
    return VIEWS.computeIfAbsent(name, unused -> view());
  }

  private BlockCache view() {
    Class<?>[] types = {BlockCache.class};
    return (BlockCache)
        Proxy.newProxyInstance(
            FamilyCache.class.getClassLoader(),
            types,
            (proxy, method, arguments) -> method.invoke(this, arguments));
  }
}
