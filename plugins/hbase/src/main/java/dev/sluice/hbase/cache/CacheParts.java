package dev.sluice.hbase.cache;

import dev.sluice.local.plugin.ConfiguredNumber;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shared part and one for each reservation; their sizes add up to the whole cache. Changes of
 * reservations exclude each other for as long as their blocks move; nothing else waits for that.
 */
final class CacheParts {
  private static final Logger LOG = LoggerFactory.getLogger(CacheParts.class);

  static final String RESERVED_SHARE_KEY = "sluice.cache.reserved.share";
  static final double DEFAULT_RESERVED_SHARE = 0.8;
  static final long MINIMUM_BYTES = 1 << 20;

  /** Each has threads of its own, and a figure in a snapshot, which has at most 1000. */
  static final int MOST_RESERVATIONS = 100;

  private final long blockBytes;
  private final Configuration conf;
  private final PartedCacheStats stats;
  private final Collection<FamilyView> families;
  private final double reservedShare;
  private final CachePart shared;
  // Held while blocks move; the monitor of this, which guards what is kept for whom, for moments.
  private final Object changes = new Object();
  private final Map<CacheScope, Reservation> reservations = new LinkedHashMap<>();
  // Insertions and evictions hold it shared, the move of a block and of a family exclusively.
  private final ReentrantReadWriteLock placing = new ReentrantReadWriteLock();
  private volatile List<CachePart> all;
  private volatile long totalBytes;
  private volatile BlockCache victimCache;

  private static final class Reservation {
    private final CachePart part;
    private long askedBytes;
    private boolean isFilled;

    Reservation(CachePart part, long askedBytes) {
      this.part = part;
      this.askedBytes = askedBytes;
    }
  }

  CacheParts(
      long totalBytes,
      long blockBytes,
      Configuration conf,
      PartedCacheStats stats,
      Collection<FamilyView> families) {
    this.totalBytes = totalBytes;
    this.blockBytes = blockBytes;
    this.conf = conf;
    this.stats = stats;
    this.families = families;
    this.reservedShare = reservedShare(conf);
    this.shared = new CachePart(totalBytes, blockBytes, conf, stats);
    this.all = List.of(shared);
    stats.add(shared);
  }

  private static double reservedShare(Configuration conf) {
    String value = conf.getTrimmed(RESERVED_SHARE_KEY, String.valueOf(DEFAULT_RESERVED_SHARE));
    OptionalDouble share = ConfiguredNumber.parse(value, 0, Math.nextDown(1.0));
    if (share.isPresent()) {
      return share.getAsDouble();
    }
    String wrong =
        "%s is \"%s\": set it to a number of at least 0 and less than 1, such as %s"
            .formatted(RESERVED_SHARE_KEY, value, DEFAULT_RESERVED_SHARE);
    // Upstream's own message of whatever is thrown here is that the cache is unknown.
    LOG.error("there is no block cache, and the server stops: {}", wrong);
    throw new IllegalArgumentException(wrong);
  }

  List<CachePart> all() {
    return all;
  }

  long totalBytes() {
    return totalBytes;
  }

  Optional<BlockCache> victimCache() {
    return Optional.ofNullable(victimCache);
  }

  void setVictimCache(BlockCache victim) {
    shared.setVictimCache(victim);
    victimCache = victim;
  }

  synchronized FamilyView addFamily(
      CacheScope scope, Map<CacheScope, FamilyView> known, FamilyBlockCache whole) {
    return known.computeIfAbsent(scope, key -> new FamilyView(whole, key, placesOf(key)));
  }

  void insert(FamilyView family, BlockCacheKey key, Cacheable block, boolean inMemory) {
    placing.readLock().lock();
    try {
      if (family == null) {
        partFor(key, all.toArray(CachePart[]::new)).cacheBlock(key, block, inMemory);
        return;
      }
      partFor(key, family.places()).cacheBlock(new FamilyBlockKey(key, family), block, inMemory);
    } finally {
      placing.readLock().unlock();
    }
  }

