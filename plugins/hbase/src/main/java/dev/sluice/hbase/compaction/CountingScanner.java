package dev.sluice.hbase.compaction;

import java.io.IOException;
import java.util.function.IntConsumer;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.KeyValueScanner;

/** Scans a file of a compaction, and counts each block when the scanner comes to it. */
final class CountingScanner implements KeyValueScanner {
  private final KeyValueScanner scanner;
  private final ReadMeter meter;
  private final IntConsumer counter = this::add;
  private int unreportedBytes;

  CountingScanner(KeyValueScanner scanner, ReadMeter meter) {
    this.scanner = scanner;
    this.meter = meter;
  }

  /** The scanner below reports each block once: it is passed on when the store asks for it. */
  private void count() throws IOException {
    int before = unreportedBytes;
    scanner.recordBlockSize(counter);
    if (unreportedBytes > before) {
      meter.read(unreportedBytes - before);
    }
  }

  private void add(int bytes) {
    unreportedBytes += bytes;
  }

  @Override
  public void recordBlockSize(IntConsumer blockSizeConsumer) {
    if (unreportedBytes > 0) {
      blockSizeConsumer.accept(unreportedBytes);
      unreportedBytes = 0;
    }
  }

  @Override
  public Cell peek() {
    return scanner.peek();
  }

  @Override
  public Cell next() throws IOException {
    Cell cell = scanner.next();
    count();
    return cell;
  }

  @Override
  public boolean seek(Cell key) throws IOException {
    boolean found = scanner.seek(key);
    count();
    return found;
  }

  @Override
  public boolean reseek(Cell key) throws IOException {
    boolean found = scanner.reseek(key);
    count();
    return found;
  }

  @Override
  public boolean requestSeek(Cell key, boolean forward, boolean useBloom) throws IOException {
    boolean found = scanner.requestSeek(key, forward, useBloom);
    count();
    return found;
  }

  @Override
  public void enforceSeek() throws IOException {
    scanner.enforceSeek();
    count();
  }

  @Override
  public boolean backwardSeek(Cell key) throws IOException {
    boolean found = scanner.backwardSeek(key);
    count();
    return found;
  }

  @Override
  public boolean seekToPreviousRow(Cell key) throws IOException {
    boolean found = scanner.seekToPreviousRow(key);
    count();
    return found;
  }

  @Override
  public boolean seekToLastRow() throws IOException {
    boolean found = scanner.seekToLastRow();
    count();
    return found;
  }

  @Override
  public long getScannerOrder() {
    return scanner.getScannerOrder();
  }

  @Override
  public void close() {
    scanner.close();
  }

  @Override
  public boolean shouldUseScanner(Scan scan, HStore store, long oldestUnexpiredTS) {
    return scanner.shouldUseScanner(scan, store, oldestUnexpiredTS);
  }

  @Override
  public boolean realSeekDone() {
    return scanner.realSeekDone();
  }

  @Override
  public boolean isFileScanner() {
    return scanner.isFileScanner();
  }

  @Override
  public Path getFilePath() {
    return scanner.getFilePath();
  }

  @Override
  public Cell getNextIndexedKey() {
    return scanner.getNextIndexedKey();
  }

  @Override
  public void shipped() throws IOException {
    scanner.shipped();
  }
}
