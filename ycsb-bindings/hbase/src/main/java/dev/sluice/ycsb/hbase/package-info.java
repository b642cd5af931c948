/** The YCSB binding for HBase. */
package dev.sluice.ycsb.hbase;
