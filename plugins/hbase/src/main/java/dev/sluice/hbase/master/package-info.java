/**
 * What the plug-in has of a master: holds of the chores that move, split and merge regions, and
 * compactions of whole tables. What it can hold is asked at each step, so that there is nothing to
 * undo when a lease ends or the plug-in fails.
 */
package dev.sluice.hbase.master;
