/** What the plug-ins of region server and master have in common. */
package dev.sluice.hbase.plugin;
