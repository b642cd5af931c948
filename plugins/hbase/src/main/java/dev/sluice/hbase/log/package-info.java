/** Which tier of HDFS the write-ahead logs of a region server are on. */
package dev.sluice.hbase.log;
