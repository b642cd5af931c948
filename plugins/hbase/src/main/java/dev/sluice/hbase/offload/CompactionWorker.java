package dev.sluice.hbase.offload;

import com.sun.management.OperatingSystemMXBean;
import dev.sluice.local.protocol.LineReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hdfs.protocol.DSQuotaExceededException;

/**
 * The program that an agent runs for a compaction of another node's store:
 * docs/remote-compaction.md has its contract.
 */
public final class CompactionWorker {
  private static final int MAX_LINE_BYTES = 3 << 20;
  private static final long PROGRESS_MILLIS = 500;

  /** Reasons of a job that cannot be read or begun, of the contract; others are failures. */
  private static final Set<String> WORDS = Set.of("version", "path", "cancelled");

  private final WorkerOutput output;

  private CompactionWorker(WorkerOutput output) {
    this.output = output;
  }

  /** Has no arguments: the job comes on standard input. */
  public static void main(String[] arguments) {
    PrintStream lines = System.out;
    // Whatever logs to standard output would break the contract.
    System.setOut(System.err);
    // The output is to stay as it is: HDFS would otherwise be asked to end files.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(1)));
    WorkerOutput output = new WorkerOutput(lines);
    output.started(HBaseVersion.inUse());
    Runtime.getRuntime().halt(new CompactionWorker(output).run() ? 0 : 1);
  }

  private boolean run() {
    try {
      compact();
      return true;
    } catch (StaysLocalException e) {
      output.failure(WORDS.contains(e.reason()) ? e.reason() : "failed", e.getMessage());
    } catch (FileNotFoundException e) {
      output.failure("path", e.toString());
    } catch (DSQuotaExceededException e) {
      output.failure("disk-full", e.toString());
    } catch (OutOfMemoryError e) {
      output.failure("worker-memory", e.toString());
    } catch (IOException | RuntimeException | LinkageError e) {
      e.printStackTrace(System.err);
      output.failure("failed", e.toString());
    }
    return false;
  }

  private void compact() throws IOException, StaysLocalException {
    ReadableByteChannel input = Channels.newChannel(System.in);
    byte[] line = new LineReader(input, MAX_LINE_BYTES).next();
    if (line == null) {
      throw new StaysLocalException("cancelled", "there was no job");
    }
    Members told = Members.read(line);
    endWith(input);
    reportProgress(told.number("temporary_limit_bytes"));
    WorkerJob job = new WorkerJob(told);
    OffloadOutcome outcome = job.run();
    output.result(outcome, TransferredBytes.now(), job.openSeconds(), cpuSeconds());
  }

  /** At the end of its input the agent is gone. */
  private static void endWith(ReadableByteChannel input) {
    Thread thread =
        new Thread(
            () -> {
              try {
                // What more an agent says is not known to this version.
                while (new LineReader(input, MAX_LINE_BYTES).next() != null) {}
              } catch (IOException e) {
                System.err.println("standard input: " + e);
              }
              Runtime.getRuntime().halt(1);
            },
            "agent-watch");
    thread.setDaemon(true);
    thread.start();
  }

  private void reportProgress(long mostBytes) {
    ScheduledExecutorService reporter =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "progress");
              thread.setDaemon(true);
              return thread;
            });
    reporter.scheduleAtFixedRate(
        () -> {
          TransferredBytes bytes = TransferredBytes.now();
          if (bytes.written() > mostBytes) {
            output.failure("too-large", bytes.written() + " bytes are written");
            Runtime.getRuntime().halt(1);
          }
          output.progress(bytes);
        },
        0,
        PROGRESS_MILLIS,
        TimeUnit.MILLISECONDS);
  }

  private static double cpuSeconds() {
    OperatingSystemMXBean process =
        (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    return process.getProcessCpuTime() / 1e9;
  }
}
