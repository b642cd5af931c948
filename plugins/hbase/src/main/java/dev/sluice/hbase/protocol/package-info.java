/**
 * The local protocol: JSON-RPC 2.0 on a Unix socket, one object on one line. Nothing here knows of
 * HBase; what can be ordered is given by {@link dev.sluice.hbase.protocol.TaskKind}s.
 */
package dev.sluice.hbase.protocol;
