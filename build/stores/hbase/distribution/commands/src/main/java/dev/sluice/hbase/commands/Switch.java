package dev.sluice.hbase.commands;

/** The two states of what can be switched, as they are written on the command line. */
enum Switch {
  on,
  off
}
