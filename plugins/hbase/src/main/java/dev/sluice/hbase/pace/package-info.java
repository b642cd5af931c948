/**
 * How fast background operations go: what bounds each of them, and how long it has to wait. Time is
 * passed in, and nothing here knows of HBase.
 */
package dev.sluice.hbase.pace;
