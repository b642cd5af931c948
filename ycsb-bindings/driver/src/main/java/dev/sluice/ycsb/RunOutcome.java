package dev.sluice.ycsb;

/**
 * What came of a run.
 *
 * @param startMillis when the first operation could start, milliseconds since 1970
 * @param measurements the rows that YCSB exports, with those of the whole run under OVERALL
 */
record RunOutcome(long startMillis, MeasurementTable measurements) {}
