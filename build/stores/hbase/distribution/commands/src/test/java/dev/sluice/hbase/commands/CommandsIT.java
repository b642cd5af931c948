package dev.sluice.hbase.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands on a real HBase. */
class CommandsIT {
  @TempDir static Path folder;
  private static Standalone hbase;

  @BeforeAll
  static void start() throws Exception {
    hbase = Standalone.start(folder);
  }

  @AfterAll
  static void stop() {
    if (hbase != null) {
      hbase.close();
    }
  }

  @Test
  void cellsAreWrittenReadCountedAndDeleted() {
    done("create", "cells", "--family", "cf,VERSIONS=3", "--family", "other");
    done("put", "cells", "row1", "cf:a", "one");
    done("put", "cells", "row1", "cf:a", "two");
    done("put", "cells", "row1", "other:", "\\x00\\x5C");
    done("put", "cells", "row2", "cf:a", "three");
    assertEquals("row1\tcf:a\ttwo\nrow1\tother:\t\\x00\\x5C\n", done("get", "cells", "row1"));
    assertEquals("row1\tcf:a\ttwo\n", done("get", "cells", "row1", "cf:a"));
    assertEquals(
        "row1\tcf:a\ttwo\nrow1\tcf:a\tone\n",
        done("get", "cells", "row1", "cf", "--versions", "9"));
    assertEquals("row2\tcf:a\tthree\n", done("scan", "cells", "--start", "row2"));
    assertEquals("row1\tcf:a\ttwo\n", done("scan", "cells", "-c", "cf", "--limit", "1"));
    assertEquals("row2\tcf:a\tthree\n", done("scan", "cells", "--reverse", "--limit", "1"));
    assertEquals("2\n", done("count", "cells"));
    assertEquals("1\n", done("count", "cells", "--prefix", "row2"));
    assertEquals(3, json("scan", "cells").getAsJsonArray().size());
    done("delete", "cells", "row1", "cf:a");
    assertEquals("row1\tother:\t\\x00\\x5C\n", done("get", "cells", "row1"));
    done("delete", "cells", "row1");
    assertEquals("", done("get", "cells", "row1"));
    assertEquals("[]\n", done("-o", "json", "get", "cells", "row1"));
  }

  @Test
  void whatScanPrintsCanBePut() {
    done("create", "source", "--family", "cf", "--splits", "b,c");
    done("create", "copy", "--family", "cf");
    assertEquals("wrote 3 cells\n", put("source", "a\tcf:q\t1\nb\tcf:q\t\\xFF\nc\tcf:\t\n"));
    String all = done("scan", "source");
    assertEquals("a\tcf:q\t1\nb\tcf:q\t\\xFF\nc\tcf:\t\n", all);
    put("copy", all);
    assertEquals(all, done("scan", "copy"));
  }

  @Test
  void tablesAreDescribedAlteredDisabledAndDropped() {
    done("create", "shape", "--family", "cf,VERSIONS=3", "--set", "SPLIT_ENABLED=false");
    done("alter", "shape", "--family", "cf,TTL=60", "--family", "new", "--unset", "SPLIT_ENABLED");
    JsonObject shape = json("describe", "shape").getAsJsonObject();
    JsonObject family = object(shape.getAsJsonArray("families"), "family", "cf");
    assertEquals("3", family.getAsJsonObject("attributes").get("VERSIONS").getAsString());
    assertEquals("60", family.getAsJsonObject("attributes").get("TTL").getAsString());
    assertEquals(false, shape.getAsJsonObject("attributes").has("SPLIT_ENABLED"));
    done("alter", "shape", "--delete-family", "new");
    assertEquals(1, json("describe", "shape").getAsJsonObject().getAsJsonArray("families").size());

    Invocation refused = hbase.run("drop", "shape");
    assertEquals(1, refused.exitCode());
    assertTrue(refused.err().contains("hbase disable"), refused.err());
    done("disable", "shape");
    assertEquals(false, table("shape").get("enabled").getAsBoolean());
    done("enable", "shape");
    assertEquals(true, table("shape").get("enabled").getAsBoolean());
    done("drop", "--disable", "shape");
    assertEquals("[]\n", done("-o", "json", "tables", "shape"));
    assertEquals("", done("tables", "shape"));
    assertTrue(done("tables", "--system").lines().anyMatch(line -> line.startsWith("hbase:")));
  }

  @Test
  void regionsMoveSplitAndMerge() {
    done("create", "places", "--family", "cf");
    done("put", "places", "a", "cf:q", "1");
    done("put", "places", "x", "cf:q", "2");
    JsonObject before = regions("places").get(0).getAsJsonObject();
    String region = before.get("region").getAsString();
    done("move", region);
    JsonObject after = regions("places").get(0).getAsJsonObject();
    assertNotEquals(before.get("server").getAsString(), after.get("server").getAsString());
    done("move", region, before.get("server").getAsString());
    assertEquals(before.get("server"), regions("places").get(0).getAsJsonObject().get("server"));
    done("flush", "places");
    done("split", region, "--at", "m");
    done("transitions", "--wait", "60");
    List<String> halves = done("regions", "--table", "places", "--names").lines().sorted().toList();
    assertEquals(2, halves.size());
    assertEquals("2\n", done("count", "places"));
    done("compact", "--major", "places");
    // Refused as long as a half refers to the files of the whole.
    Standalone.await(
        "halves are merged",
        () -> hbase.run("merge", halves.get(0), halves.get(1)).exitCode() == 0);
    done("transitions", "--wait", "60");
    assertEquals(1, regions("places").size());
    assertEquals("2\n", done("count", "places"));
    String merged = regions("places").get(0).getAsJsonObject().get("region").getAsString();
    done("unassign", merged);
    assertEquals(0, regions("places").size());
    done("assign", merged);
    assertEquals("2\n", done("count", "places"));
  }

