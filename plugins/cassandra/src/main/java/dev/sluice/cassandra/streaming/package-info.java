/** Orders on the rate at which the node sends files to others. */
package dev.sluice.cassandra.streaming;
