package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.dispatch.Dispatcher;
import dev.sluice.checks.multikueue.fencing.FenceTimeouts;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.PlacementAction;
import dev.sluice.checks.multikueue.placement.WorkloadPlacement.PlacementPlan;
import dev.sluice.checks.multikueue.remote.ConnectionContext;
import dev.sluice.checks.multikueue.remote.RemoteConnections;
import dev.sluice.checks.multikueue.remote.RemoteConnections.ConnectedWorker;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.remote.WorkerClients;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.DispatchListener;
import dev.sluice.checks.multikueue.sync.MultiKueueWorkloadReconciler.LocalPods;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.Fakes;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.client.WriteGate;
import dev.sluice.testing.PlayedApi;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.lifecycle.CheckedAdmission;
import dev.sluice.workload.lifecycle.LifecycleOptions;
import dev.sluice.workload.lifecycle.QueueLookup;
import dev.sluice.workload.lifecycle.QueueLookup.QueueState;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.writing.WorkloadWriter;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What requests a Job that runs in a worker costs, step by step, at the manager and there. */
class RequestsOfARemoteJobTest implements RemoteConnections.Listener {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final String JOB = "/apis/batch/v1/namespaces/physics/jobs/small";
  private static final String COPY = "/apis/kueue.x-k8s.io/v1beta2/namespaces/physics/workloads/w";
  private static final String COMPLETE =
      "'conditions': [{'type': 'Complete', 'status': 'True', 'message': 'done'}]";
  private static final String OF_W =
      "'labels': {'kueue.x-k8s.io/multikueue-origin': 'here'}, 'annotations':"
          + " {'kueue.x-k8s.io/prebuilt-workload-name': 'w'}";

  private final PlayedApi manager = new PlayedApi();
  private final PlayedApi worker = new PlayedApi();
  private final KubernetesClient managerClient = manager.client();
  private final KubernetesClient workerClient = worker.client();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final WriteGate writes = WriteGate.open();
  private final ConnectionContext connectionContext =
      new ConnectionContext(
          new WorkerClients("a=b", () -> NOW, () -> NOW),
          threads,
          (delay, task) -> {},
          () -> NOW,
          writes);
  private final RemoteConnections connections = new RemoteConnections(connectionContext, this);
  private final RemoteClients remoteClients =
      new RemoteClients(
          any -> Optional.of(new ConnectedWorker(workerClient, reason -> {})),
          writes,
          RequestLimiter.unlimited());

  /** What the API servers have, by path. */
  private final Map<String, String> here = new ConcurrentHashMap<>();

  private final Map<String, String> there = new ConcurrentHashMap<>();

  /** What the watches of the worker showed last: the copy of the Workload, and the Job. */
  private Optional<ObjectNode> seenCopy = Optional.empty();

  private Optional<ObjectNode> seenJob = Optional.empty();
  private final List<JsonNode> statuses = new ArrayList<>();
  private final List<String> events = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private final TreeSet<String> required = new TreeSet<>(Set.of("check"));
  private final ReconcileState reconcileState = new ReconcileState();
  private Instant now = NOW;

  /** Of the manager's Workload. */
  private String annotations = "";

  /** Of the manager's Job. */
  private String annotationsOfJob = "";

  private final ActionExecutor executor = executor();

  RequestsOfARemoteJobTest() throws IOException {
    manager.play(request -> answer(here, request));
    worker.play(request -> answer(there, request));
    here.put(COPY, "{'metadata': {'name': 'w', 'namespace': 'physics', 'uid': 'u'}, 'spec': {}}");
    job("'suspend': false", "");
  }

  /** The manager's Job. */
  private void job(String spec, String status) {
    here.put(
        JOB,
        "{'metadata': {'name': 'small', 'namespace': 'physics', 'resourceVersion': '7',"
            + " 'annotations': {"
            + annotationsOfJob
            + "}}, 'spec': {'managedBy': 'kueue.x-k8s.io/multikueue', "
            + spec
            + "}, 'status': {"
            + status
            + "}}");
  }

  private static PlayedApi.Answer answer(Map<String, String> objects, PlayedApi.Asked request) {
    String found = objects.get(request.path());
    return switch (request.method()) {
      case "GET" ->
          found == null
              ? new PlayedApi.Answer(404, "{}")
              : new PlayedApi.Answer(200, found.replace('\'', '"'));
      case "POST" -> new PlayedApi.Answer(201, "{\"metadata\": {\"uid\": \"made\"}}");
      default -> new PlayedApi.Answer(200, "{}");
    };
  }

