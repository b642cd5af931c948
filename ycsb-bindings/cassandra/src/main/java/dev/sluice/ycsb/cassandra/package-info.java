/** The YCSB binding for Apache Cassandra. */
package dev.sluice.ycsb.cassandra;
