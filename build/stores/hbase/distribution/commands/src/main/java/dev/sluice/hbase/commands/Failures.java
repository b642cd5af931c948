package dev.sluice.hbase.commands;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.hbase.MasterNotRunningException;
import org.apache.hadoop.hbase.NamespaceNotFoundException;
import org.apache.hadoop.hbase.PleaseHoldException;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableNotDisabledException;
import org.apache.hadoop.hbase.TableNotEnabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.UnknownRegionException;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException;
import org.apache.hadoop.hbase.snapshot.SnapshotExistsException;

/** Turns what HBase's client throws into a message and an advice. */
final class Failures {
  private static final Map<Class<? extends Throwable>, String> ADVICE = new LinkedHashMap<>();

  static {
    ADVICE.put(TableNotFoundException.class, "look at its name: hbase tables");
    ADVICE.put(TableExistsException.class, "choose another name, or drop that table first");
    ADVICE.put(TableNotDisabledException.class, "disable it first: hbase disable TABLE");
    ADVICE.put(TableNotEnabledException.class, "enable it first: hbase enable TABLE");
    ADVICE.put(NamespaceNotFoundException.class, "create the namespace first, or leave it out");
    ADVICE.put(NoSuchColumnFamilyException.class, "look at its families: hbase describe TABLE");
    ADVICE.put(UnknownRegionException.class, "look at the regions: hbase regions");
    ADVICE.put(SnapshotDoesNotExistException.class, "look at its name: hbase snapshot list");
    ADVICE.put(SnapshotExistsException.class, "choose another name, or delete that snapshot first");
    ADVICE.put(AccessDeniedException.class, "do it as a user that has the right");
    ADVICE.put(PleaseHoldException.class, "wait until the master has come up, and try again");
    ADVICE.put(MasterNotRunningException.class, "start a master, or look into its log");
  }

  private static final String ANY_ADVICE =
      "look whether master and region servers run (hbase status), and into their logs";

  private Failures() {}

  static CommandFailure explain(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof CommandFailure failure) {
        return failure;
      }
      for (Map.Entry<Class<? extends Throwable>, String> known : ADVICE.entrySet()) {
        if (isA(known.getKey(), cause)) {
          return new CommandFailure(message(known.getKey(), cause), known.getValue());
        }
      }
    }
    return new CommandFailure(thrown.getClass().getSimpleName() + ": " + first(thrown), ANY_ADVICE);
  }

  /** Also where retries or the call to the server have made the exception a part of a text. */
  private static boolean isA(Class<?> type, Throwable cause) {
    return type.isInstance(cause) || String.valueOf(cause.getMessage()).contains(type.getName());
  }

  private static String message(Class<?> type, Throwable cause) {
    String name = type.getSimpleName().replace("Exception", "");
    return name.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase(Locale.ROOT)
        + ": "
        + first(cause);
  }

  private static String first(Throwable cause) {
    String text = String.valueOf(cause.getMessage()).strip();
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }
}
