/** What plug-ins of all servers have in common: their socket, clock and numbers. */
package dev.sluice.local.plugin;
