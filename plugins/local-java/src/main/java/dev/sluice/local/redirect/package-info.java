/**
 * SSD Write Redirect: log data goes to the slow tier while the fast one has a queue. Nothing here
 * knows of a store; queues are passed in, or read from procfs.
 */
package dev.sluice.local.redirect;