  @Test
  void filesAreFlushedAndCompacted() {
    done("create", "files", "--family", "cf", "--set", "COMPACTION_ENABLED=true");
    for (String value : List.of("1", "2")) {
      done("put", "files", "row", "cf:q", value);
      done("flush", "files", "--family", "cf");
    }
    assertEquals(2, storeFiles("files"));
    done("compact", "--major", "--family", "cf", "files");
    Standalone.await("one store file is left", () -> storeFiles("files") == 1);
    Standalone.await("no compaction", () -> done("compaction-state", "files").equals("none\n"));
  }

  @Test
  void snapshotsBringBackWhatWas() {
    done("create", "kept", "--family", "cf", "--splits", "m");
    done("put", "kept", "row", "cf:q", "old");
    done("snapshot", "create", "kept", "kept-1");
    done("truncate", "kept");
    assertEquals("0\n", done("count", "kept"));
    assertEquals(2, regions("kept").size());
    done("snapshot", "clone", "kept-1", "kept-copy");
    assertEquals("row\tcf:q\told\n", done("scan", "kept-copy"));
    done("disable", "kept");
    done("snapshot", "restore", "kept-1");
    done("enable", "kept");
    assertEquals("row\tcf:q\told\n", done("scan", "kept"));
    assertTrue(done("snapshot", "list").contains("kept-1"));
    done("snapshot", "delete", "kept-1");
    assertEquals("[]\n", done("-o", "json", "snapshot", "list"));
  }

  @Test
  void switchesSayWhatWasBefore() {
    assertEquals("on\n", done("balancer"));
    assertEquals("on\n", done("balancer", "off"));
    assertEquals("off\n", done("balancer"));
    assertEquals(false, json("balance").getAsJsonObject().get("ran").getAsBoolean());
    assertEquals("off\n", done("balancer", "on"));
    JsonArray before = json("compaction-switch", "off").getAsJsonArray();
    assertEquals(2, before.size());
    assertEquals(true, before.get(0).getAsJsonObject().get("was_on").getAsBoolean());
    String server = before.get(0).getAsJsonObject().get("server").getAsString();
    JsonArray one = json("compaction-switch", "on", server).getAsJsonArray();
    assertEquals(false, one.get(0).getAsJsonObject().get("was_on").getAsBoolean());
    done("compaction-switch", "on");
    done("update-config");
    done("update-config", server);
  }

  @Test
  void failuresSayWhatToDoNext() {
    Invocation missing = hbase.run("get", "missing", "row");
    assertEquals(1, missing.exitCode());
    assertTrue(missing.err().contains("hbase tables"), missing.err());
    Invocation server = hbase.run("move", "0123456789abcdef0123456789abcdef", "nowhere");
    assertTrue(server.err().contains("choose one of: "), server.err());
    Invocation region = hbase.run("move", "0123456789abcdef0123456789abcdef");
    assertEquals(1, region.exitCode());
    assertTrue(region.err().contains("hbase regions"), region.err());
    assertEquals(1, hbase.run("regions", "--table", "missing").exitCode());
  }

  @Test
  void theLauncherRunsCommandsAndTools() throws Exception {
    Invocation status = hbase.launch("-o", "json", "status");
    assertEquals(0, status.exitCode(), status.err());
    JsonObject json = JsonParser.parseString(status.out()).getAsJsonObject();
    assertEquals(2, json.getAsJsonArray("live_servers").size());
    assertFalse(status.err().contains("ERROR"), status.err());
    Invocation missing = hbase.launch("describe", "missing");
    assertEquals(1, missing.exitCode());
    Invocation version = hbase.launch("version");
    assertEquals(0, version.exitCode(), version.err());
    assertTrue(version.out().contains("HBase 2.") || version.err().contains("HBase 2."));
    Invocation key = hbase.launch("conf", "hbase.zookeeper.quorum");
    assertEquals("127.0.0.1", key.out().strip(), key.err());
  }

  private static String put(String table, String lines) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
    try {
      return done("put", table, "--stdin");
    } finally {
      System.setIn(before);
    }
  }

  private static int storeFiles(String table) {
    return regions(table).get(0).getAsJsonObject().get("store_files").getAsInt();
  }

  private static JsonArray regions(String table) {
    return json("regions", "--table", table).getAsJsonArray();
  }

  private static JsonObject table(String name) {
    return object(json("tables").getAsJsonArray(), "table", name);
  }

  private static JsonObject object(JsonArray array, String key, String value) {
    for (JsonElement each : array) {
      if (each.getAsJsonObject().get(key).getAsString().equals(value)) {
        return each.getAsJsonObject();
      }
    }
    throw new AssertionError("no " + key + " " + value + " in " + array);
  }

  private static JsonElement json(String... arguments) {
    String[] all = new String[arguments.length + 2];
    all[0] = "-o";
    all[1] = "json";
    System.arraycopy(arguments, 0, all, 2, arguments.length);
    return JsonParser.parseString(done(all));
  }

  private static String done(String... arguments) {
    Invocation command = hbase.run(arguments);
    assertEquals(0, command.exitCode(), String.join(" ", arguments) + ": " + command.err());
    return command.out();
  }
}
