package dev.sluice.ycsb;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/** A store that takes no time, for tests of the load itself. */
final class MemoryBinding implements StoreBinding {
  private final String name;
  private final Set<String> keys = ConcurrentHashMap.newKeySet();

  MemoryBinding(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String summary() {
    return "a set of keys";
  }

  @Override
  public DB newDb() {
    return new Client();
  }

  @Override
  public List<Setting> settings() {
    return List.of(Setting.secret(name + ".password", "not to be written anywhere"));
  }

  @Override
  public List<PrepareStep> prepareSteps() {
    return List.of();
  }

  private final class Client extends DB {
    @Override
    public Status read(
        String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
      return keys.contains(key) ? Status.OK : Status.NOT_FOUND;
    }

    @Override
    public Status scan(
        String table,
        String startkey,
        int recordcount,
        Set<String> fields,
        Vector<HashMap<String, ByteIterator>> result) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      return read(table, key, null, null);
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      return keys.add(key) ? Status.OK : Status.ERROR;
    }

    @Override
    public Status delete(String table, String key) {
      return keys.remove(key) ? Status.OK : Status.NOT_FOUND;
    }
  }
}
