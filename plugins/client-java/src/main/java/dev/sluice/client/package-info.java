/**
 * What a client of a store measures, told to the agent of its node once a second:
 * docs/client-latencies.md. Nothing here depends on a store's client, nor holds one up.
 */
package dev.sluice.client;
