package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.Snapshot;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What compactions have to do, by family. */
final class CompactionDebts {
  private static final class Sum {
    private long bytes;
    private long files;
    private double largestShare;
    private double triggerShare;

    private void add(StoreView store) {
      FileLimits limits = store.limits();
      bytes += store.debtBytes();
      files += store.debtFiles();
      if (limits.share() >= largestShare) {
        largestShare = limits.share();
        triggerShare = limits.triggerShare();
      }
    }

    /**
     * The store's bounds are numbers of files. They are given as bytes in the proportion of the
     * store that is nearest to its bound.
     */
    private Snapshot.Debt toDebt(Scope scope) {
      long limitBytes = largestShare > 0 ? (long) (bytes / largestShare) : 0;
      long triggerBytes = (long) (limitBytes * triggerShare);
      return new Snapshot.Debt(
          CompactionPart.KIND, scope.text(), bytes, triggerBytes, limitBytes, files);
    }
  }

  private CompactionDebts() {}

  /** What nothing compacts here would be a debt that no pace pays off. */
  private static boolean hasDebt(StoreView store) {
    return !store.isSystem() && store.makesWritesWait();
  }

  static void report(List<StoreView> stores, Snapshot.Builder snapshot) {
    Map<Scope, Sum> sums = new LinkedHashMap<>();
    for (StoreView store : stores) {
      if (hasDebt(store)) {
        sums.computeIfAbsent(store.scope(), scope -> new Sum()).add(store);
      }
    }
    List<Snapshot.Debt> debts =
        sums.entrySet().stream().map(entry -> entry.getValue().toDebt(entry.getKey())).toList();
    // First, since a snapshot has room for so many.
    snapshot.debt(total(debts));
    debts.forEach(snapshot::debt);
  }

  /** That of all of the server, for orders to all of it. */
  private static Snapshot.Debt total(List<Snapshot.Debt> debts) {
    return new Snapshot.Debt(
        CompactionPart.KIND,
        Scope.SERVER.text(),
        debts.stream().mapToLong(Snapshot.Debt::bytes).sum(),
        debts.stream().mapToLong(Snapshot.Debt::triggerBytes).sum(),
        debts.stream().mapToLong(Snapshot.Debt::limitBytes).sum(),
        debts.stream().mapToLong(Snapshot.Debt::files).sum());
  }

  /** Debt of all that is in a scope. */
  static long bytes(List<StoreView> stores, Scope scope) {
    return stores.stream()
        .filter(store -> hasDebt(store) && scope.contains(store.scope()))
        .mapToLong(StoreView::debtBytes)
        .sum();
  }
}
