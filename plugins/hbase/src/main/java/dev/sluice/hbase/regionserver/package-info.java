/** What the plug-in has of a region server: its leases, its socket, its parts and their life. */
package dev.sluice.hbase.regionserver;
