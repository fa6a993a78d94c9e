package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.ReconcileState.StatusThrottle;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.workload.ScriptedServer;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is written to the manager's Job about the one in a worker, request by request. */
class JobStatusSyncTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final MultiKueueKind JOB = MultiKueueKind.of(new BatchJob()).orElseThrow();
  private static final RemoteWorkloadContext.Owner OWNER =
      new RemoteWorkloadContext.Owner(JOB, "small");
  private static final String PATH = "/apis/batch/v1/namespaces/physics/jobs/small";
  private static final Duration SOON = Duration.ofSeconds(2);

  private final ScriptedServer manager = new ScriptedServer();
  private final ReconcileState notes = new ReconcileState();
  private Instant now = NOW;
  private boolean awaited;
  private final JobStatusSync sync =
      new JobStatusSync(
          new RemoteClient(
              manager.client(), WriteGate.open(), RequestLimiter.unlimited(), reason -> {}),
          workload -> awaited);

  JobStatusSyncTest() throws IOException {}

  @AfterEach
  void stop() {
    manager.close();
  }

  private static ObjectNode json(String text) throws IOException {
    return (ObjectNode) new ObjectMapper().readTree(text.replace('\'', '"'));
  }

  private RemoteWorkloadContext group(String conditions) throws IOException {
    String workload =
        "{'metadata': {'name': 'w', 'namespace': 'physics'}, 'status': {'conditions': [%s]}}"
            .formatted(conditions)
            .replace('\'', '"');
    return new RemoteWorkloadContext(
        MultiKueueKinds.beside(List.of(), List.of(), true),
        new Key("physics", "w"),
        Optional.of(new WorkloadParser().parse(workload.getBytes(StandardCharsets.UTF_8))),
        Optional.of("check"),
        Map.of(),
        now,
        notes);
  }

  private RemoteWorkloadContext admitted() throws IOException {
    return group("");
  }

  private RemoteWorkloadContext evicted() throws IOException {
    return group(
        "{'type': 'Evicted', 'status': 'True', 'reason': 'Preempted', 'message': '',"
            + " 'lastTransitionTime': '2026-03-01T11:00:00Z'}");
  }

  /** The manager's Job, of a queue whose Workloads never run in the manager. */
  private static ObjectNode local(boolean suspended, String status) throws IOException {
    return json(
        "{'metadata': {'resourceVersion': '7'}, 'spec': {'suspend': %s}, 'status': {%s}}"
            .formatted(suspended, status));
  }

  /** The manager's Job that might have run in the manager, with this annotation. */
  private static ObjectNode mayRunHere(Optional<String> remote) throws IOException {
    ObjectNode job = local(true, "");
    ObjectNode annotations = job.withObject("/metadata/annotations");
    annotations.put("sluice.dev/may-run-here", "true");
    remote.ifPresent(status -> annotations.put("sluice.dev/remote-status", status));
    return job;
  }

  private static ObjectNode there(boolean suspended, String status) throws IOException {
    return json("{'spec': {'suspend': %s}, 'status': {%s}}".formatted(suspended, status));
  }

  /** Expects one more patch, which succeeds. */
  private void expect() {
    manager.then(200, "{}");
  }

  private static ScriptedServer.Asked patch(String path, String body) throws IOException {
    return new ScriptedServer.Asked("PATCH", path, json(body).toString());
  }

  private static ScriptedServer.Asked annotation(String value) throws IOException {
    return patch(
        PATH,
        "{'metadata': {'annotations': {'sluice.dev/remote-status': %s}, 'resourceVersion': '7'}}"
            .formatted(value));
  }

  private List<ScriptedServer.Asked> asked() {
    return manager.asked().stream()
        .map(
            it ->
                new ScriptedServer.Asked(it.method(), it.uri().replaceAll("[?].*", ""), it.body()))
        .toList();
  }

  @Test
  void theStatusOfAJobThatIsReleasedFollowsTheWorkers() throws Exception {
    expect();
    Optional<Duration> again =
        sync.sync(admitted(), OWNER, local(false, "'active': 1"), there(false, "'active': 2"));

    assertThat(again).isEmpty();
    assertThat(asked())
        .containsExactly(
            patch(
                PATH + "/status",
                "{'status': {'active': 2}, 'metadata': {'resourceVersion': '7'}}"));
  }

  private Optional<Duration> follow(ObjectNode local, ObjectNode there) throws IOException {
    return sync.follow(admitted(), OWNER, local, there);
  }

  @Test
  void theChangesOfFiveSecondsAreOneWriteAndTheEndIsWrittenAtOnce() throws Exception {
    assertThat(follow(local(false, ""), there(false, "'active': 2")))
        .contains(Duration.ofSeconds(5));
    now = NOW.plusSeconds(4);
    assertThat(follow(local(false, ""), there(false, "'active': 2, 'ready': 2")))
        .contains(Duration.ofSeconds(1));
    assertThat(asked()).isEmpty();
    now = NOW.plusSeconds(5);
    expect();
    assertThat(follow(local(false, ""), there(false, "'active': 2, 'ready': 2"))).isEmpty();
    assertThat(asked()).hasSize(1);
    assertThat(asked().getFirst().body()).contains("\"active\":2", "\"ready\":2");

    ObjectNode written = local(false, "'active': 2, 'ready': 2");
    assertThat(follow(written, there(false, "'active': 2, 'ready': 1")))
        .contains(StatusThrottle.MERGED_FOR);
    expect();
    String end = "'succeeded': 2, 'conditions': [{'type': 'Complete', 'status': 'True'}]";
    assertThat(follow(written, there(false, end))).isEmpty();
    assertThat(asked()).hasSize(2);
    assertThat(asked().getLast().body()).contains("\"Complete\"");
  }

  @Test
  void aChangeThatIsUndoneInTimeIsNotWritten() throws Exception {
    assertThat(follow(local(false, "'active': 2"), there(false, "'active': 1"))).isPresent();
    now = NOW.plusSeconds(3);
    assertThat(follow(local(false, "'active': 2"), there(false, "'active': 2"))).isEmpty();
    now = NOW.plusSeconds(6);
    assertThat(follow(local(false, "'active': 2"), there(false, "'active': 1")))
        .contains(Duration.ofSeconds(5));
    assertThat(asked()).isEmpty();
  }

  @Test
  void aJobThatIsReleasedInTimeIsNotToldToBeSuspended() throws Exception {
    assertThat(follow(local(true, ""), there(false, "'active': 2"))).contains(SOON);
    now = NOW.plusSeconds(2);
    assertThat(follow(local(false, ""), there(false, "'active': 2")))
        .contains(Duration.ofSeconds(3));
    assertThat(asked()).isEmpty();
  }

  @Test
  void aJobThatStaysSuspendedIsToldToBe() throws Exception {
    assertThat(follow(local(true, ""), there(false, "'active': 2"))).contains(SOON);
    now = NOW.plusSeconds(6);
    expect();
    assertThat(follow(local(true, ""), there(false, "'active': 2"))).contains(SOON);
    assertThat(asked()).hasSize(1);
    assertThat(asked().getFirst().body()).contains("\"Suspended\"").doesNotContain("active");
  }

  @Test
  void whatSomebodyWaitsForIsWrittenAtOnce() throws Exception {
    awaited = true;
    expect();
    assertThat(follow(local(false, ""), there(false, "'active': 2"))).isEmpty();
    awaited = false;
    expect();
    assertThat(follow(mayRunHere(Optional.of("{}")), there(false, "'active': 2"))).isEmpty();
    assertThat(asked()).hasSize(2);
  }

  @Test
  void whoWaitsForPodsIsNotToldThatTheJobIsStillSuspended() throws Exception {
    awaited = true;
    assertThat(follow(local(true, ""), there(false, "'active': 2"))).contains(SOON);
    now = NOW.plusSeconds(2);
    expect();
    assertThat(follow(local(false, ""), there(false, "'active': 2"))).isEmpty();
    assertThat(asked()).hasSize(1);
    assertThat(asked().getFirst().body()).contains("\"active\":2");
  }

  @Test
  void nothingIsWrittenTwice() throws Exception {
    sync.sync(admitted(), OWNER, local(false, "'active': 2"), there(false, "'active': 2"));
    sync.sync(
        admitted(), OWNER, mayRunHere(Optional.of("{\"active\":2}")), there(false, "'active': 2"));
    sync.announce(admitted(), OWNER, mayRunHere(Optional.of("{}")));
    assertThat(asked()).isEmpty();
  }

  @Test
  void podsAreNotToldOfWhileTheManagersJobIsSuspended() throws Exception {
    expect();
    Optional<Duration> again =
        sync.sync(admitted(), OWNER, local(true, ""), there(false, "'active': 2"));

    assertThat(again).contains(SOON);
    assertThat(asked())
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.uri()).isEqualTo(PATH + "/status");
              assertThat(it.body()).contains("\"Suspended\"").doesNotContain("active");
            });
  }

  @Test
  void aJobThatMayRunInTheManagerKeepsItsStatusAndIsAnnotated() throws Exception {
    expect();
    sync.announce(admitted(), OWNER, mayRunHere(Optional.empty()));
    expect();
    sync.sync(admitted(), OWNER, mayRunHere(Optional.of("{}")), there(false, "'active': 2"));

    assertThat(asked()).containsExactly(annotation("'{}'"), annotation("'{\\'active\\':2}'"));
  }

  @Test
  void onlyAJobThatMayRunInTheManagerIsAnnounced() throws Exception {
    sync.announce(admitted(), OWNER, local(true, ""));
    assertThat(asked()).isEmpty();
  }

  @Test
  void itsEndIsItsStatusAndTheAnnotationGoes() throws Exception {
    expect();
    expect();
    sync.sync(
        admitted(),
        OWNER,
        mayRunHere(Optional.of("{\"active\":2}")),
        there(false, "'succeeded': 2, 'conditions': [{'type': 'Complete', 'status': 'True'}]"));

    assertThat(asked()).hasSize(2);
    assertThat(asked().getFirst().uri()).isEqualTo(PATH + "/status");
    assertThat(asked().getFirst().body()).contains("\"Complete\"", "\"succeeded\":2");
    assertThat(asked().getLast())
        .isEqualTo(
            patch(PATH, "{'metadata': {'annotations': {'sluice.dev/remote-status': null}}}"));
  }

  @Test
  void theQuotaOfAnEvictedJobIsKeptUntilNoPodRunsInTheWorker() throws Exception {
    ObjectNode annotated = mayRunHere(Optional.of("{\"active\":2}"));
    sync.sync(evicted(), OWNER, annotated, there(true, "'active': 2"));
    sync.sync(evicted(), OWNER, annotated, there(false, "'active': 2"));
    assertThat(asked()).isEmpty();

    expect();
    sync.sync(evicted(), OWNER, annotated, there(true, "'active': 0, 'terminating': 0"));
    assertThat(asked()).containsExactly(annotation("null"));
  }

  @Test
  void whatIsNotInTheWorkerKeepsNoQuotaOnceItIsEvicted() throws Exception {
    ObjectNode annotated = mayRunHere(Optional.of("{}"));
    sync.missing(admitted(), OWNER, annotated);
    sync.missing(evicted(), OWNER, mayRunHere(Optional.empty()));
    sync.missing(evicted(), OWNER, local(true, ""));
    assertThat(asked()).isEmpty();

    expect();
    sync.missing(evicted(), OWNER, annotated);
    assertThat(asked()).containsExactly(annotation("null"));
  }

  @Test
  void podsAreClearedOnlyFromAJobThatIsSuspended() throws Exception {
    assertThat(sync.clear(evicted(), OWNER, local(false, "'active': 2"))).contains(SOON);
    assertThat(asked()).isEmpty();

    expect();
    assertThat(sync.clear(evicted(), OWNER, local(true, "'active': 2, 'succeeded': 1"))).isEmpty();
    assertThat(asked())
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.uri()).isEqualTo(PATH + "/status");
              assertThat(it.body()).contains("\"active\":null").doesNotContain("succeeded");
            });
    assertThat(sync.clear(evicted(), OWNER, local(true, "'active': 0"))).isEmpty();
    assertThat(asked()).hasSize(1);
  }

  @Test
  void aKindOfWhichNobodyKnowsWhetherItIsSuspendedIsNotAskedAgain() throws Exception {
    RemoteWorkloadContext.Owner owner =
        new RemoteWorkloadContext.Owner(
            MultiKueueKinds.external("TheirJob.v1.example.com"), "small");

    assertThat(sync.clear(evicted(), owner, local(false, "'active': 2"))).isEmpty();
    assertThat(asked()).isEmpty();
  }

  @Test
  void theAnnotationIsClearedWhetherSuspendedOrNot() throws Exception {
    expect();
    assertThat(sync.clear(evicted(), OWNER, mayRunHere(Optional.of("{}")))).isEmpty();
    assertThat(asked()).containsExactly(annotation("null"));
  }
}
