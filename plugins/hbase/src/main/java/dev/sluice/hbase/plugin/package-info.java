/** What the plug-ins of region server and master have in common: their socket and their clock. */
package dev.sluice.hbase.plugin;
