/** Compactions under orders: their pace, their queue, what they have to do and how they begin. */
package dev.sluice.hbase.compaction;
