/** Tests that every binding passes against its real store, and what servers of tests need. */
package dev.sluice.ycsb.contract;
