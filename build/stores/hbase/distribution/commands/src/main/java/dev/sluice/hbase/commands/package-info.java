/** What one does with HBase by hand and in scripts: data, tables, regions, snapshots. */
package dev.sluice.hbase.commands;
