package dev.sluice.hbase.commands;

import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** What a command answers, for programs and for people; the text may be empty. */
record Answer(JsonElement json, String text) {

  /** A change that was made: {@code {"done": WHAT, "table": NAME}}. */
  static Answer done(String what, String kind, String name) {
    JsonObject json = new JsonObject();
    json.addProperty("done", what);
    json.addProperty(kind, name);
    return new Answer(json, what + " " + kind + " " + name);
  }
}
