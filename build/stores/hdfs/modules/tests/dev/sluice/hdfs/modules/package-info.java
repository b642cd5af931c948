/** Tests of the hook that the patch adds to HDFS, on a cluster in this process. */
package dev.sluice.hdfs.modules;
