/**
 * The plug-in of Cassandra: a Java agent that serves the local protocol in the node's own process,
 * by its management beans and what lies behind them.
 */
package dev.sluice.cassandra;
