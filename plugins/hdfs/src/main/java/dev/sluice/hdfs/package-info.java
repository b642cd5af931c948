/** The DataNode's plug-in: which tier the replicas go to that clients write. */
package dev.sluice.hdfs;