  private ActionExecutor executor() {
    KnownWorkloads known = new KnownWorkloads(new TreeMap<>());
    return new ActionExecutor(
        new RemoteClient(managerClient, writes, RequestLimiter.unlimited(), reason -> {}),
        remoteClients,
        new Statuses(),
        new OriginLabel("here", true),
        new LeaseHeartbeat(
            new LeaseHeartbeat.Fence(new FenceTimeouts(Duration.ZERO), "system", "p", () -> NOW),
            "here",
            remoteClients,
            connections,
            connectionContext,
            () -> true),
        new Notes(),
        new CheckedAdmission(
            any -> new QueueLookup(QueueState.OPEN, QueueState.OPEN, Optional.of(required)),
            LifecycleOptions.WITHOUT_LIMITS,
            (workload, event) -> events.add(event.reason() + ": " + event.note()),
            () -> now),
        any -> false,
        new PodStatusSync.Pods(new NoPods(), new NoRemotePods()),
        (cluster, kind, job) -> seenJob,
        new JobGroups(known),
        new ElasticSlices(known),
        false);
  }

  /** Records the statuses that are written. */
  private final class Statuses implements WorkloadWriter {
    @Override
    public CompletableFuture<Outcome> patchStatus(
        WorkloadId id, long version, JsonNode status, Urgency urgency) {
      statuses.add(status);
      return CompletableFuture.completedFuture(new Outcome.Written(version + 1));
    }

    @Override
    public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
      throw new AssertionError("not here");
    }

