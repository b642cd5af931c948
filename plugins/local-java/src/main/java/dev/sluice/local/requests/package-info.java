/** How many requests of clients a store takes, as leases say. */
package dev.sluice.local.requests;
