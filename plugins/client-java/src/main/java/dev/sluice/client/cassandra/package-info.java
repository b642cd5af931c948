/** Response times of the Java driver of Cassandra, by its own hook for them. */
package dev.sluice.client.cassandra;
