package dev.sluice.cassandra.streaming;

import dev.sluice.cassandra.OrderedRate;
import dev.sluice.cassandra.OverriddenValue;
import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.metrics.StreamingMetrics;
import org.apache.cassandra.streaming.StreamManager;

/**
 * What the node sends to others when one joins, leaves or is repaired. Whole files and parts of
 * files have a limiter each, and an order sets both. The stricter limits between datacenters stay.
 */
public final class StreamingPart implements TaskKind {
  static final String KIND = "streaming";

  private final LeaseStore leases;
  private final OverriddenValue<Long> partRate =
      new OverriddenValue<>(
          () -> (long) DatabaseDescriptor.getStreamThroughputOutboundBytesPerSec(),
          StreamingPart::setPartRate);
  private final OverriddenValue<Long> fileRate =
      new OverriddenValue<>(
          () -> (long) DatabaseDescriptor.getEntireSSTableStreamThroughputOutboundBytesPerSec(),
          StreamingPart::setFileRate);

  /** Makes it for a node that has started. */
  public StreamingPart(LeaseStore leases) {
    this.leases = leases;
  }

  private static void setPartRate(long bytesPerSecond) {
    DatabaseDescriptor.getRawConfig().stream_throughput_outbound =
        OrderedRate.configured(bytesPerSecond);
    StreamManager.StreamRateLimiter.updateThroughput();
  }

  private static void setFileRate(long bytesPerSecond) {
    DatabaseDescriptor.getRawConfig().entire_sstable_stream_throughput_outbound =
        OrderedRate.configured(bytesPerSecond);
    StreamManager.StreamRateLimiter.updateEntireSSTableThroughput();
  }

  /** Brings the limiters to what is ordered now. */
  public void tick() {
    Optional<Long> ordered =
        leases.find(KIND, Aspect.PACE, Scope.SERVER).map(Lease::setting).flatMap(OrderedRate::of);
    partRate.follow(ordered);
    fileRate.follow(ordered);
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public List<SettingName> settings() {
    return List.of(SettingName.RATE_BYTES_PER_SECOND, SettingName.FULL, SettingName.STOCK);
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    if (!scope.equals(Scope.SERVER)) {
      throw Refusal.invalid(
          setting.name().text() + " is of all that the node sends", "Give it with the scope \"\".");
    }
    OrderedRate.check(setting);
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    snapshot.figure("streaming_own_part_rate_bytes_per_second", partRate.own());
    snapshot.figure("streaming_own_file_rate_bytes_per_second", fileRate.own());
    snapshot.figure("streaming_sent_bytes_total", StreamingMetrics.totalOutgoingBytes.getCount());
    snapshot.figure(
        "streaming_received_bytes_total", StreamingMetrics.totalIncomingBytes.getCount());
  }
}
