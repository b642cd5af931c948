package dev.sluice.hbase.offload;

import java.util.Set;

/**
 * Why a compaction is done by its region server, as far as the server itself says so. The others
 * are words of the agent, of docs/remote-compaction.md.
 */
final class Reasons {
  /** Nobody answers at the agent's socket. */
  static final String NO_AGENT = "no-agent";

  /** The agent has not answered for 5 s, or has gone in the middle of a job. */
  static final String AGENT_SILENT = "agent-silent";

  /** The agent does not understand the job. */
  static final String AGENT_REFUSED = "agent-refused";

  /** A table of the store's own. */
  static final String SYSTEM_TABLE = "system-table";

  /** A coprocessor of the region has a say in what is read or kept. */
  static final String COPROCESSOR = "coprocessor";

  /** A file is a half of one of another region, or is in another folder. */
  static final String REFERENCE = "reference";

  /** Values of the family are in files of their own. */
  static final String MOB = "mob";

  /** The family, or a file, is encrypted. */
  static final String ENCRYPTION = "encryption";

  /** The store is not kept by the default engine. */
  static final String ENGINE = "engine";

  /** Outputs are not written to the region's temporary folder. */
  static final String FILE_TRACKER = "file-tracker";

  /** The region has nodes that its blocks are to be on. */
  static final String FAVORED_NODES = "favored-nodes";

  /** What is written is to be in this server's block cache. */
  static final String CACHE_ON_WRITE = "cache-on-write";

  /** Workers have no tickets. */
  static final String KERBEROS = "kerberos";

  /** The files are not in HDFS. */
  static final String FILE_SYSTEM = "file-system";

  /** The result is not what this compaction should have come to. */
  static final String INVALID = "invalid-result";

  /** This server could not offer the job, or take its result. */
  static final String FAILED = "offload-failed";

  /** With these, of the agent, no peer was asked. */
  private static final Set<String> NEVER_BEGUN =
      Set.of("too-small", "level", "below-threshold", "no-peer", NO_AGENT);

  private Reasons() {}

  /** Whether a worker may have written something. */
  static boolean mayHaveBegun(String reason) {
    return !NEVER_BEGUN.contains(reason);
  }

  /** A reason of somebody else's, if it has the form of one. */
  static String checked(String word) {
    return word.matches("[a-z][a-z-]{0,62}") ? word : INVALID;
  }
}
