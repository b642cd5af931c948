/** Rows that refer to rows: what a store has lost or damaged shows in a scan. */
package dev.sluice.tests.linkedlist;
