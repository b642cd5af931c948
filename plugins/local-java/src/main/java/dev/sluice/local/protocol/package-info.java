/**
 * The local protocol: JSON-RPC 2.0 on a Unix socket, one object on one line. Nothing here knows of
 * a store; what can be ordered is given by {@link dev.sluice.local.protocol.TaskKind}s.
 */
package dev.sluice.local.protocol;