  /** The first place, unless another one has the block: it must not be in two. */
  private static CachePart partFor(BlockCacheKey key, CachePart[] places) {
    for (int i = 1; i < places.length; i++) {
      if (places[i].containsBlock(key)) {
        return places[i];
      }
    }
    return places[0];
  }

  Cacheable find(BlockCacheKey key, boolean caching, boolean repeat) {
    for (CachePart part : all) {
      Cacheable block = part.getBlock(key, caching, repeat, false);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  Optional<CachePart> partWith(BlockCacheKey key) {
    return all.stream().filter(part -> part.containsBlock(key)).findFirst();
  }

  boolean evictBlock(BlockCacheKey key) {
    placing.readLock().lock();
    try {
      boolean evicted = false;
      for (CachePart part : all) {
        evicted |= part.evictBlock(key);
      }
      return evicted;
    } finally {
      placing.readLock().unlock();
    }
  }

  int evictFile(String hfileName) {
    placing.readLock().lock();
    try {
      return all.stream().mapToInt(part -> part.evictBlocksByHfileName(hfileName)).sum();
    } finally {
      placing.readLock().unlock();
    }
  }

  /**
   * Refuses what the bounds do not allow.
   *
   * @param reserved what is asked for each scope already
   */
  void check(CacheScope scope, double bytes, Map<CacheScope, Long> reserved)
      throws ReservationRefused {
    if (bytes == 0) {
      return;
    }
    if (victimCache != null) {
      throw new ReservationRefused(
          "the block cache has an external second level, which knows no families",
          "Switch hbase.blockcache.use.external off.");
    }
    if (bytes < MINIMUM_BYTES) {
      throw new ReservationRefused(
          "a reservation of " + text(bytes) + " bytes is less than " + MINIMUM_BYTES,
          "Reserve at least " + MINIMUM_BYTES + " bytes, or 0 for none.");
    }
    Map<CacheScope, Long> others = new HashMap<>(reserved);
    Long own = others.remove(scope);
    // Who asks for no more than it has may go on where the store has made its cache smaller.
    if (own == null || bytes > own) {
      checkBeside(others.values(), scope, bytes);
    }
  }

  private void checkBeside(Collection<Long> reserved, CacheScope scope, double bytes)
      throws ReservationRefused {
    if (reserved.size() >= MOST_RESERVATIONS) {
      throw new ReservationRefused(
          "there are " + reserved.size() + " other reservations, and may be no more",
          "Reserve for a table instead of its families, or end other reservations.");
    }
    long others = reserved.stream().mapToLong(Long::longValue).sum();
    long bound = boundBytes();
    if (bytes > bound - others) {
      throw new ReservationRefused(
          text(bytes)
              + " bytes for "
              + scope
              + " and "
              + others
              + " for others are more than the "
              + bound
              + " that may be reserved of a block cache of "
              + totalBytes
              + " bytes",
          "Ask for at most "
              + Math.max(0, bound - others)
              + " bytes, end other reservations, or "
              + "raise hfile.block.cache.size or "
              + RESERVED_SHARE_KEY
              + ".");
    }
  }

  private static String text(double bytes) {
    return BigDecimal.valueOf(bytes).stripTrailingZeros().toPlainString();
  }

  long boundBytes() {
    return (long) (totalBytes * reservedShare);
  }

  private long reservedBytes() {
    return reservations.values().stream().mapToLong(each -> each.askedBytes).sum();
  }

  private synchronized Map<CacheScope, Long> asked() {
    Map<CacheScope, Long> asked = new LinkedHashMap<>();
    reservations.forEach((scope, each) -> asked.put(scope, each.askedBytes));
    return asked;
  }

  void reserve(CacheScope scope, long bytes) throws ReservationRefused {
    synchronized (changes) {
      Map<CacheScope, Long> asked = asked();
      check(scope, bytes, asked);
      if (bytes == 0) {
        release(scope);
      } else if (!Long.valueOf(bytes).equals(asked.get(scope))) {
        keep(scope, bytes);
        settle();
      }
    }
  }

  private synchronized void keep(CacheScope scope, long bytes) {
    Reservation known = reservations.get(scope);
    if (known != null) {
      known.askedBytes = bytes;
      return;
    }
    reservations.put(scope, new Reservation(newPart(), bytes));
    placeFamilies(null);
  }

  /** It takes blocks only once it has a size. */
  private CachePart newPart() {
    CachePart part = new CachePart(MINIMUM_BYTES, blockBytes, conf, stats);
    stats.add(part);
    List<CachePart> more = new ArrayList<>(all);
    more.add(part);
    all = List.copyOf(more);
    return part;
  }

  void release(CacheScope scope) {
    synchronized (changes) {
      Reservation ended = drop(scope);
      if (ended == null) {
        return;
      }
      mover().empty(ended.part);
      placeFamilies(null);
      all = all.stream().filter(part -> part != ended.part).toList();
      ended.part.shutdown();
      stats.end(ended.part);
      settle();
    }
  }

  private synchronized Reservation drop(CacheScope scope) {
    Reservation ended = reservations.remove(scope);
    if (ended != null) {
      placeFamilies(ended.part);
    }
    return ended;
  }

  /** Where new blocks of each family go from now on; in the part that ends they are still found. */
  private synchronized void placeFamilies(CachePart ending) {
    placing.writeLock().lock();
    try {
      for (FamilyView family : families) {
        List<CachePart> places = new ArrayList<>(List.of(placesOf(family.scope())));
        if (ending != null && List.of(family.places()).contains(ending)) {
          places.add(ending);
        }
        family.moveTo(places.toArray(CachePart[]::new));
      }
    } finally {
      placing.writeLock().unlock();
    }
  }

  private CachePart[] placesOf(CacheScope scope) {
    List<CachePart> places = new ArrayList<>();
    Reservation own = reservations.get(scope);
    if (own != null) {
      places.add(own.part);
    }
    Reservation ofTable = reservations.get(CacheScope.ofTable(scope.table()));
    if (ofTable != null && ofTable != own) {
      places.add(ofTable.part);
    }
    places.add(shared);
    return places.toArray(CachePart[]::new);
  }

  void setTotalBytes(long bytes) {
    synchronized (changes) {
      totalBytes = bytes;
      settle();
    }
  }

  /** Gives every part the size that it should have: what shrinks makes room for what grows. */
  private void settle() {
    PartMover mover = mover();
    for (Reservation each : reservations.values()) {
      if (grantedBytes(each) < each.part.getMaxSize()) {
        mover.shrink(each.part, grantedBytes(each));
      }
    }
    for (Reservation each : reservations.values()) {
      if (grantedBytes(each) > each.part.getMaxSize() || !each.isFilled) {
        mover.fill(each.part, grantedBytes(each));
        each.isFilled = true;
      }
    }
    // What parts get beyond their blocks is the shared part's first.
    shared.setMaxSize(
        totalBytes - reservations.values().stream().mapToLong(this::grantedBytes).sum());
    reservations.values().forEach(each -> each.part.setMaxSize(grantedBytes(each)));
  }

  /** Less than asked for where the store has made its cache smaller since. */
  private long grantedBytes(Reservation reservation) {
    long reserved = reservedBytes();
    long bound = boundBytes();
    if (reserved <= bound) {
      return reservation.askedBytes;
    }
    return (long) ((double) reservation.askedBytes * bound / reserved);
  }

  private PartMover mover() {
    return new PartMover(shared, placing.writeLock());
  }

  synchronized Map<CacheScope, Long> reservations() {
    Map<CacheScope, Long> granted = new LinkedHashMap<>();
    reservations.forEach((scope, each) -> granted.put(scope, grantedBytes(each)));
    return granted;
  }

  void shutdown() {
    all.forEach(CachePart::shutdown);
  }
}
