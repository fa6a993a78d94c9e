package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.DuplicateRunDetector;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.TcpProxy;
import dev.sluice.lab.demo.DemoCommand.MultiClusterExpectation;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * The multi-cluster scenario: a small cluster on site and a larger remote one, which is
 * disconnected in the end. Applies the manifests and judges the expectations by the recorded watch
 * events of all clusters. Not thread-safe; runs once.
 */
final class MultiClusterScenario {

  static final String NAMESPACE = "physics";
  static final String SITE = "onsite";
  static final String REMOTE = "remote";

  private static final Duration STEP_TIMEOUT = Duration.ofSeconds(120);

  private final ScenarioClusters clusters;
  private final Duration lostTimeout;
  private final ProgressListener progressListener;
  private final InstantSource clock;
  private final ExpectationResults<MultiClusterExpectation> expectationResults;

  /**
   * Creates a scenario to run once.
   *
   * @param clusters must be configured and connected
   * @param lostTimeout the manager's {@code workerLostTimeout}
   */
  MultiClusterScenario(
      ScenarioClusters clusters,
      Duration lostTimeout,
      ProgressListener progressListener,
      InstantSource clock) {
    this.clusters = clusters;
    this.lostTimeout = lostTimeout;
    this.progressListener = progressListener;
    this.expectationResults =
        new ExpectationResults<>(MultiClusterExpectation.class, progressListener);
    this.clock = clock;
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  List<ExpectationResult> tell() {
    return expectationResults.of(this::play);
  }

  private void play() {
    List<ClusterJob> first = threeJobs();
    ClusterJob survivor = outage(first);
    judgeManager();
    judgeRuns(survivor);
  }

  /**
   * Submits the three Jobs. New pods are held at first, so that all of them are visible at the same
   * time.
   */
  private List<ClusterJob> threeJobs() {
    hold(SITE, true);
    hold(REMOTE, true);
    progressListener.say("three Jobs: a small one, one of 32 CPUs, one with 8 GPUs");
    ClusterJob small = submit("small", MultiClusterManifests.small());
    await("2 pods of small", () -> small.activeHere() == 2);
    ClusterJob large = submit("too-big-for-site", MultiClusterManifests.large());
    ClusterJob gpu = submit("needs-gpus", MultiClusterManifests.gpu());
    await("16 pods of too-big-for-site", () -> large.activeHere() == 16);
    await("2 pods of needs-gpus", () -> gpu.activeHere() == 2);
    await("16 pods on remote", () -> large.runningIn(REMOTE) == 16);
    progressListener.say("all are active; their pods may run");
    hold(SITE, false);
    hold(REMOTE, false);
    List<ClusterJob> all = List.of(small, large, gpu);
    all.forEach(this::awaitEnd);
    judgePlaces(small, large, gpu);
    return all;
  }

  private void judgePlaces(ClusterJob small, ClusterJob large, ClusterJob gpu) {
    expectationResults.judge(
        MultiClusterExpectation.SMALL_ON_SITE, faultOfPlace(small, SITE, 2), "2 pods, all on site");
    expectationResults.judge(
        MultiClusterExpectation.LARGE_WHOLE_ON_REMOTE,
        faultOfPlace(large, REMOTE, 16),
        "16 pods at the same time, all on remote");
    expectationResults.judge(
        MultiClusterExpectation.GPUS_WHERE_THEY_ARE,
        faultOfPlace(gpu, REMOTE, 2),
        "2 pods, all on remote");
    expectationResults.judge(
        MultiClusterExpectation.LIVE_STATUS,
        Stream.of(small.faultOfStatus(2), large.faultOfStatus(16), gpu.faultOfStatus(2))
            .flatMap(Optional::stream)
            .findFirst(),
        "each told of its active pods while they were, and of their success");
  }

  private Optional<String> faultOfPlace(ClusterJob job, String cluster, int pods) {
    long made = clusters.worker(cluster).podsEver(job.name());
    if (!job.ranIn().equals(List.of(cluster))) {
      return Optional.of("it ran in " + job.ranIn());
    }
    return made == pods ? Optional.empty() : Optional.of(made + " pods were made");
  }

  /** Fills the site, so that a Job runs on remote, and then disconnects remote. */
  private ClusterJob outage(List<ClusterJob> before) {
    progressListener.say(
        "two small Jobs fill the site, and stay for now; a third one goes to remote");
    hold(SITE, true);
    List<ClusterJob> fillers = new ArrayList<>();
    for (String name : List.of("filler-1", "filler-2")) {
      ClusterJob filler = submit(name, MultiClusterManifests.small(name, "1s"));
      await("pods of " + name, () -> filler.activeHere() == 2);
      fillers.add(filler);
    }
    ClusterJob survivor = submit("survivor", MultiClusterManifests.small("survivor", "20s"));
    await(
        "pods of survivor on remote",
        () -> survivor.activeHere() == 2 && survivor.runningIn(REMOTE) == 2);

    progressListener.say("remote is cut off; its Job goes on there, as far as anybody knows");
    Instant cut = clock.instant();
    clusters.proxy(REMOTE).disconnect();
    await("survivor to be sent back", () -> wasSentBack(survivor));
    judgeRequeue(survivor, Duration.between(cut, clock.instant()));

    progressListener.say("there is room on site again");
    hold(SITE, false);
    fillers.forEach(filler -> await("the end of " + filler.name(), filler::isComplete));
    await("survivor on site", () -> survivor.runningIn(SITE) == 2);
    expectationResults.judge(
        MultiClusterExpectation.RUNS_ELSEWHERE,
        survivor.cluster().equals(SITE)
            ? Optional.empty()
            : Optional.of("the manager says \"" + survivor.cluster() + "\""),
        "2 pods on site, as soon as the Jobs before it had ended");

    progressListener.say("remote is back");
    clusters.proxy(REMOTE).restore();
    await("survivor to be on site only", () -> survivor.runningIn(REMOTE) == 0);
    List<ClusterJob> all = new ArrayList<>(before);
    all.addAll(fillers);
    all.add(survivor);
    all.forEach(this::awaitEnd);
    expectationResults.judge(
        MultiClusterExpectation.NOTHING_LEFT,
        Optional.empty(),
        "neither Job nor Workload nor pod of " + all.size() + " Jobs");
    return survivor;
  }

  private static boolean wasSentBack(ClusterJob job) {
    return job.workloadHistory().stream().anyMatch(it -> ScenarioClusters.isTrue(it, "Evicted"));
  }

  private void judgeRequeue(ClusterJob job, Duration after) {
    String why =
        job.workloadHistory().stream()
            .flatMap(it -> it.at("/status/conditions").valueStream())
            .filter(it -> it.path("type").asText().equals("Evicted"))
            .map(it -> it.path("reason").asText() + ": " + it.path("message").asText())
            .findFirst()
            .orElse("");
    expectationResults.judge(
        MultiClusterExpectation.REQUEUED_AFTER_TIMEOUT,
        after.compareTo(lostTimeout) < 0
            ? Optional.of("after " + after.toSeconds() + " s already: " + why)
            : Optional.empty(),
        "%d s after the cut, with a time-out of %d s; %s"
            .formatted(after.toSeconds(), lostTimeout.toSeconds(), why));
  }

  private void judgeManager() {
    WatchRecorder recorder = clusters.manager().recorder();
    if (!recorder.catchUp(STEP_TIMEOUT)) {
      throw new ScenarioException("the watches did not catch up");
    }
    Optional<JsonNode> pod =
        recorder.history().stream()
            .filter(objectChange -> objectChange.kind() == AuditedKind.POD)
            .map(objectChange -> objectChange.object())
            .findFirst();
    expectationResults.judge(
        MultiClusterExpectation.NO_POD_HERE,
        recorder.gap().or(() -> pod.map(it -> "there was pod " + it.at("/metadata/name").asText())),
        "none was ever seen");
  }

  private void judgeRuns(ClusterJob survivor) {
    Optional<String> fault = clusters.runs().violations().stream().findFirst();
    for (ScenarioMember worker : clusters.workers().values()) {
      fault = fault.or(() -> worker.recorder().gap().map(gap -> worker.name() + ": " + gap));
    }
    int succeeded = survivor.here().map(it -> it.at("/status/succeeded").asInt()).orElse(0);
    if (succeeded != 2) {
      fault = fault.or(() -> Optional.of("survivor ended with " + succeeded + " successes"));
    }
    expectationResults.judge(
        MultiClusterExpectation.NEVER_TWICE,
        fault,
        "no Job had pods in two clusters at any time; survivor ran in " + survivor.ranIn());
  }

  private ClusterJob submit(String name, String manifest) {
    clusters.manager().create(manifest);
    return new ClusterJob(clusters, name);
  }

  private void hold(String worker, boolean hold) {
    clusters.worker(worker).holdPods(hold);
  }

  private void awaitEnd(ClusterJob job) {
    await("the end of " + job.name(), job::isComplete);
    await(
        "nothing to be left of " + job.name() + " in workers", () -> job.leftInWorkers().isEmpty());
  }

  private void await(String what, BooleanSupplier holds) {
    progressListener.waits(what);
    boolean came =
        clusters
            .manager()
            .recorder()
            .await(STEP_TIMEOUT, () -> holds.getAsBoolean() ? Optional.of(true) : Optional.empty())
            .isPresent();
    progressListener.waits("");
    if (!came) {
      throw new ScenarioException(
          "waited %d s in vain for %s".formatted(STEP_TIMEOUT.toSeconds(), what));
    }
  }

  /** The manifests of the multi-cluster scenario, as users write them. */
  static final class MultiClusterManifests {

    private MultiClusterManifests() {}

    /** The setup manifest of a cluster. */
    static String setup(String cluster) {
      return read(cluster + "/setup.yaml");
    }

    static String small() {
      return read("jobs/01-small.yaml");
    }

    static String large() {
      return read("jobs/02-large.yaml");
    }

    static String gpu() {
      return read("jobs/03-gpu.yaml");
    }

    /** The small Job under another name, whose pods run for the given time. */
    static String small(String name, String runFor) {
      return small()
          .replace("name: small", "name: " + name)
          .replace(
              "  template:\n",
              "  template:\n    metadata: {annotations: {sluice.dev/run-for: " + runFor + "}}\n");
    }

    private static String read(String file) {
      return ScenarioManifests.text("multi-cluster/" + file);
    }
  }

  /**
   * The clusters of the multi-cluster scenario: a manager, and workers that the manager reaches
   * through proxies.
   *
   * @param manager the cluster to which Jobs are submitted
   * @param workers the workers by name
   * @param tcpProxies the proxies by worker
   * @param runs follows the pods of all workers
   */
  record ScenarioClusters(
      ScenarioMember manager,
      SortedMap<String, ScenarioMember> workers,
      Map<String, TcpProxy> tcpProxies,
      DuplicateRunDetector runs) {

    ScenarioClusters {
      workers = new TreeMap<>(workers);
      tcpProxies = Map.copyOf(tcpProxies);
    }

    ScenarioMember worker(String name) {
      return Objects.requireNonNull(workers.get(name), name);
    }

    TcpProxy proxy(String name) {
      return Objects.requireNonNull(tcpProxies.get(name), name);
    }

    /** Whether an object's condition is True. */
    static boolean isTrue(JsonNode object, String type) {
      for (JsonNode condition : object.path("status").path("conditions")) {
        if (condition.path("type").asText().equals(type)) {
          return condition.path("status").asText().equals("True");
        }
      }
      return false;
    }
  }
}
