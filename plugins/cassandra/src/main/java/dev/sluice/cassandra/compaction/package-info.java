/** Orders on compactions: rate, hold, deferral, number at a time, beginning and end. */
package dev.sluice.cassandra.compaction;
