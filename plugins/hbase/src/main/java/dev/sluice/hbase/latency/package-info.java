/** How long the requests of clients take in the region server, in intervals. */
package dev.sluice.hbase.latency;
