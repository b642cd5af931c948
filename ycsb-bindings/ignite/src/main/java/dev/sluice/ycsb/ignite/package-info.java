/** The YCSB binding for Apache Ignite. */
package dev.sluice.ycsb.ignite;
