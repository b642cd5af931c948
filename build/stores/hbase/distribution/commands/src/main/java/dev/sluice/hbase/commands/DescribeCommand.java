package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "describe", header = "Show a table's attributes and column families.")
final class DescribeCommand extends ClusterCommand {
  @Parameters(paramLabel = "TABLE", description = "The table.")
  private String name;

  @Override
  Answer ask(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      TableDescriptor table = admin.getDescriptor(table(name));
      return new Answer(json(table), text(table));
    }
  }

  private static JsonObject json(TableDescriptor table) {
    JsonObject json = new JsonObject();
    json.addProperty("table", table.getTableName().getNameAsString());
    json.add("attributes", object(attributes(table)));
    JsonArray families = new JsonArray();
    for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
      JsonObject one = new JsonObject();
      one.addProperty("family", BinaryText.format(family.getName()));
      one.add("attributes", object(attributes(family)));
      families.add(one);
    }
    json.add("families", families);
    return json;
  }

  private static String text(TableDescriptor table) {
    StringBuilder text = new StringBuilder(table.getTableName().getNameAsString());
    attributes(table).forEach((key, value) -> line(text, "  ", key, value));
    for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
      text.append("\nfamily ").append(BinaryText.format(family.getName()));
      attributes(family).forEach((key, value) -> line(text, "  ", key, value));
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String indent, String key, String value) {
    text.append('\n').append(indent).append(key).append('=').append(value);
  }

  private static Map<String, String> attributes(TableDescriptor table) {
    Map<String, String> attributes = new TreeMap<>();
    table
        .getValues()
        .forEach((key, value) -> attributes.put(key(key.get()), BinaryText.format(value.get())));
    return attributes;
  }

  private static Map<String, String> attributes(ColumnFamilyDescriptor family) {
    Map<String, String> attributes = new TreeMap<>();
    family
        .getValues()
        .forEach((key, value) -> attributes.put(key(key.get()), BinaryText.format(value.get())));
    family
        .getConfiguration()
        .forEach((key, value) -> attributes.put(Attributes.CONFIGURATION + key, value));
    return attributes;
  }

  private static String key(byte[] key) {
    return Bytes.toString(key);
  }

  private static JsonObject object(Map<String, String> attributes) {
    JsonObject object = new JsonObject();
    attributes.forEach(object::addProperty);
    return object;
  }
}
