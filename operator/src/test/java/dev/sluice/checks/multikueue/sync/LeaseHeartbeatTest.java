package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.checks.multikueue.access.WorkerCredentials;
import dev.sluice.checks.multikueue.access.WorkerCredentials.WorkerEndpoint;
import dev.sluice.checks.multikueue.fencing.FenceTimeouts;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteObjects;
import dev.sluice.checks.multikueue.remote.WorkerClients;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.testing.PlayedApi;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The manager's renewals over played answers of one worker's API server. */
class LeaseHeartbeatTest implements RemoteConnections.Listener {

  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final String LEASES = "/apis/coordination.k8s.io/v1/namespaces/system/leases";
  private static final String LEASE = LEASES + "/sluice-fence-me";
  private static final PlayedApi.Answer DONE = new PlayedApi.Answer(200, "{}");
  private static final PlayedApi.Answer FORBIDDEN =
      new PlayedApi.Answer(403, "{\"message\": \"may not\"}");

  private final AtomicReference<Instant> now = new AtomicReference<>(NOON);
  private final AtomicBoolean active = new AtomicBoolean(true);
  private final ConcurrentLinkedQueue<Delayed> delayed = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final PlayedApi api = new PlayedApi();
  private final WriteGate writes = new WriteGate(active::get);
  private final ConnectionContext connectionContext =
      new ConnectionContext(
          new WorkerClients("a=b", now::get, now::get),
          threads,
          (delay, task) -> delayed.add(new Delayed(delay, task)),
          now::get,
          writes);
  private final RemoteConnections links = new RemoteConnections(connectionContext, this);
  private final RemoteClients remoteClients =
      new RemoteClients(links::worker, writes, RequestLimiter.unlimited());
  private final LeaseHeartbeat leaseHeartbeat = renewals(TIMEOUT);

  private record Delayed(Duration after, Runnable task) {}

  LeaseHeartbeatTest() throws IOException {}

  @Override
  public void stateChanged(String cluster) {}

  @Override
  public void workloadChanged(
      String cluster, RemoteObjects.Key key, @Nullable JsonNode before, @Nullable JsonNode after) {}

  @AfterEach
  void close() {
    links.close();
    api.close();
    threads.close();
  }

  private LeaseHeartbeat renewals(Duration timeout) {
    return new LeaseHeartbeat(
        new LeaseHeartbeat.Fence(new FenceTimeouts(timeout), "system", "process", now::get),
        "me",
        remoteClients,
        links,
        connectionContext,
        active::get);
  }

  /** Connects to a worker that has so many Workloads and answers so when it is told. */
  private void connect(int workloads, PlayedApi.Answer patched, PlayedApi.Answer created) {
    play(workloads, patched, created);
    links.use(
        "worker",
        new WorkerCredentials(
            new WorkerEndpoint(api.address(), Optional.empty()),
            Optional.empty(),
            Optional.empty(),
            Optional.empty()));
    await().until(() -> links.connected().equals(Map.of("worker", true)));
    // the first probe of the connection
    await().until(() -> !delayed.isEmpty());
    delayed.clear();
  }

  private void play(int workloads, PlayedApi.Answer patched, PlayedApi.Answer created) {
    String items =
        workloads == 0
            ? ""
            : "{\"metadata\": {\"name\": \"w\", \"namespace\": \"n\", \"resourceVersion\": \"3\","
                + " \"labels\": {\"a\": \"b\"}}}";
    api.play(
        request ->
            switch (request.method()) {
              case "PATCH" -> patched;
              case "POST" -> created;
              default ->
                  new PlayedApi.Answer(
                      200, "{\"metadata\":{\"resourceVersion\":\"3\"},\"items\":[" + items + "]}");
            });
  }

  private List<PlayedApi.Asked> patches() {
    return api.asked("PATCH", LEASE);
  }

  private void untilTold(int times) {
    await().until(() -> patches().size() == times);
  }

  /** Runs what is due after the usual pause, by then. */
  private void passPause() {
    now.updateAndGet(it -> it.plus(new FenceTimeouts(TIMEOUT).renewEvery()));
    Delayed next = delayed.remove();
    assertThat(next.after()).isEqualTo(new FenceTimeouts(TIMEOUT).renewEvery());
    next.task().run();
  }

  private static JsonNode json(String text) throws IOException {
    return new ObjectMapper().readTree(text.replace('\'', '"'));
  }

  private Optional<Duration> stopAfter(String workload) throws IOException {
    return leaseHeartbeat.stopAfter("worker", remoteClients.of("worker"), json(workload));
  }

