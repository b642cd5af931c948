package dev.sluice.hbase.cache;

/**
 * What a family has of the cache, and has had since the server started.
 *
 * @param bytes heap that its blocks take, in all parts
 * @param evictions blocks that had to go for others
 */
public record FamilyReport(
    CacheScope scope, long bytes, long blocks, long hits, long misses, long evictions) {}