    @Override
    public CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
      throw new AssertionError("not here");
    }

    @Override
    public CompletableFuture<Outcome> delete(WorkloadId id) {
      throw new AssertionError("not here");
    }
  }

  private final class Notes implements DispatchListener {
    @Override
    public void dispatched(CachedWorkload workload, String clusterQueue, String cluster) {}

    @Override
    public void admitted(CachedWorkload workload, String clusterQueue, String cluster) {}

    @Override
    public void requeued(CachedWorkload workload, String clusterQueue, String cluster) {}

    @Override
    public void reported(CachedWorkload workload, boolean warning, String note) {
      notes.add(note);
    }
  }

  private static final class NoPods implements LocalPods {
    @Override
    public List<LocalPod> group(String namespace, String group) {
      return List.of();
    }

    @Override
    public void observe(BiConsumer<String, String> observer) {}
  }

  private static final class NoRemotePods implements PodStatusSync.RemotePods {
    @Override
    public Set<String> clusters() {
      return Set.of();
    }

    @Override
    public List<ObjectNode> of(String cluster, Key workload) {
      return List.of();
    }
  }

  @Override
  public void stateChanged(String cluster) {}

  @Override
  public void workloadChanged(
      String cluster, Key key, @Nullable JsonNode before, @Nullable JsonNode after) {}

  @AfterEach
  void close() {
    connections.close();
    managerClient.close();
    workerClient.close();
    manager.close();
    worker.close();
    threads.close();
  }

  private static ObjectNode json(String text) throws IOException {
    return (ObjectNode) new ObjectMapper().readTree(text.replace('\'', '"'));
  }

  /** The manager's Workload, which has quota, with its checks. */
  private RemoteWorkloadContext context(String checks, String more) throws IOException {
    String workload =
        """
        {'metadata': {'name': 'w', 'namespace': 'physics', 'uid': 'u', 'resourceVersion': '5',
          'annotations': {%s}, 'ownerReferences': [{'apiVersion': 'batch/v1', 'kind': 'Job', 'name': 'small',
            'uid': 'j', 'controller': true}]},
         'spec': {'active': true, 'podSets': []},
         'status': {'admission': {'clusterQueue': 'cq', 'podSetAssignments': []},
           'conditions': [{'type': 'QuotaReserved', 'status': 'True', 'reason': 'QuotaReserved',
             'message': '', 'lastTransitionTime': '2026-03-01T11:59:50Z'}],
           'admissionChecks': [%s]%s}}
        """
            .formatted(annotations, checks, more);
    Map<String, JsonNode> copies = new TreeMap<>();
    seenCopy.ifPresent(copy -> copies.put("a", copy));
    return new RemoteWorkloadContext(
        MultiKueueKinds.beside(List.of(), List.of(), true),
        new Key("physics", "w"),
        Optional.of(
            new WorkloadParser()
                .parse(workload.replace('\'', '"').getBytes(StandardCharsets.UTF_8))),
        Optional.of("check"),
        copies,
        now,
        reconcileState);
  }

  private static String check(String name, String state) {
    return "{'name': '%s', 'state': '%s', 'message': '', 'lastTransitionTime': '2026-03-01T11:59:50Z'}"
        .formatted(name, state);
  }

  private RemoteWorkloadContext waiting() throws IOException {
    return context(check("check", "Pending"), "");
  }

  private RemoteWorkloadContext running() throws IOException {
    return context(check("check", "Ready"), ", 'clusterName': 'a'");
  }

  private static String condition(JsonNode status, String type) {
    for (JsonNode condition : status.path("conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return condition.path("status").asText() + " " + condition.path("reason").asText();
      }
    }
    return "absent";
  }

  private void offered() throws IOException {
    assertThat(executor.act(waiting(), new PlacementAction.Offer("a"))).isEmpty();
    seenCopy = Optional.of(json("{'metadata': {'name': 'w', 'uid': 'made'}}"));
  }

  private void seesJob(String status) throws IOException {
    seenJob =
        Optional.of(
            json(
                "{'metadata': {'name': 'small', 'namespace': 'physics', "
                    + OF_W
                    + "}, 'spec': {'suspend': false}, 'status': {"
                    + status
                    + "}}"));
  }

  private List<PlayedApi.Asked> read() {
    List<PlayedApi.Asked> read = new ArrayList<>(worker.asked("GET", JOB));
    read.addAll(worker.asked("GET", COPY));
    return read;
  }

  /** More may be nominated from outside than count. */
  @Test
  void whoGotACopyIsToldOnce() throws Exception {
    PlacementPlan placementPlan =
        new PlacementPlan(
            List.of(new PlacementAction.Offer("a"), new PlacementAction.Offer("b")),
            Optional.empty());
    executor.tellOffer(waiting(), placementPlan);
    assertThat(notes).isEmpty();

    offered();
    executor.tellOffer(waiting(), placementPlan);
    executor.tellOffer(waiting(), placementPlan);
    assertThat(notes).containsExactly("Offered to worker clusters a");
  }

  /** docs/preemption.md#checkpoints */
  @Test
  void aCheckpointIsRequestedThereAndAnsweredHere() throws Exception {
    offered();
    executor.act(waiting(), new PlacementAction.Run("a"));
    now = now.plusSeconds(1);
    seesJob("'active': 1");
    annotations = "'sluice.dev/checkpoint-requested-at': '2026-03-01T12:00:01Z'";
    executor.act(running(), new PlacementAction.Run("a"));
    assertThat(worker.asked("PATCH", COPY).getLast().body())
        .contains("\"sluice.dev/checkpoint-requested-at\":\"2026-03-01T12:00:01Z\"");

    seenCopy
        .orElseThrow()
        .withObjectProperty("metadata")
        .withObjectProperty("annotations")
        .put("sluice.dev/checkpoint-requested-at", "2026-03-01T12:00:01Z");
    saved("2026-03-01T12:00:05Z");
    int requests = worker.asked("PATCH", COPY).size();
    executor.act(running(), new PlacementAction.Run("a"));
    assertThat(worker.asked("PATCH", COPY)).hasSize(requests);
    assertThat(manager.asked("PATCH", JOB).getLast().body())
        .contains("\"sluice.dev/checkpointed-at\":\"2026-03-01T12:00:05Z\"");

    int answers = manager.asked("PATCH", JOB).size();
    saved("soon");
    executor.act(running(), new PlacementAction.Run("a"));
    assertThat(manager.asked("PATCH", JOB)).hasSize(answers);
  }

  private void saved(String at) {
    seenJob
        .orElseThrow()
        .withObjectProperty("metadata")
        .withObjectProperty("annotations")
        .put("sluice.dev/checkpointed-at", at);
  }

  @Test
  void aShortJobIsReadOnceThereAndCostsTwoWritesHere() throws Exception {
    offered();
    assertThat(executor.act(waiting(), new PlacementAction.Run("a"))).isEmpty();
    assertThat(worker.asked("POST", "/jobs")).hasSize(1);
    assertThat(read()).hasSize(1);
    assertThat(statuses).hasSize(1);
    assertThat(statuses.getFirst().path("clusterName").asText()).isEqualTo("a");
    assertThat(statuses.getFirst().at("/admissionChecks/0/state").asText()).isEqualTo("Ready");
    assertThat(condition(statuses.getFirst(), "Admitted")).isEqualTo("True Admitted");
    assertThat(condition(statuses.getFirst(), "QuotaReserved")).isEqualTo("True QuotaReserved");
    assertThat(events)
        .containsExactly(
            "Admitted: Admitted by ClusterQueue cq, wait time since reservation was 10s");

    // The Workload's change is seen before the Job.
    assertThat(executor.act(running(), new PlacementAction.Run("a"))).isPresent();
    now = now.plusSeconds(1);
    seesJob("'active': 1");
    assertThat(executor.act(running(), new PlacementAction.Run("a"))).isPresent();
    now = now.plusSeconds(2);
    // The end of the Workload is seen before the end of the Job.
    PlacementAction end = new PlacementAction.Finish("a", "Succeeded", "done");
    assertThat(executor.act(running(), end)).contains(Duration.ofSeconds(1));
    seesJob("'succeeded': 1, " + COMPLETE);
    assertThat(executor.act(running(), end)).contains(Duration.ofSeconds(5));

    assertThat(read()).hasSize(1);
    assertThat(statuses).hasSize(1);
    assertThat(manager.asked("PATCH", JOB + "/status")).hasSize(1);
    assertThat(manager.asked("PATCH", JOB + "/status").getFirst().body())
        .contains("\"succeeded\":1");

    // The controller of the Job didn't finish the Workload.
    job("'suspend': false", "'succeeded': 1, " + COMPLETE);
    now = now.plusSeconds(5);
    assertThat(executor.act(running(), end)).isEmpty();
    assertThat(manager.asked("PATCH", JOB + "/status")).hasSize(1);
    assertThat(statuses).hasSize(2);
    assertThat(condition(statuses.getLast(), "Finished")).isEqualTo("True Succeeded");
  }

  /**
   * The manager's Job is started as soon as the check is Ready: what it got from the manager's
   * queues and flavors isn't the worker's.
   */
  @Test
  void aJobThatIsMadeAtTheSecondAttemptHasNothingOfTheStartInTheManager() throws Exception {
    String template =
        "'parallelism': %d, 'template': {'metadata': {'labels': {'app': 'x'%s}},"
            + " 'spec': {'nodeSelector': {'disk': 'ssd'%s}%s}}";
    String before = template.formatted(3, "", "", "");
    here.put(
        COPY,
        "{'metadata': {'name': 'w', 'namespace': 'physics', 'uid': 'u'}, 'spec': {'podSets':"
            + " [{'name': 'main', 'count': 3, "
            + before.substring(before.indexOf("'template'"))
            + "}]}}");
    annotationsOfJob = "'kueue.x-k8s.io/job-min-parallelism': '1'";
    job("'suspend': true, " + before, "");
    offered();
    Set<String> faults = new TreeSet<>(Set.of("webhook"));
    worker.play(
        request ->
            request.path().endsWith("/jobs") && faults.remove("webhook")
                ? new PlayedApi.Answer(500, "{}")
                : answer(there, request));
    assertThatThrownBy(() -> executor.act(waiting(), new PlacementAction.Run("a")))
        .isInstanceOf(IOException.class);
    assertThat(statuses).hasSize(1);

    job(
        "'suspend': false, "
            + template.formatted(
                2,
                ", 'kueue.x-k8s.io/podset': 'main', 'kueue.x-k8s.io/cluster-queue-name': 'cq'",
                ", 'pool': 'ours'",
                ", 'tolerations': [{'key': 'ours'}]"),
        "'startTime': '2026-03-01T12:00:01Z'");
    there.put(COPY, "{'metadata': {'name': 'w', 'uid': 'made'}}");
    executor.act(running(), new PlacementAction.Run("a"));

    List<PlayedApi.Asked> made = worker.asked("POST", "/jobs");
    assertThat(made).hasSize(2);
    assertThat(json(made.getLast().body())).isEqualTo(json(made.getFirst().body()));
    assertThat(json(made.getLast().body()).path("spec"))
        .isEqualTo(json("{'suspend': true, " + before + "}"));
  }

  private List<String> nominated(Dispatcher dispatcher, RemoteWorkloadContext group) {
    return new FirstNominator(
            dispatcher,
            group.kinds(),
            any -> new ClusterCandidates(List.of("c", "a", "b", "lost"), Map.of("c", "no")),
            () -> Set.of("a", "b", "c"),
            new ElasticSlices(new Fakes.SetWorkloads()))
        .of(group.local(), group.local().status().admissionChecks())
        .nominated();
  }

  @Test
  void whoIsAskedIsWrittenWithTheQuotaIfAllAreAskedAtOnceAndNoOtherCheckWaits() throws Exception {
    Dispatcher all = new Dispatcher.AllAtOnce();
    assertThat(nominated(all, waiting())).containsExactly("a", "b");
    assertThat(nominated(all, running())).isEmpty();
    assertThat(nominated(all, context("", ""))).isEmpty();
    assertThat(
            nominated(all, context(check("check", "Pending") + ", " + check("o", "Pending"), "")))
        .isEmpty();
    assertThat(nominated(new Dispatcher.Incremental(1, true), waiting())).isEmpty();
    assertThat(nominated(new Dispatcher.External(), waiting())).isEmpty();
  }

  @Test
  void aWorkloadThatEndedOtherwiseThanItsJobIsFinishedAtOnce() throws Exception {
    seesJob("'succeeded': 1, " + COMPLETE);
    executor.act(running(), new PlacementAction.Finish("a", "Succeeded", "as said there"));
    assertThat(statuses).hasSize(1);
    assertThat(statuses.getFirst().toString()).contains("as said there");
  }

  @Test
  void aJobWhoseEndIsNeverSeenIsReadAfterASecond() throws Exception {
    seesJob("'active': 1");
    PlacementAction end = new PlacementAction.Finish("a", "Succeeded", "done");
    assertThat(executor.act(running(), end)).isPresent();
    assertThat(read()).isEmpty();
    now = now.plusSeconds(1);
    executor.act(running(), end);
    assertThat(read()).hasSize(1);
    assertThat(condition(statuses.getFirst(), "Finished")).isEqualTo("True Succeeded");
  }

  @Test
  void anotherCheckThatIsPendingKeepsItFromBeingAdmitted() throws Exception {
    RemoteWorkloadContext group =
        context(check("check", "Pending") + ", " + check("other", "Pending"), "");
    required.add("other");
    offered();
    executor.act(group, new PlacementAction.Run("a"));
    assertThat(statuses).hasSize(1);
    assertThat(statuses.getFirst().at("/admissionChecks/0/state").asText()).isEqualTo("Ready");
    assertThat(condition(statuses.getFirst(), "Admitted")).isEqualTo("absent");
    assertThat(events).isEmpty();
  }

  @Test
  void aCheckThatTheQueueRequiresMeanwhileKeepsItFromBeingAdmitted() throws Exception {
    required.add("new");
    offered();
    executor.act(waiting(), new PlacementAction.Run("a"));
    assertThat(condition(statuses.getFirst(), "Admitted")).isEqualTo("absent");
    assertThat(events).isEmpty();
  }

  @Test
  void aCopyThatMayHaveHadAJobIsReadBeforeAJobIsMade() throws Exception {
    there.put(COPY, "{'metadata': {'name': 'w', 'uid': 'before', 'ownerReferences': [{}]}}");
    seenCopy = Optional.of(json("{'metadata': {'name': 'w', 'uid': 'before'}}"));
    executor.act(waiting(), new PlacementAction.Run("a"));
    assertThat(worker.asked("GET", COPY)).isNotEmpty();
    assertThat(worker.asked("POST", "/jobs")).isEmpty();
  }

  @Test
  void aJobThatIsGoneAgainIsMadeOnlyIfTheCopySaysThatItHadNone() throws Exception {
    offered();
    executor.act(waiting(), new PlacementAction.Run("a"));
    assertThat(worker.asked("POST", "/jobs")).hasSize(1);
    there.put(COPY, "{'metadata': {'name': 'w', 'uid': 'made', 'ownerReferences': [{}]}}");
    now = now.plusSeconds(3);
    executor.act(running(), new PlacementAction.Run("a"));
    assertThat(worker.asked("POST", "/jobs")).hasSize(1);
  }

  @Test
  void aCopyWhoseJobIsGoneIsWithdrawn() throws Exception {
    offered();
    executor.act(waiting(), new PlacementAction.Run("a"));
    there.put(
        COPY, "{'metadata': {'name': 'w', 'uid': 'made', " + OF_W + ", 'ownerReferences': [{}]}}");
    now = now.plusSeconds(3);
    assertThat(executor.act(running(), new PlacementAction.Run("a"))).isEmpty();
    assertThat(worker.asked("DELETE", COPY)).hasSize(1);
  }
}
