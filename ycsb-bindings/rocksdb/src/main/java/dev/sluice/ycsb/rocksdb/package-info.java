/** The YCSB binding for RocksDB. */
package dev.sluice.ycsb.rocksdb;
