/** Tests of the hooks that the patches add to HBase, on a cluster in this process. */
package dev.sluice.hbase.modules;
