package dev.sluice.hbase.pace;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.SettingName;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * What bounds the operations of one kind. An operation obeys the leases on its family, its table
 * and the server together: the narrowest says how fast it may go, the wider ones bound it. Without
 * any it goes at the store's own pace. Not safe for threads by itself.
 */
final class PaceControl {
  private final String kind;
  private final LeaseStore leases;
  private final Supplier<StockPace> stock;
  private final IntSupplier operationCount;
  private final Map<Scope, TokenBucket> buckets = new HashMap<>();

  PaceControl(
      String kind, LeaseStore leases, Supplier<StockPace> stock, IntSupplier operationCount) {
    this.kind = kind;
    this.leases = leases;
    this.stock = stock;
    this.operationCount = operationCount;
  }

  /** Charges what an operation has done since the last time. */
  void charge(Operation operation, long nowNanos) {
    long bytes = operation.charge(nowNanos);
    List<Lease> orders = ordersFor(operation);
    boolean obeysStock = orders.isEmpty();
    for (Lease order : orders) {
      if (order.setting().name() == SettingName.RATE_BYTES_PER_SECOND) {
        bucket(order, nowNanos).take(bytes);
      }
      obeysStock |= order.setting().name() == SettingName.STOCK;
    }
    if (obeysStock) {
      stock.get().charge(operation, operationCount.getAsInt(), nowNanos);
    } else {
      StockPace.reset(operation, nowNanos);
    }
  }

  /** Charges it to no rate: others would have to make up for what goes on at full speed. */
  void pass(Operation operation, long nowNanos) {
    operation.charge(nowNanos);
    StockPace.reset(operation, nowNanos);
  }

  /** How long it has to wait now. It is to ask again after that time, and after every change. */
  Wait waitFor(Operation operation, long nowNanos) {
    List<Lease> orders = ordersFor(operation);
    if (orders.isEmpty()) {
      return StockPace.waitFor(operation, nowNanos);
    }
    Wait longest = Wait.NONE;
    for (Lease order : orders) {
      longest = longest.and(waitFor(operation, order, nowNanos));
    }
    return longest;
  }

  private Wait waitFor(Operation operation, Lease order, long nowNanos) {
    return switch (order.setting().name()) {
      case HOLD -> Wait.HELD;
      // What has done nothing here, such as a compaction that another node does, owes no rate.
      case RATE_BYTES_PER_SECOND ->
          operation.isCharged()
              ? new Wait(bucket(order, nowNanos).waitNanos(), false, true)
              : Wait.NONE;
      case STOCK -> StockPace.waitFor(operation, nowNanos);
      default -> Wait.NONE;
    };
  }

  private List<Lease> ordersFor(Operation operation) {
    return leases.widening(kind, Aspect.PACE, operation.scope());
  }

  /** One bucket for all operations that obey a lease: they share its rate. */
  private TokenBucket bucket(Lease order, long nowNanos) {
    double rate = order.setting().number();
    TokenBucket bucket =
        buckets.computeIfAbsent(order.scope(), scope -> new TokenBucket(rate, nowNanos));
    bucket.advance(rate, nowNanos);
    return bucket;
  }

  /** To be called when leases have changed: a later one on a scope has nothing to make up for. */
  void forgetUnusedBuckets() {
    buckets.keySet().removeIf(scope -> !hasRate(scope));
  }

  private boolean hasRate(Scope scope) {
    return leases
        .find(kind, Aspect.PACE, scope)
        .filter(order -> order.setting().name() == SettingName.RATE_BYTES_PER_SECOND)
        .isPresent();
  }
}
