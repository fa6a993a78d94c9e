package dev.sluice.checks.multikueue.remote;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import dev.sluice.kube.client.ResponseStream.ResponseTimeoutException;
import dev.sluice.workload.ScriptedServer;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RemoteReflectorTest implements RemoteSession.Events {

  private static final String GONE =
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too"
          + " old\"}}\n";

  private final ScriptedServer server = new ScriptedServer();
  private static final RemoteLimits LIMITS = new RemoteLimits(2000, 400, 20_000, 1 << 30);

  private final AtomicInteger unreadable = new AtomicInteger();
  private final RemoteBudget budget =
      new RemoteBudget("site", LIMITS, System::nanoTime, unreadable::incrementAndGet);
  private final RemoteObjects objects = new RemoteObjects(budget, any -> "");
  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-03-01T12:00:00Z"));
  private final RemoteReflector watch =
      new RemoteReflector(
          server.client().getHttpClient(),
          server.client().getMasterUrl().toString(),
          "apis/x/v1/things",
          "origin=me",
          objects,
          now::get);
  private final List<String> told = new CopyOnWriteArrayList<>();
  private final AtomicInteger progress = new AtomicInteger();

  RemoteReflectorTest() throws IOException {}

  @Override
  public void established() {
    told.add("established");
  }

  @Override
  public void progressed() {
    progress.incrementAndGet();
  }

  @Override
  public void changed(RemoteObjects.Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
    String what = before == null ? "+" : after == null ? "-" : "~";
    told.add(what + key.namespace() + "/" + key.name());
    if (key.name().equals("overflow")) {
      throw new StackOverflowError("intended");
    }
  }

  @AfterEach
  void close() {
    watch.close();
    server.close();
  }

  private static String thing(String name, int version) {
    return thing("n", name, version);
  }

  private static String thing(String namespace, String name, int version) {
    return "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"resourceVersion\":\"%d\",\"labels\":{\"origin\":\"me\"},\"managedFields\":[{}]}}"
        .formatted(namespace, name, version);
  }

  private static String page(int version, String next, String... items) {
    return "{\"metadata\":{\"resourceVersion\":\"%d\",\"continue\":\"%s\"},\"items\":[%s]}"
        .formatted(version, next, String.join(",", items));
  }

  private static String event(String type, String object) {
    return "{\"type\":\"%s\",\"object\":%s}\n".formatted(type, object);
  }

  private CompletableFuture<Throwable> run() {
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> end.complete(catchThrowable(() -> watch.run(Duration.ofSeconds(20), this))));
    return end;
  }

  private void awaitTold(String... all) {
    await()
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(() -> assertThat(told).containsExactly(all));
  }

  @Test
  void listsInPagesAndFollows() {
    var open = new ScriptedServer.Watch();
    server.then(200, page(7, "more", thing("a", 1))).then(200, page(8, "", thing("b", 2)));
    server.then(open);
    var end = run();

    awaitTold("+n/a", "+n/b", "established");
    assertThat(server.asked())
        .extracting(ScriptedServer.Asked::uri)
        .containsExactly(
            "/apis/x/v1/things?labelSelector=origin%3Dme&limit=500",
            "/apis/x/v1/things?labelSelector=origin%3Dme&limit=500&continue=more",
            "/apis/x/v1/things?labelSelector=origin%3Dme&watch=true&allowWatchBookmarks=true"
                + "&resourceVersion=7&timeoutSeconds=300");

    open.send(event("MODIFIED", thing("a", 9)))
        .send(event("MODIFIED", thing("a", 9)))
        .send(event("DELETED", thing("b", 10)))
        .send(event("ADDED", thing("c", 11)));
    awaitTold("+n/a", "+n/b", "established", "~n/a", "-n/b", "+n/c");
    assertThat(objects.find(new RemoteObjects.Key("n", "a")).orElseThrow().toString())
        .contains("\"9\"")
        .doesNotContain("managedFields");
    assertThat(end).isNotDone();
  }

  @Test
  void goesOnWhereAWatchEndedInGoodOrder() {
    var first = new ScriptedServer.Watch();
    var second = new ScriptedServer.Watch();
    server.then(200, page(7, "")).then(first).then(second);
    var end = run();
    awaitTold("established");

    first.send(event("BOOKMARK", thing("", 42))).end();
    await().until(() -> server.asked().size() == 3);
    second.send(event("ADDED", thing("a", 43)));

    awaitTold("established", "+n/a");
    assertThat(server.asked().getLast().uri()).contains("resourceVersion=42");
    assertThat(end).isNotDone();
  }

  @Test
  void listsAgainWhenTheServerHasForgottenTheVersion() {
    var first = new ScriptedServer.Watch();
    server.then(200, page(7, "", thing("a", 1), thing("b", 2))).then(first);
    server.then(200, page(50, "", thing("b", 2))).then(new ScriptedServer.Watch());
    var end = run();
    awaitTold("+n/a", "+n/b", "established");

    first.send(GONE);

    awaitTold("+n/a", "+n/b", "established", "-n/a");
    assertThat(end).isNotDone();
  }

  @Test
  void failsWhenTheServerForgetsAllVersionsAtOnce() throws Exception {
    for (int i = 0; i < 4; i++) {
      server.then(200, page(7 + i, "")).then(410, "{}");
    }

    assertThat(run().get()).isInstanceOf(IOException.class).hasMessageContaining("forgets");
    assertThat(server.asked()).hasSize(8);
    assertThat(progress).hasValue(0);
  }

  @Test
  void failsWithoutProgressWhenVersionsAreForgottenInTheStream() throws Exception {
    for (int i = 0; i < 4; i++) {
      server.then(200, page(7 + i, "")).then(new ScriptedServer.Watch().send(GONE).end());
    }

    assertThat(run().get()).isInstanceOf(IOException.class).hasMessageContaining("forgets");
    assertThat(told).containsExactly("established");
    assertThat(progress).hasValue(0);
  }

  @Test
  void listsAgainAsOftenAsVersionsAreForgottenAfterEvents() {
    for (int i = 0; i < 6; i++) {
      server.then(200, page(7 + 2 * i, ""));
      server.then(
          new ScriptedServer.Watch().send(event("ADDED", thing("a", 8 + 2 * i))).send(GONE).end());
    }
    server.then(200, page(50, "")).then(new ScriptedServer.Watch());
    var end = run();

    await().until(() -> server.asked().size() == 14);
    assertThat(end).isNotDone();
    assertThat(progress).hasValue(1);
  }

  @Test
  void failsWhenTheServerSaysNo() throws Exception {
    server.then(403, "{\"message\":\"workloads is forbidden\"}");

    assertThat(run().get())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("HTTP 403")
        .hasMessageContaining("forbidden");
    assertThat(told).isEmpty();
  }

  @Test
  void failsWhenTheWatchBreaksAndNobodyAnswers() throws Exception {
    var first = new ScriptedServer.Watch();
    server.then(200, page(7, "", thing("a", 1))).then(first);
    var end = run();
    awaitTold("+n/a", "established");

    server.then(500, "{}");
    first.send(event("BOOKMARK", thing("", 42))).end();

    assertThat(end.get()).isInstanceOf(IOException.class).hasMessageContaining("HTTP 500");
    assertThat(objects.keys()).hasSize(1);
  }

  @Test
  void failsWhenAWatchEndsAtOnceAgainAndAgain() throws Exception {
    server.then(200, page(7, "")).then(new ScriptedServer.Watch().end());

    assertThat(run().get()).isInstanceOf(IOException.class).hasMessage("the watch ended at once");
    assertThat(progress).hasValue(0);
  }

  @Test
  void failsWhenNothingIsHeard() throws Exception {
    server.then(200, page(7, "")).then(new ScriptedServer.Watch());
    var end = run();
    awaitTold("established");

    watch.probe();
    assertThat(end).isNotDone();
    now.updateAndGet(time -> time.plusSeconds(151));
    watch.probe();

    assertThat(end.get()).isInstanceOf(IOException.class);
    assertThat(progress).as("the watch lasted").hasValue(1);
  }

  @Test
  void endsInSilenceWhenItIsClosed() throws Exception {
    server.then(200, page(7, "")).then(new ScriptedServer.Watch());
    var end = run();
    awaitTold("established");

    watch.close();

    assertThat(end.get()).isNull();
  }

  private void assertCutOff(CompletableFuture<Throwable> end, String why) throws Exception {
    assertThat(end.get()).isInstanceOf(RemoteLimitException.class).hasMessageContaining(why);
  }

  @Test
  void aListWithoutEndCutsTheWorkerOff() throws Exception {
    server.then(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream body = exchange.getResponseBody()) {
            body.write("{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[".getBytes(UTF_8));
            for (int i = 0; true; i++) {
              body.write((thing("n" + i % 10, "x" + i, i) + ",").getBytes(UTF_8));
            }
          }
        });

    assertCutOff(run(), "take more than 20000 bytes together");
    assertThat(budget.kept()).isLessThanOrEqualTo(20_000);
  }

  @Test
  void theSameObjectWithoutEndCutsTheWorkerOff() throws Exception {
    server.then(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream body = exchange.getResponseBody()) {
            body.write("{\"items\":[".getBytes(UTF_8));
            while (true) {
              body.write((thing("x", 1) + ",").getBytes(UTF_8));
            }
          }
        });

    assertCutOff(run(), "a list of more than 80000 bytes");
  }

  @Test
  void pagesWithoutEndCutTheWorkerOff() throws Exception {
    for (int i = 0; i < 10; i++) {
      server.then(200, page(7, "more"));
    }

    assertCutOff(run(), "a list of more than 2 pages");
    assertThat(server.asked()).hasSize(2);
  }

  @Test
  void aLineWithoutEndCutsTheWorkerOff() throws Exception {
    server.then(200, page(7, ""));
    server.then(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream body = exchange.getResponseBody()) {
            while (true) {
              body.write("x".repeat(1000).getBytes(UTF_8));
            }
          }
        });

    assertCutOff(run(), "a line of more than");
  }

  @Test
  void eventsOfMoreAndMoreObjectsCutTheWorkerOff() throws Exception {
    var open = new ScriptedServer.Watch();
    server.then(200, page(7, "")).then(open);
    var end = run();
    for (int i = 0; i < 100; i++) {
      open.send(event("ADDED", thing("n" + i % 10, "x" + i, i)));
    }

    assertCutOff(end, "take more than 20000 bytes together");
  }

  /** Whoever may make jobs in one namespace says how many there are, and how large. */
  @Test
  void oneNamespaceHasAShareAndTheWorkerIsNotCutOffForIt() {
    var open = new ScriptedServer.Watch();
    List<String> all = new ArrayList<>();
    for (int i = 0; i < 800; i++) {
      all.add(thing("greedy", "x" + i, i + 100));
    }
    all.add(thing("a", 900));
    server.then(200, page(7, "", all.toArray(String[]::new))).then(open);
    var end = run();
    await().until(() -> told.contains("established"));
    assertThat(told).contains("+n/a");
    long ofAll = budget.kept();
    assertThat(ofAll).isLessThan(LIMITS.keptBytes());
    assertThat(unreadable.get()).isEqualTo(800 - objects.keys().size() + 1);

    for (int i = 0; i < 100; i++) {
      open.send(event("ADDED", thing("greedy", "y" + i, i + 1000)));
    }
    open.send(event("ADDED", thing("b", 2000)));
    await().until(() -> told.contains("+n/b"));
    assertThat(objects.find(new RemoteObjects.Key("greedy", "y0"))).isEmpty();

    open.send(event("DELETED", thing("greedy", "x0", 2001)))
        .send(event("ADDED", thing("greedy", "z", 2002)));
    await().until(() -> told.contains("+greedy/z"));
    assertThat(end).isNotDone();
  }

  @Test
  void whatIsDeletedIsGivenBack() {
    var open = new ScriptedServer.Watch();
    server.then(200, page(7, "")).then(open);
    var end = run();
    for (int i = 0; i < 200; i++) {
      open.send(event("ADDED", thing("x", i))).send(event("DELETED", thing("x", i)));
    }
    open.send(event("ADDED", thing("last", 300)));

    await().until(() -> objects.find(new RemoteObjects.Key("n", "last")).isPresent());
    assertThat(end).isNotDone();
    assertThat(budget.kept()).isLessThan(600);
  }

  @Test
  void oneBadObjectOfAListIsLeftOut() {
    String deep =
        "{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\"},\"x\":%s%s}"
            .formatted("[".repeat(250), "]".repeat(250));
    String many = "{\"metadata\":{\"name\":\"c\"},\"x\":[%s]}".formatted("1,".repeat(500) + "1");
    String large = "{\"metadata\":{\"name\":\"d\"},\"x\":\"%s\"}".formatted("x".repeat(3000));
    server.then(
        200,
        page(
            7,
            "",
            thing("a", 1),
            deep,
            many,
            large,
            "{\"metadata\":nonsense}",
            "{}",
            "{\"metadata\":{\"name\":7,\"labels\":{\"origin\":\"me\"}}}",
            thing("z", 2)));
    server.then(new ScriptedServer.Watch());
    var end = run();

    awaitTold("+n/a", "+/7", "+n/z", "established");
    assertThat(end).isNotDone();
    assertThat(unreadable).hasValue(5);
  }

  @Test
  void objectsThatWereNotAskedForEndTheReading() {
    server.then(200, page(7, "", thing("a", 1), thing("b", 2).replace("\"me\"", "\"other\"")));
    var end = run();

    assertThat(end.join())
        .isInstanceOf(RemoteLimitException.class)
        .hasMessage(
            "apis/x/v1/things: objects without the label origin=me, which were not asked for");
    assertThat(told).containsExactly("+n/a");
  }

  @Test
  void oneBadObjectOfAWatchLeavesTheLastKnownOne() {
    var open = new ScriptedServer.Watch();
    server.then(200, page(7, "", thing("a", 1))).then(open);
    var end = run();
    awaitTold("+n/a", "established");

    open.send(
            event(
                "MODIFIED",
                "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"x\":%s%s}"
                    .formatted("[".repeat(250), "]".repeat(250))))
        .send(event("MODIFIED", "[]"))
        .send("{\"type\":\n")
        .send(event("MODIFIED", "{\"x\":\"" + "x".repeat(3000) + "\"}"))
        .send(event("ADDED", thing("b", 2)));

    awaitTold("+n/a", "established", "+n/b");
    assertThat(objects.find(new RemoteObjects.Key("n", "a"))).isPresent();
    assertThat(end).isNotDone();
    assertThat(unreadable).hasValue(4);
  }

  @Test
  void aListenerThatFailsAtOneObjectDoesNotEndTheReading() {
    var open = new ScriptedServer.Watch();
    server.then(200, page(7, "", thing("overflow", 1), thing("a", 1))).then(open);
    var end = run();
    open.send(event("MODIFIED", thing("overflow", 8)))
        .send(event("DELETED", thing("overflow", 9)))
        .send(event("DELETED", thing("a", 10)));

    awaitTold("+n/overflow", "+n/a", "established", "~n/overflow", "-n/overflow", "-n/a");
    assertThat(end).isNotDone();
    assertThat(unreadable).hasValue(0);
  }

  @Test
  void anEmptyStoreFollowsAListThatAnUnreadableObjectIsIn() {
    var first = new ScriptedServer.Watch();
    server.then(200, page(7, "", thing("a", 1), thing("b", 1))).then(first);
    String deep =
        "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"x\":%s%s}"
            .formatted("[".repeat(250), "]".repeat(250));
    server.then(200, page(50, "", deep)).then(new ScriptedServer.Watch());
    var end = run();
    awaitTold("+n/a", "+n/b", "established");

    first.send(GONE);

    awaitTold("+n/a", "+n/b", "established", "-n/b");
    assertThat(end).isNotDone();
  }

  @Test
  void aListThatDripsIsCutAtItsTime() throws Exception {
    var list = new ScriptedServer.Watch();
    server.then(list);
    var end = run();
    list.send("{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[");
    await().until(() -> server.asked().size() == 1);

    now.updateAndGet(time -> time.plusSeconds(21));
    list.send(thing("a", 1) + ",");

    assertThat(end.get()).isInstanceOf(ResponseTimeoutException.class);
  }

  @Test
  void aListThatFallsSilentIsCutAtItsTime() throws Exception {
    var list = new ScriptedServer.Watch();
    server.then(list);
    var end = run();
    list.send("{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" + thing("a", 1));
    awaitTold("+n/a");

    watch.probe();
    assertThat(end).isNotDone();
    now.updateAndGet(time -> time.plusSeconds(21));
    watch.probe();

    assertThat(end.get()).isInstanceOf(ResponseTimeoutException.class);
  }

  @Test
  void aWatchThatDripsIsSilent() throws Exception {
    var open = new ScriptedServer.Watch();
    server.then(200, page(7, "")).then(open);
    var end = run();
    awaitTold("established");

    open.send("{");
    now.updateAndGet(time -> time.plusSeconds(100));
    open.send("\"type\":");
    watch.probe();
    assertThat(end).isNotDone();
    now.updateAndGet(time -> time.plusSeconds(51));
    open.send("\"A");
    watch.probe();

    assertThat(end.get())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("nothing was heard for 150s");
  }
}
