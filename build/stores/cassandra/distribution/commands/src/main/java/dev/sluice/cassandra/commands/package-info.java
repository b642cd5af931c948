/** What one does with Cassandra by hand and in scripts, beside upstream's own tools: CQL. */
package dev.sluice.cassandra.commands;
