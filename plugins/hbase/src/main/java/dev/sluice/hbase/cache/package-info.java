/** The block cache with a part for each reservation, and the leases that make reservations. */
package dev.sluice.hbase.cache;
