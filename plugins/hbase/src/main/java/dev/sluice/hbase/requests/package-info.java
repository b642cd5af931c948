/** Requests for rows that a region server turns away, as leases say. */
package dev.sluice.hbase.requests;
