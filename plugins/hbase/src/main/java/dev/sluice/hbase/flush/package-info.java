/** Flushes under orders: their pace, what there is in memory, and how they begin. */
package dev.sluice.hbase.flush;
