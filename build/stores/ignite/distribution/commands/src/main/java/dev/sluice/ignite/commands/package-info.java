/** What one does with Ignite by hand and in scripts: first start, state, SQL. */
package dev.sluice.ignite.commands;
