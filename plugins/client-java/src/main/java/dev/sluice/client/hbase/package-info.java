/** Response times of HBase's client, taken around it: it has no hook for them. */
package dev.sluice.client.hbase;