  @Test
  void aWorkerThatHasSomethingIsToldAgainAndAgain() throws Exception {
    connect(1, DONE, DONE);

    leaseHeartbeat.start();
    untilTold(1);
    assertThat(json(patches().getFirst().body()))
        .isEqualTo(
            json(
                """
                {'metadata': {'name': 'sluice-fence-me', 'namespace': 'system',
                  'labels': {'kueue.x-k8s.io/multikueue-origin': 'me'}},
                 'spec': {'holderIdentity': 'process', 'leaseDurationSeconds': 120,
                  'renewTime': '2026-03-01T12:00:00.000000Z'}}
                """));

    await()
        .until(
            () -> {
              passPause();
              return patches().size() > 1;
            });
    assertThat(json(patches().get(1).body()).at("/spec/renewTime").asText())
        .isGreaterThan("2026-03-01T12:00:00.000000Z");
    assertThat(api.asked("POST", LEASES)).isEmpty();
  }

  @Test
  void theLeaseIsMadeWhereThereIsNone() throws Exception {
    connect(1, new PlayedApi.Answer(404, "{}"), new PlayedApi.Answer(201, "{}"));

    leaseHeartbeat.start();

    await().until(() -> api.asked("POST", LEASES).size() == 1);
    JsonNode made = json(api.asked("POST", LEASES).getFirst().body());
    assertThat(made.path("kind").asText()).isEqualTo("Lease");
    assertThat(made.at("/spec/renewTime").asText()).isEqualTo("2026-03-01T12:00:00.000000Z");
  }

  @Test
  void aWorkerThatHasNothingIsNotToldUntilItHas() throws Exception {
    connect(0, DONE, DONE);

    leaseHeartbeat.start();
    passPause();

    assertThat(patches()).isEmpty();
    assertThat(delayed).hasSize(1);
  }

  @Test
  void whoIsNotActiveTellsNobodyAndEnds() {
    connect(1, DONE, DONE);
    active.set(false);

    leaseHeartbeat.start();

    assertThat(patches()).isEmpty();
    assertThat(delayed).isEmpty();
  }

  @Test
  void aTimeOutThatIsTooShortForAFenceIsNotToldOf() throws Exception {
    connect(1, DONE, DONE);
    LeaseHeartbeat without = renewals(Duration.ofSeconds(2));

    without.start();

    assertThat(delayed).isEmpty();
    assertThat(without.stopAfter("worker", remoteClients.of("worker"), json("{}"))).isEmpty();
    assertThat(patches()).isEmpty();
  }

  @Test
  void aCopyNamesTheFenceOnlyRightAfterAnAnsweredRenewal() throws Exception {
    connect(1, DONE, DONE);
    String pods =
        "{'spec': {'podSets': [{'template': {'spec': {'terminationGracePeriodSeconds': %d}}}]}}";

    assertThat(stopAfter(pods.formatted(10))).contains(Duration.ofSeconds(90));
    assertThat(patches()).hasSize(1);
    assertThat(stopAfter(pods.formatted(30))).contains(Duration.ofSeconds(70));
    assertThat(patches()).hasSize(1);

    now.updateAndGet(it -> it.plus(new FenceTimeouts(TIMEOUT).renewEvery()));
    assertThat(stopAfter("{'spec': {'podSets': [{}]}}")).contains(Duration.ofSeconds(70));
    assertThat(patches()).hasSize(2);
  }

  @Test
  void aWorkerThatRefusesFencesNothingAndIsAskedAgainAfterAMinute() throws Exception {
    connect(1, FORBIDDEN, FORBIDDEN);

    assertThat(stopAfter("{}")).isEmpty();
    now.updateAndGet(it -> it.plusSeconds(59));
    assertThat(stopAfter("{}")).isEmpty();
    assertThat(patches()).hasSize(1);

    play(1, DONE, DONE);
    now.updateAndGet(it -> it.plusSeconds(1));
    assertThat(stopAfter("{}")).isPresent();
    assertThat(patches()).hasSize(2);
  }

  @Test
  void anUnknownAnswerIsNoRenewal() {
    connect(1, new PlayedApi.Answer(500, "{\"message\": \"busy\"}"), DONE);

    assertThatThrownBy(() -> stopAfter("{}"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("busy");
  }

  @Test
  void nothingIsWrittenToAWorkerByAProcessThatDoesNotLead() throws Exception {
    connect(1, DONE, DONE);
    RemoteClient worker = remoteClients.of("worker");
    JsonNode object = json("{'metadata': {'uid': 'u'}}");
    active.set(false);

    assertThatThrownBy(() -> worker.patch(LEASE, object)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> worker.create(LEASES, object)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> worker.delete(LEASE, object)).isInstanceOf(IOException.class);

    assertThat(worker.get(LEASE)).isPresent();
    assertThat(patches()).isEmpty();
    assertThat(api.asked("POST", LEASES)).isEmpty();
    assertThat(api.asked("DELETE", LEASE)).isEmpty();
  }
}
