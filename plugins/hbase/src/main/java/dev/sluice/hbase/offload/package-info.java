/**
 * Compactions on other nodes: what a region server sends through its agent, and the program that
 * does it there.
 */
package dev.sluice.hbase.offload;
