/** How long requests took, by intervals, from the node's own histograms. */
package dev.sluice.cassandra.latency;
