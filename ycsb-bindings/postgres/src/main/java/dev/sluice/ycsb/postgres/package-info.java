/** The YCSB binding for PostgreSQL. */
package dev.sluice.ycsb.postgres;
