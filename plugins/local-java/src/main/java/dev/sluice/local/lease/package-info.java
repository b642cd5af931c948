/**
 * Leases: what an order sets, where, for whom and until when. Nothing here knows of sockets or of a
 * store, and time is passed in.
 */
package dev.sluice.local.lease;
