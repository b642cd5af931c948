package dev.sluice.ignite.commands;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The REST interface of one node, as upstream's ignite-rest-api defines it. */
final class RestNode {
  private static final Duration LONGEST_CALL = Duration.ofSeconds(30);
  private static final int OK = 200;
  private static final int CONFLICT = 409;

  private final ObjectMapper json = new ObjectMapper();
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(LONGEST_CALL).build();
  private final String address;

  /** The node whose REST interface is at ADDRESS, {@code HOST:PORT}. */
  RestNode(String address) {
    this.address = address;
  }

  /** {@code STARTED} once the node serves, {@code STARTING} before; also while it initializes. */
  String state() throws InterruptedException {
    HttpResponse<String> answer = send(request("/management/v1/node/state").GET().build());
    if (answer.statusCode() == CONFLICT) {
      return "STARTING";
    }
    return text(expectOk(answer), "state");
  }

  /** Makes a cluster of all nodes that know each other; NODES keep its metadata. */
  void initialize(String cluster, List<String> nodes) throws InterruptedException {
    Map<String, Object> wish =
        Map.of("clusterName", cluster, "metaStorageNodes", nodes, "cmgNodes", nodes);
    try {
      HttpRequest.Builder request = request("/management/v1/cluster/init");
      request.header("Content-Type", "application/json");
      String body = json.writeValueAsString(wish);
      expectOk(send(request.POST(BodyPublishers.ofString(body)).build()));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private HttpRequest.Builder request(String path) {
    try {
      return HttpRequest.newBuilder(URI.create("http://" + address + path)).timeout(LONGEST_CALL);
    } catch (IllegalArgumentException e) {
      throw new CommandFailure(address + " is no address", "give it as HOST:PORT");
    }
  }

  private HttpResponse<String> send(HttpRequest request) throws InterruptedException {
    try {
      return client.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new CommandFailure(
          "no node answers at " + address + ": " + e,
          "look whether it runs, and at rest.port of its ignite-config.conf");
    }
  }

  private String expectOk(HttpResponse<String> answer) {
    if (answer.statusCode() == OK) {
      return answer.body();
    }
    throw new CommandFailure(
        address + " answers " + answer.statusCode() + ": " + text(answer.body(), "detail"),
        "correct what it names; the node's log says more");
  }

  private String text(String body, String field) {
    try {
      return json.readTree(body).path(field).asText(body);
    } catch (JsonProcessingException e) {
      return body;
    }
  }
}
