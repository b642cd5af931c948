package dev.sluice.tests.linkedlist;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Threads that work side by side. */
final class Workers {
  private Workers() {}

  /**
   * Does all the work with so many threads.
   *
   * @throws IOException the first failure, after all have ended
   */
  static <T> List<T> run(int threads, List<? extends Callable<T>> work)
      throws IOException, InterruptedException {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      List<T> done = new ArrayList<>();
      for (Future<T> each : executor.invokeAll(work)) {
        done.add(each.get());
      }
      return done;
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      executor.shutdownNow();
    }
  }
}
