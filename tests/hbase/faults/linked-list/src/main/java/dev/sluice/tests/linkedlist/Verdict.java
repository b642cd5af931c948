package dev.sluice.tests.linkedlist;

/**
 * What a scan has found.
 *
 * @param rows of the ledger that are there
 * @param referenced those of them that another refers to
 * @param unreferenced those that none refers to
 * @param undefined rows that are referred to and not there
 * @param lost rows that were acknowledged and are not there
 * @param damaged rows with another reference or other content than was written
 * @param strange rows that were never acknowledged
 * @param repeated rows that came more than once
 */
record Verdict(
    long rows,
    long referenced,
    long unreferenced,
    long undefined,
    long lost,
    long damaged,
    long strange,
    long repeated) {
  boolean isClean() {
    return unreferenced + undefined + lost + damaged + strange + repeated == 0;
  }

  /** All of it as one object of JSON. */
  String json() {
    return ("{\"rows\":%d,\"referenced\":%d,\"unreferenced\":%d,\"undefined\":%d,\"lost\":%d,"
            + "\"damaged\":%d,\"strange\":%d,\"repeated\":%d}")
        .formatted(rows, referenced, unreferenced, undefined, lost, damaged, strange, repeated);
  }
}
