package dev.sluice.hbase.offload;

import dev.sluice.local.plugin.Store;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionProgress;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputControlUtil;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One compaction that another node is to do. */
final class RemoteCompaction {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteCompaction.class);

  private final HStore store;
  private final Configuration conf;
  private final CompactionRequestImpl request;
  private final String id = UUID.randomUUID().toString();
  private final JobFolder folder;

  RemoteCompaction(HStore store, Configuration conf, CompactionRequestImpl request) {
    this.store = store;
    this.conf = conf;
    this.request = request;
    folder = new JobFolder(store, id);
  }

  /**
   * Has it done.
   *
   * @return the files that the store commits, as upstream's compactor has them
   * @throws StaysLocalException if the store is to compact by itself
   * @throws InterruptedIOException if it is not to be done at all
   */
  List<org.apache.hadoop.fs.Path> run(Path socket, ThroughputController control)
      throws StaysLocalException, InterruptedIOException {
    boolean mayHaveBegun = true;
    try {
      List<org.apache.hadoop.fs.Path> files = take(ask(socket, control));
      folder.remove();
      mayHaveBegun = false;
      return files;
    } catch (StaysLocalException e) {
      mayHaveBegun = Reasons.mayHaveBegun(e.reason());
      throw e;
    } finally {
      if (mayHaveBegun) {
        folder.removeNowAndLater();
      }
    }
  }

  private OffloadOutcome ask(Path socket, ThroughputController control)
      throws StaysLocalException, InterruptedIOException {
    String name = ThroughputControlUtil.getNameForThrottling(store, "compaction");
    control.start(name);
    try {
      // One that is held is not begun elsewhere: it would be cancelled, as the agent is not asked.
      control.control(name, 0);
      try (AgentConnection agent = new AgentConnection(socket)) {
        String node = agent.run(job());
        LOG.info("{} compacts {} files of {} as {}", node, request.getFiles().size(), store, id);
        return OffloadOutcome.decode(follow(agent, control, name));
      }
    } catch (InterruptedException e) {
      throw (InterruptedIOException)
          new InterruptedIOException("the compaction was ended: " + e.getMessage()).initCause(e);
    } finally {
      control.finish(name);
    }
  }

  /** Waits for the end; what ends a compaction of this server ends it too. */
  private byte[] follow(AgentConnection agent, ThroughputController control, String name)
      throws StaysLocalException, InterruptedIOException, InterruptedException {
    byte[] result = null;
    while (result == null) {
      // It reads and writes nothing here, so that no rate applies to it.
      control.control(name, 0);
      if (!store.areWritesEnabled()) {
        throw new InterruptedIOException("the region of " + store + " closes");
      }
      result = agent.await();
    }
    return result;
  }

  private List<org.apache.hadoop.fs.Path> take(OffloadOutcome outcome)
      throws StaysLocalException, InterruptedIOException {
    try {
      List<org.apache.hadoop.fs.Path> outputs = new ArrayList<>();
      OutputCheck check = new OutputCheck(store, request);
      for (OffloadOutcome.OutputFile file : outcome.files()) {
        outputs.add(folder.output(file.name()));
        check.check(folder.output(file.name()), file);
      }
      if (outputs.isEmpty()) {
        throw new StaysLocalException(Reasons.INVALID, "there is no output");
      }
      List<org.apache.hadoop.fs.Path> moved = folder.moveOut(outputs);
      count(outcome);
      return moved;
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      throw new StaysLocalException(Reasons.INVALID, "an output cannot be used: " + e);
    }
  }

  /** As upstream's compactor does at the end. */
  private void count(OffloadOutcome outcome) {
    CompactionProgress progress = new CompactionProgress(outcome.cells());
    progress.currentCompactedKVs = outcome.cells();
    progress.totalCompactedSize = outcome.cellBytes();
    store.updateCompactedMetrics(request.isMajor(), progress);
  }

  private Map<String, Object> job() throws StaysLocalException {
    Map<String, Object> job = new LinkedHashMap<>();
    job.put("id", id);
    job.put("database_path", folder.regionLocation());
    job.put("data_paths", List.of());
    job.put("output_path", folder.location());
    job.put("hbase_version", HBaseVersion.inUse().toJson());
    job.put("plugin_version", Store.of("hbase", "", RemoteCompaction.class).pluginVersion());
    job.put("column_family", store.getColumnFamilyName());
    job.put("input_level", 0);
    job.put("output_level", request.isAllFiles() ? 1 : 0);
    job.put("input_bytes", request.getFiles().stream().mapToLong(RemoteCompaction::bytes).sum());
    job.put("input_files", request.getFiles().size());
    job.put("objects", List.of());
    job.put("input", Base64.getEncoder().encodeToString(input().encode()));
    return job;
  }

  private static long bytes(HStoreFile file) {
    return file.getReader() == null ? 0 : file.getReader().length();
  }

  private OffloadRequest input() {
    return new OffloadRequest(
        RegionInfo.toByteArray(store.getRegionInfo()),
        TableDescriptorBuilder.toByteArray(store.getHRegion().getTableDescriptor()),
        store.getColumnFamilyName(),
        request.getFiles().stream().map(file -> file.getPath().getName()).toList(),
        store.getCompactedFiles().stream().map(file -> file.getPath().getName()).toList(),
        store.getSmallestReadPoint(),
        request.isMajor(),
        request.isAllFiles(),
        EnvironmentEdgeManager.currentTime(),
        ShippedSettings.of(conf));
  }
}
