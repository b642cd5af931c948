package dev.sluice.tests.linkedlist;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rows in memory; each write is remembered, so that a part of them can be lost. */
final class StoredRows implements RowSink {
  record Cells(byte[] previous, byte[] filler) {}

  final Map<ByteBuffer, Cells> cells = new HashMap<>();
  final List<List<LinkedRow>> writes = new ArrayList<>();

  @Override
  public void write(List<LinkedRow> rows) {
    writes.add(rows);
    rows.forEach(this::store);
  }

  void store(LinkedRow row) {
    byte[] previous = row.previous().map(Node::key).orElse(null);
    byte[] filler = Filler.of(row.node(), row.fillerBytes());
    cells.put(keyOf(row.node()), new Cells(previous, filler));
  }

  boolean has(Node node) {
    return cells.containsKey(keyOf(node));
  }

  void replace(Node node, byte[] previous, byte[] filler) {
    cells.put(keyOf(node), new Cells(previous, filler));
  }

  void lose(Node node) {
    cells.remove(keyOf(node));
  }

  Optional<Cells> find(Node node) {
    return Optional.ofNullable(cells.get(keyOf(node)));
  }

  Verdict verdict(Ledger ledger) {
    Tally tally = new Tally(ledger);
    cells.forEach((key, row) -> tally.add(key.array(), row.previous(), row.filler()));
    return tally.verdict();
  }

  private static ByteBuffer keyOf(Node node) {
    return ByteBuffer.wrap(node.key());
  }
}
