package dev.sluice.checks.multikueue.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.workload.ScriptedServer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RemoteReflectorTest implements RemoteSession.Events {

  private static final String GONE =
      "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"message\":\"too"
          + " old\"}}\n";

  private final ScriptedServer server = new ScriptedServer();
  private final RemoteObjects objects = new RemoteObjects();
  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-03-01T12:00:00Z"));
  private final RemoteReflector watch =
      new RemoteReflector(server.client(), "apis/x/v1/things", "origin=me", objects, now::get);
  private final List<String> told = new CopyOnWriteArrayList<>();

  RemoteReflectorTest() throws IOException {}

  @Override
  public void established() {
    told.add("established");
  }

  @Override
  public void changed(RemoteObjects.Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
    String what = before == null ? "+" : after == null ? "-" : "~";
    told.add(what + key.namespace() + "/" + key.name());
  }

  @AfterEach
  void close() {
    watch.close();
    server.close();
  }

  private static String thing(String name, int version) {
    return "{\"metadata\":{\"namespace\":\"n\",\"name\":\"%s\",\"resourceVersion\":\"%d\",\"managedFields\":[{}]}}"
        .formatted(name, version);
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
    assertThat(objects.all()).hasSize(1);
  }

  @Test
  void failsWhenAWatchEndsAtOnceAgainAndAgain() throws Exception {
    server.then(200, page(7, "")).then(new ScriptedServer.Watch().end());

    assertThat(run().get()).isInstanceOf(IOException.class).hasMessage("the watch ended at once");
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
  }

  @Test
  void endsInSilenceWhenItIsClosed() throws Exception {
    server.then(200, page(7, "")).then(new ScriptedServer.Watch());
    var end = run();
    awaitTold("established");

    watch.close();

    assertThat(end.get()).isNull();
  }
}
