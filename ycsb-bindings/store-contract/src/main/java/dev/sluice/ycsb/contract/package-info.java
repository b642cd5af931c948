/** Tests that every binding passes against its real store. */
package dev.sluice.ycsb.contract;
