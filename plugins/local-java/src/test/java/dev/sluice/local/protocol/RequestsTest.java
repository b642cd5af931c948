package dev.sluice.local.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestsTest {
  private static final String ORDER =
      "{'kind':'compaction','scope':'t','setting':{'name':'rate_bytes_per_second','number':5},"
          + "'owner':'a','time_to_live_seconds':5}";

  private final Set<Scope> scopes =
      new HashSet<>(List.of(Scope.SERVER, Scope.ofTable("t"), new Scope("t", "f")));
  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final CountingKind kind = new CountingKind();
  private final Requests requests =
      new Requests(
          new Orders(
              new Description("store", "one", "2.6.4", "0.1.0", 600),
              leases,
              List.of(kind),
              List.of(snapshot -> snapshot.figure("x_bytes", 7)),
              new Scopes(scopes::contains, "There are t and t/f.")));

  private Map<?, ?> send(String line) {
    try {
      byte[] answer = requests.answer(line.getBytes(StandardCharsets.UTF_8));
      return (Map<?, ?>) Json.read(new String(answer, StandardCharsets.UTF_8));
    } catch (JsonException e) {
      throw new AssertionError("the answer is not JSON", e);
    }
  }

  private Map<?, ?> call(String method, String params) {
    return send(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}"
            .formatted(method, params.replace('\'', '"')));
  }

  private Map<?, ?> result(String method, String params) {
    Map<?, ?> answer = call(method, params);
    Map<?, ?> result = (Map<?, ?>) answer.get("result");
    assertNotNull(result, answer::toString);
    return result;
  }

  private double errorCode(Map<?, ?> answer) {
    Map<?, ?> error = (Map<?, ?>) answer.get("error");
    assertNotNull(error, answer::toString);
    return (Double) error.get("code");
  }

  @Test
  void describeListsWhatCanBeOrdered() {
    Map<?, ?> result = result("describe", "{'protocol_version':{'major':1,'minor':7}}");
    Map<?, ?> capability = (Map<?, ?>) ((List<?>) result.get("capabilities")).get(0);
    assertEquals("compaction", capability.get("kind"));
    assertEquals(
        List.of("rate_bytes_per_second", "hold", "full", "stock"), capability.get("settings"));
    assertEquals(true, capability.get("can_start"));
    assertEquals(List.of("minor", "major"), capability.get("variants"));
    assertEquals(true, capability.get("can_abort"));
  }

  @Test
  void anotherMajorVersionIsRefusedBeforeAllElse() {
    Map<?, ?> answer = call("describe", "{'protocol_version':{'major':2,'minor':3,'new':1},'x':1}");
    assertEquals(-32007, errorCode(answer));
    String message = (String) ((Map<?, ?>) answer.get("error")).get("message");
    assertTrue(message.contains("1.3") && message.contains("2.3"), message);
  }

  @Test
  void setGivesALeaseThatTheSnapshotShows() {
    Map<?, ?> lease = (Map<?, ?>) result("set", ORDER).get("lease");
    assertEquals("t", lease.get("scope"));
    assertEquals(Map.of("name", "rate_bytes_per_second", "number", 5.0), lease.get("setting"));
    Map<?, ?> snapshot = result("snapshot", "{}");
    assertEquals(List.of(lease), snapshot.get("leases"));
    assertEquals(1, ((List<?>) snapshot.get("tasks")).size());
    assertEquals(1, ((List<?>) snapshot.get("debts")).size());
    assertEquals(1, ((List<?>) snapshot.get("latencies")).size());
    Map<?, ?> ofScope = (Map<?, ?>) ((List<?>) snapshot.get("scope_latencies")).get(0);
    assertEquals("t", ofScope.get("scope"));
    assertEquals("read", ofScope.get("class"));
    assertEquals(Map.of("x_bytes", 7.0), snapshot.get("figures"));
    clock.advanceSeconds(5);
    assertEquals(List.of(), result("snapshot", "{}").get("leases"));
  }

  @Test
  void anotherOwnersOrderIsAConflictUnlessItReplaces() {
    result("set", ORDER);
    assertEquals(-32002, errorCode(call("set", ORDER.replace("'a'", "'b'"))));
    result("set", ORDER.replace("'a'", "'b','replace':true"));
  }

  @Test
  void clearEndsLeases() {
    result("set", ORDER);
    assertEquals(0.0, result("clear", "{'owner':'b'}").get("cleared"));
    assertEquals(
        1.0, result("clear", "{'owner':'a','kind':'compaction','scope':'t'}").get("cleared"));
  }

  @Test
  void aLeaseOnWhatHasGoneCanBeClearedAndItsEndIsNoError() {
    result("set", ORDER);
    scopes.remove(Scope.ofTable("t"));
    String params = "{'owner':'a','kind':'compaction','scope':'t'}";
    assertEquals(1.0, result("clear", params).get("cleared"));
    assertEquals(0.0, result("clear", params).get("cleared"));
    assertEquals(-32004, errorCode(call("set", ORDER)));
  }

  @Test
  void startWithASettingGivesBothOrNeither() {
    result("start", ORDER);
    assertEquals(List.of(Scope.ofTable("t")), kind.started);
    assertEquals(1, leases.all().size());
    kind.refusesStart = true;
    assertEquals(-32003, errorCode(call("start", ORDER.replace("5}", "9}"))));
    assertEquals(5.0, leases.all().get(0).setting().number());
    leases.clear("a");
    assertEquals(-32003, errorCode(call("start", ORDER)));
    assertEquals(List.of(), leases.all());
  }

  @Test
  void aStartThatIsRefusedTakesNoOtherOrderBack() {
    result("set", ORDER);
    kind.refusesStart = true;
    kind.meanwhile =
        () -> {
          kind.meanwhile = () -> {};
          result("set", ORDER.replace("'number':5", "'number':7"));
        };
    assertEquals(-32003, errorCode(call("start", ORDER)));
    assertEquals(7.0, leases.all().get(0).setting().number());
  }

  @Test
  void aStartThatFailsLeavesNoLease() {
    kind.failsToStart = true;
    assertEquals(-32603, errorCode(call("start", ORDER)));
    assertEquals(List.of(), leases.all());
  }

  @Test
  void whatThisVersionOfTheStoreHasNotIsAFaultToo() {
    kind.isOfAnotherVersion = true;
    assertEquals(-32603, errorCode(call("snapshot", "{}")));
    assertEquals(-32603, errorCode(call("start", ORDER)));
    assertEquals(List.of(), leases.all());
  }

  @Test
  void startWithoutASettingGivesNoLease() {
    assertEquals(
        Map.of(), result("start", "{'kind':'compaction','owner':'a','time_to_live_seconds':1}"));
    assertEquals(List.of(), leases.all());
  }

  @Test
  void aVariantIsPassedOn() {
    result("start", ORDER.replace("'kind'", "'variant':'minor','kind'"));
    result("start", ORDER);
    assertEquals(List.of("minor", ""), kind.variantsStarted);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "start | 'variant':7 | -32602",
        "start | 'variant':'Minor' | -32602",
        "start | 'variant':'' | -32602",
        "start | 'variant':'no-such' | -32001",
        "start | 'variant':'no-such','scope':'none' | -32001",
        "set | 'variant':'minor' | -32602",
      })
  void wrongVariantsAreRefused(String method, String members, double code) {
    String order = members.contains("scope") ? ORDER.replace("'scope':'t',", "") : ORDER;
    assertEquals(code, errorCode(call(method, order.replace("'kind'", members + ",'kind'"))));
    assertEquals(List.of(), kind.started);
    assertEquals(List.of(), leases.all());
  }

  @Test
  void aTaskIsAborted() {
    assertEquals(
        Map.of(), result("abort", "{'kind':'compaction','task':'1','owner':'operator/ann'}"));
    assertEquals(List.of("1 by operator/ann"), kind.aborted);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "{'kind':'compaction','task':'2','owner':'a'} | -32004",
        "{'kind':'flush','task':'1','owner':'a'} | -32001",
        "{'kind':'compaction','owner':'a'} | -32602",
        "{'kind':'compaction','task':'1'} | -32602",
        "{'kind':'compaction','task':'','owner':'a'} | -32602",
        "{'kind':'compaction','task':1,'owner':'a'} | -32602",
        "{'kind':'compaction','task':'LONG','owner':'a'} | -32602",
        "{'kind':'compaction','task':'1','owner':'a','scope':''} | -32602",
      })
  void wrongAbortsAreRefused(String params, double code) {
    assertEquals(code, errorCode(call("abort", params.replace("LONG", "x".repeat(256)))));
    assertEquals(List.of(), kind.aborted);
  }

  @Test
  void ordersAreRefusedAtTheStoresLimit() {
    kind.refusesOrders = true;
    assertEquals(-32003, errorCode(call("set", ORDER)));
    assertEquals(List.of(), leases.all());
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "set | {} | -32602",
        "set | {'kind':'compaction','owner':'a','time_to_live_seconds':5} | -32602",
        "start | {'kind':'compaction','owner':'a'} | -32602",
        "snapshot | {'x':1} | -32602",
        "snapshot | [] | -32602",
        "describe | {'protocol_version':{'major':1}} | -32602",
        "describe | {'protocol_version':'1.0'} | -32602",
        "clear | {'owner':'a','scope':''} | -32602",
        "clear | {'owner':'a','kind':'checkpoint'} | -32001",
        "clear | {'owner':'a','kind':'compaction','scope':'none'} | -32004",
        "clear | {'owner':'a','kind':'compaction','scope':'//'} | -32004",
        "jump | {} | -32601",
      })
  void wrongParamsAreRefused(String method, String params, double code) {
    assertEquals(code, errorCode(call(method, params)));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "'a' | '' | -32602",
        "'a' | 7 | -32602",
        "'kind':'compaction' | 'kind':7 | -32602",
        "'kind':'compaction' | 'kind':'Compaction' | -32602",
        "'kind':'compaction' | 'kind':'checkpoint' | -32001",
        "'scope':'t' | 'scope':null | -32602",
        "'scope':'t' | 'scope':'t/none' | -32004",
        "'scope':'t' | 'scope':'t','x':1 | -32602",
        "'number':5 | 'number':0.5 | -32602",
        "'number':5 | 'number':'5' | -32602",
        "'number':5 | 'text':'x' | -32602",
        "'number':5 | 'number':5,'text':'x' | -32602",
        "'rate_bytes_per_second','number':5 | 'hold','number':5 | -32602",
        "'rate_bytes_per_second','number':5 | 'concurrency','number':1.5 | -32602",
        "'rate_bytes_per_second','number':5 | 'concurrency','number':2 | -32001",
        "'rate_bytes_per_second','number':5 | 'no_such','number':5,'text':'x' | -32001",
        "'time_to_live_seconds':5 | 'time_to_live_seconds':0 | -32602",
        "'time_to_live_seconds':5 | 'time_to_live_seconds':1e400 | -32602",
        "'number':5 | 'number':1e400 | -32602",
        "'time_to_live_seconds':5 | 'time_to_live_seconds':600.5 | -32602",
        "'time_to_live_seconds':5 | 'time_to_live_seconds':5,'replace':1 | -32602",
      })
  void wrongOrdersAreRefused(String part, String wrong, double code) {
    assertTrue(ORDER.contains(part));
    assertEquals(code, errorCode(call("set", ORDER.replace(part, wrong))));
    assertEquals(List.of(), leases.all());
  }

  @Test
  void theIdIsRepeated() {
    for (String id : List.of("0", "9007199254740991", "\"\"", "\"x\\u00e9\"")) {
      String line = "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"snapshot\"}";
      byte[] answer = requests.answer(line.getBytes(StandardCharsets.UTF_8));
      String text = new String(answer, StandardCharsets.UTF_8);
      assertTrue(text.contains("\"id\":" + id.replace("\\u00e9", "é") + ","), text);
    }
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "[] | -32600",
        "7 | -32600",
        "{} | -32600",
        "{'id':1.5,'jsonrpc':'2.0','method':'snapshot'} | -32600",
        "{'id':-1,'jsonrpc':'2.0','method':'snapshot'} | -32600",
        "{'id':null,'jsonrpc':'2.0','method':'snapshot'} | -32600",
        "{'id':1,'jsonrpc':'1.0','method':'snapshot'} | -32600",
        "{'id':1,'jsonrpc':'2.0'} | -32600",
        "{'id':1 | -32700",
      })
  void whatIsNoRequestIsRefused(String line, double code) {
    assertEquals(code, errorCode(send(line.replace('\'', '"'))));
  }

  @Test
  void whatIsNotUtf8IsRefused() throws Exception {
    String answer = new String(requests.answer(new byte[] {'"', (byte) 0xff, '"'}));
    assertEquals(-32700, errorCode((Map<?, ?>) Json.read(answer)));
  }

  @Property(tries = 3000)
  void anyParamsGetAnAnswer(@ForAll("methods") String method, @ForAll("params") String params) {
    Map<?, ?> answer = call(method, params);
    if (!answer.containsKey("result")) {
      double code = errorCode(answer);
      assertTrue(code != -32603 && code >= -32768 && code <= -32000, answer::toString);
    }
  }

  @Provide
  Arbitrary<String> methods() {
    return Arbitraries.of("describe", "snapshot", "set", "clear", "start", "abort", "");
  }

  @Provide
  Arbitrary<String> params() {
    Arbitrary<String> value =
        Arbitraries.of(
            "1",
            "-1",
            "1e300",
            "null",
            "true",
            "[]",
            "{}",
            "''",
            "'a'",
            "'compaction'",
            "'t'",
            "'t/f'",
            "{'name':'hold'}",
            "{'name':'full'}",
            "{'name':'rate_bytes_per_second','number':1e300}",
            "{'major':1,'minor':0}",
            "'" + "x".repeat(1100) + "'");
    Arbitrary<String> name =
        Arbitraries.of(
            "kind",
            "scope",
            "setting",
            "owner",
            "time_to_live_seconds",
            "replace",
            "protocol_version",
            "variant",
            "task",
            "x");
    return Arbitraries.maps(name, value)
        .ofMaxSize(7)
        .map(
            members ->
                members.entrySet().stream()
                    .map(member -> "'" + member.getKey() + "':" + member.getValue())
                    .collect(Collectors.joining(",", "{", "}")));
  }
}
