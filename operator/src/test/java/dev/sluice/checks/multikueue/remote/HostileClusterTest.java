package dev.sluice.checks.multikueue.remote;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.access.WorkerCredentials.WorkerEndpoint;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectedWorker;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectionState;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.workload.ScriptedServer;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A worker that sends without end, beside an honest one. */
class HostileClusterTest implements RemoteConnections.Listener, RemoteCollection.Listener {

  private static final RemoteLimits LIMITS = new RemoteLimits(10_000, 1000, 100_000, 1 << 30);
  private static final String EMPTY = "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}";

  private final ScriptedServer liar = new ScriptedServer();
  private final ScriptedServer honest = new ScriptedServer();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledExecutorService delays = Executors.newSingleThreadScheduledExecutor();
  private final List<String> cutOff = new CopyOnWriteArrayList<>();
  private final List<String> jobs = new CopyOnWriteArrayList<>();
  private final Queue<Error> errors = new ConcurrentLinkedQueue<>();
  private final RemoteConnections links =
      new RemoteConnections(
          new ConnectionContext(
              new WorkerClients("a=b", Instant::now, Instant::now),
              threads,
              (delay, task) ->
                  delays.schedule(
                      () -> threads.execute(task), delay.toMillis(), TimeUnit.MILLISECONDS),
              Instant::now,
              WriteGate.open(),
              RequestLimiter.unlimited(),
              LIMITS),
          this);

  HostileClusterTest() throws IOException {}

  @AfterEach
  void close() {
    links.close();
    delays.shutdownNow();
    threads.shutdownNow();
    liar.close();
    honest.close();
  }

  @Override
  public void stateChanged(String cluster) {}

  @Override
  public void cutOff(String cluster) {
    cutOff.add(cluster);
  }

  @Override
  public void workloadChanged(
      String cluster, RemoteObjects.Key key, @Nullable JsonNode before, @Nullable JsonNode after) {}

  @Override
  public void stateChanged() {
    if (!errors.isEmpty()) {
      throw errors.remove();
    }
  }

  @Override
  public void changed(RemoteObjects.Key key, @Nullable JsonNode before, @Nullable JsonNode after) {
    jobs.add(key.name());
    if (key.name().equals("unlinked")) {
      throw new NoClassDefFoundError("intended");
    }
  }

  private static WorkerCredentials credentials(ScriptedServer server) {
    return new WorkerCredentials(
        new WorkerEndpoint(
            java.net.URI.create(server.client().getMasterUrl().toString()), Optional.empty()),
        Optional.of("token"),
        Optional.empty(),
        Optional.empty());
  }

  private WorkerReader connected(String cluster, ScriptedServer server) {
    server.then(200, EMPTY).then(new ScriptedServer.Watch());
    links.use(cluster, credentials(server));
    await().until(() -> links.reader(cluster).isPresent());
    return links.reader(cluster).orElseThrow();
  }

  /** A list of different objects, until the client goes away. */
  private static ScriptedServer.Step withoutEnd() {
    return exchange -> {
      exchange.sendResponseHeaders(200, 0);
      try (OutputStream body = exchange.getResponseBody()) {
        body.write("{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[".getBytes(UTF_8));
        for (int i = 0; true; i++) {
          body.write(
              "{\"metadata\":{\"name\":\"j%d\",\"namespace\":\"n%d\",\"labels\":{\"a\":\"b\"}}},"
                  .formatted(i, i % 10)
                  .getBytes(UTF_8));
        }
      }
    };
  }

  @Test
  void jobsWithoutEndCutTheWorkerOffAndLeaveTheOtherAlone() {
    WorkerReader good = connected("honest", honest);
    WorkerReader bad = connected("liar", liar);
    liar.then(withoutEnd());
    honest.then(
        200,
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["
            + "{\"metadata\":{\"name\":\"mine\",\"namespace\":\"n\",\"labels\":{\"a\":\"b\"}}}]}");
    honest.then(new ScriptedServer.Watch());

    RemoteCollection lies = bad.read("apis/batch/v1/jobs", "a=b", any -> "", this);
    await().until(() -> cutOff.equals(List.of("liar")));

    assertThat(links.state("liar").orElseThrow())
        .isInstanceOfSatisfying(
            ConnectionState.Failing.class,
            failing ->
                assertThat(failing.cause())
                    .isEqualTo("cut off: its objects take more than 100000 bytes" + " together"));
    assertThat(links.reader("liar")).isEmpty();
    lies.close();
    assertThat(lies.objects().keys()).isEmpty();
    RemoteCollection truth = good.read("apis/batch/v1/jobs", "a=b", any -> "x", this);
    await().until(truth::isListed);
    assertThat(truth.objects().with("x")).containsExactly(new RemoteObjects.Key("n", "mine"));
    assertThat(jobs).contains("mine");
    assertThat(links.connected()).containsEntry("honest", true).containsEntry("liar", false);
  }

  @Test
  void aWorkerIsCutOffOnlyForWhatItsPresentConnectionSends() {
    connected("honest", honest);
    ConnectedWorker before = links.worker("honest").orElseThrow();
    links.forget("honest");
    connected("honest", honest);
    connected("liar", liar);

    before.cutOff().accept("an answer of an earlier connection");
    links.worker("liar").orElseThrow().cutOff().accept("an answer without end");

    await().until(() -> cutOff.equals(List.of("liar")));
    assertThat(links.state("liar").orElseThrow())
        .isInstanceOfSatisfying(
            ConnectionState.Failing.class,
            failing -> assertThat(failing.cause()).isEqualTo("cut off: an answer without end"));
    assertThat(links.connected()).containsEntry("honest", true).containsEntry("liar", false);
  }

  @Test
  void whatFailsIsReadAgain() {
    WorkerReader reader = connected("honest", honest);
    honest.then(403, "{\"message\":\"jobs is forbidden\"}").then(200, EMPTY);
    honest.then(new ScriptedServer.Watch());

    RemoteCollection collection = reader.read("apis/batch/v1/jobs", "", any -> "", this);
    await()
        .untilAsserted(
            () ->
                assertThat(collection.lastFailure())
                    .hasValueSatisfying(text -> assertThat(text).contains("jobs is forbidden")));

    await().until(collection::isListed);
    assertThat(collection.lastFailure()).isEmpty();
    collection.close();
  }

  @Test
  void aCollectionWhoseReadingEndsWithAnErrorIsReadAgain() {
    WorkerReader reader = connected("honest", honest);
    errors.add(new NoClassDefFoundError("intended"));
    String items =
        "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":["
            + "{\"metadata\":{\"name\":\"unlinked\",\"namespace\":\"n\"}},"
            + "{\"metadata\":{\"name\":\"linked\",\"namespace\":\"n\"}}]}";
    honest.then(200, items).then(new ScriptedServer.Watch());
    honest.then(200, EMPTY).then(new ScriptedServer.Watch());

    RemoteCollection collection = reader.read("apis/batch/v1/jobs", "", any -> "", this);

    await().until(() -> collection.objects().keys().isEmpty() && jobs.size() == 4);
    assertThat(jobs).containsExactlyInAnyOrder("unlinked", "linked", "unlinked", "linked");
    await().until(() -> collection.lastFailure().isEmpty());
    collection.close();
  }
}
