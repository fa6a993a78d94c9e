package dev.sluice.kube.reflect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.ScriptedServer.Watch;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a reflector and its store make of lists and watches. */
class ReflectorTest {

  private final ReadErrorLog faults = new ReadErrorLog();
  private final List<String> unreadable = new CopyOnWriteArrayList<>();
  private final List<String> told = new CopyOnWriteArrayList<>();
  private final Store<Thing> store = new Store<>(Thing::of, Thing::owner);
  private ScriptedServer server;
  private Reflector<Store.Item<Thing>> reflector;

  /** What is kept of an object. */
  private record Thing(String name, String owner, String version) {

    static Thing of(JsonNode object) {
      String owner = object.path("spec").path("owner").asText();
      if (owner.equals("overflow")) {
        throw new StackOverflowError("intended");
      }
      if (owner.equals("bad")) {
        throw new IllegalArgumentException("intended");
      }
      JsonNode metadata = object.path("metadata");
      return new Thing(
          metadata.path("name").asText(), owner, metadata.path("resourceVersion").asText());
    }
  }

  @BeforeEach
  void start() throws IOException {
    server = new ScriptedServer();
    faults.listen((fault, news) -> unreadable.add(fault.name()));
    store.observe((before, after) -> told.add(text(before) + ">" + text(after)));
    reflector =
        new Reflectors(server.client(), InstantSource.system(), new Random(1), faults)
            .of("things", "/apis/example.com/v1/things", store);
  }

  @AfterEach
  void stop() {
    reflector.close();
    server.close();
  }

  private static String text(@Nullable Thing thing) {
    return thing == null ? "" : thing.name() + thing.version();
  }

  private static String thing(String name, int version, String owner) {
    return """
    {"metadata": {"namespace": "n", "name": "%s", "uid": "u-%s", "resourceVersion": "%d"},
     "spec": {"owner": "%s"}}
    """
        .formatted(name, name, version, owner)
        .replace("\n", "");
  }

  private static String list(int version, String... items) {
    return """
    {"metadata": {"resourceVersion": "%d"}, "items": [%s]}
    """
        .formatted(version, String.join(",", items));
  }

  private static String event(String type, String object) {
    return "{\"type\":\"" + type + "\",\"object\":" + object + "}\n";
  }

  private static String expired() {
    return event("ERROR", "{\"kind\": \"Status\", \"code\": 410, \"reason\": \"Expired\"}");
  }

  @Test
  void objectsAreFoundByNameAndByIndex() {
    Watch watch = new Watch();
    server.then(200, list(10, thing("a", 1, "x"), thing("b", 2, "x"))).then(watch);

    reflector.start().join();
    assertThat(server.asked().getFirst().uri()).startsWith("/apis/example.com/v1/things?limit=");
    assertThat(store.find("n", "a")).map(Thing::owner).contains("x");
    assertThat(store.with("x")).extracting(Thing::name).containsExactlyInAnyOrder("a", "b");
    assertThat(store.with("")).isEmpty();

    watch.send(event("MODIFIED", thing("a", 11, "y"))).send(event("DELETED", thing("b", 12, "x")));

    await().untilAsserted(() -> assertThat(told).containsExactly(">a1", ">b2", "a1>a11", "b2>"));
    assertThat(store.with("x")).isEmpty();
    assertThat(store.with("y")).extracting(Thing::name).containsExactly("a");
    assertThat(store.find("n", "b")).isEmpty();
  }

  @Test
  void anotherListingTellsOnlyWhatChangedMeanwhile() {
    server
        .then(200, list(10, thing("a", 1, ""), thing("b", 2, ""), thing("c", 3, "")))
        .then(200, expired())
        .then(200, list(20, thing("a", 1, ""), thing("c", 13, "")))
        .then(new Watch());

    reflector.start().join();

    await()
        .untilAsserted(
            () -> assertThat(told).containsExactly(">a1", ">b2", ">c3", "c3>c13", "b2>"));
  }

  @Test
  void anObjectThatCannotBeParsedStaysAsItWasKnown() {
    Watch watch = new Watch();
    server
        .then(200, list(10, thing("a", 1, ""), thing("b", 2, "overflow"), thing("c", 3, "")))
        .then(
            200,
            event("MODIFIED", thing("a", 11, "overflow"))
                + event("MODIFIED", thing("c", 12, "bad"))
                + expired())
        .then(200, list(20, thing("a", 11, "overflow"), thing("c", 12, "bad")))
        .then(watch);

    reflector.start().join();
    await().untilAsserted(() -> assertThat(unreadable).containsExactly("b", "a", "c", "a", "c"));
    assertThat(store.all()).extracting(Thing::name).containsExactlyInAnyOrder("a", "c");

    watch.send(event("DELETED", thing("a", 21, "overflow")));
    watch.send(event("MODIFIED", thing("c", 22, "")));

    await().untilAsserted(() -> assertThat(told).containsExactly(">a1", ">c3", "a1>", "c3>c22"));
  }

  @Test
  void anObserverThatThrowsDoesNotEndTheWatch() {
    store.observe(
        (before, after) -> {
          throw new StackOverflowError("intended");
        });
    store.observe((before, after) -> told.add("last"));
    server.then(200, list(10, thing("a", 1, ""))).then(new Watch());

    reflector.start().join();

    assertThat(told).containsExactly(">a1", "last");
    assertThat(unreadable).isEmpty();
  }
}
