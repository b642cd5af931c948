package dev.sluice.tests.linkedlist;

import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where the list is. */
final class TableOptions {
  @Option(
      names = "--site",
      required = true,
      paramLabel = "FILE",
      description = "The hbase-site.xml of a client of the cluster.")
  private Path site;

  @Option(
      names = "--table",
      required = true,
      description = "A table with the column family l, which holds nothing but the list.")
  private String table;

  @Option(
      names = "--patience-seconds",
      defaultValue = "600",
      description = "How long what fails is tried again (default: ${DEFAULT-VALUE}).")
  private int patienceSeconds;

  ListTable open() throws IOException, InterruptedException {
    return ListTable.open(site, table, patienceSeconds);
  }
}
