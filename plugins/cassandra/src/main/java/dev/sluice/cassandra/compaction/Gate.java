package dev.sluice.cassandra.compaction;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds all who ask a rate limiter, by keeping the monitor that each of them takes in passing. So
 * they stop between two partitions with their work kept, and go on at once when it opens: a rate of
 * nearly nothing would have them sleep on after it has ended.
 */
final class Gate implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Gate.class);
  private static final long PASSAGE_MILLIS = 2;

  private final Object monitor;
  private boolean closed;
  private boolean passageWanted;
  private boolean ended;

  /** Makes one that is open, for a monitor that its users hold for moments only. */
  Gate(Object monitor) {
    this.monitor = monitor;
    Thread thread = new Thread(this::keep, "sluice-hold");
    thread.setDaemon(true);
    thread.start();
  }

  /** Closes it, or opens it. */
  synchronized void setClosed(boolean wanted) {
    closed = wanted;
    notifyAll();
  }

  /** Lets those that wait through for a moment, and then holds again. */
  synchronized void letPass() {
    passageWanted = closed;
    notifyAll();
  }

  /** Opens it for good. */
  @Override
  public synchronized void close() {
    ended = true;
    notifyAll();
  }

  private void keep() {
    try {
      while (awaitClosed()) {
        synchronized (monitor) {
          awaitOpen();
        }
        // Whoever waits for a monitor may have it before whoever has just left it.
        Thread.sleep(PASSAGE_MILLIS);
      }
    } catch (InterruptedException e) {
      LOG.warn("interrupted: compactions are not held any more");
    }
  }

  private synchronized boolean awaitClosed() throws InterruptedException {
    while (!closed && !ended) {
      wait();
    }
    return !ended;
  }

  private synchronized void awaitOpen() throws InterruptedException {
    while (closed && !passageWanted && !ended) {
      wait();
    }
    passageWanted = false;
  }
}
