/** What plug-ins of all servers have in common: their socket and their clock. */
package dev.sluice.local.plugin;
