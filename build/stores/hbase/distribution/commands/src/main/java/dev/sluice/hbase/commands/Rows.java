package dev.sluice.hbase.commands;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** Rows with named columns: a table with a header for people, an array of objects for programs. */
final class Rows {
  private final List<String> columns;
  private final List<List<Object>> rows = new ArrayList<>();

  Rows(String... columns) {
    this.columns = List.of(columns);
  }

  /** Adds one row: a text, a number or a truth value for each column. */
  void add(Object... values) {
    if (values.length != columns.size()) {
      throw new IllegalArgumentException(values.length + " values for " + columns);
    }
    rows.add(List.of(values));
  }

  JsonArray toJson() {
    JsonArray array = new JsonArray();
    for (List<Object> row : rows) {
      JsonObject object = new JsonObject();
      for (int i = 0; i < columns.size(); i++) {
        add(object, columns.get(i), row.get(i));
      }
      array.add(object);
    }
    return array;
  }

  String toText() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(columns.stream().map(name -> name.toUpperCase(Locale.ROOT)).toList());
    rows.forEach(row -> lines.add(row.stream().map(String::valueOf).toList()));
    List<Integer> widths = new ArrayList<>(Collections.nCopies(columns.size(), 0));
    for (List<String> line : lines) {
      for (int i = 0; i < line.size(); i++) {
        widths.set(i, Math.max(widths.get(i), line.get(i).length()));
      }
    }
    return lines.stream().map(line -> aligned(line, widths)).collect(Collectors.joining("\n"));
  }

  Answer toAnswer() {
    return new Answer(toJson(), toText());
  }

  private static String aligned(List<String> line, List<Integer> widths) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < line.size(); i++) {
      text.append(String.format("%-" + (widths.get(i) + 2) + "s", line.get(i)));
    }
    return text.toString().stripTrailing();
  }

  private static void add(JsonObject object, String name, Object value) {
    if (value instanceof Number number) {
      object.addProperty(name, number);
    } else if (value instanceof Boolean truth) {
      object.addProperty(name, truth);
    } else {
      object.addProperty(name, value.toString());
    }
  }
}
