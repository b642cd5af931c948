/** Drives YCSB workloads against the stores whose bindings are on the class path. */
package dev.sluice.ycsb;
