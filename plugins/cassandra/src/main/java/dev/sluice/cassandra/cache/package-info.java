/** Orders on the sizes of the node's caches. */
package dev.sluice.cassandra.cache;
