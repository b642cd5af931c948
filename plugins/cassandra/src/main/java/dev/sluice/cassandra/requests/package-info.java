/** Bounds of the requests of clients that a node takes. */
package dev.sluice.cassandra.requests;
