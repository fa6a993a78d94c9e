package dev.sluice.lab.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.PodAuditor;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.player.KindManifest;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * One job of each kind through one pool that has room for three at a time. Judged by the recorded
 * watch events. Jobs that run until they are deleted are deleted when they have become ready. Not
 * thread-safe; runs once.
 */
public final class KindsScenario {

  /** The namespace of the scenario's jobs. */
  public static final String NAMESPACE = "team-all";

  static final String CLUSTER_QUEUE = "one-pool";

  /** Room for three jobs of the manifests' largest size. */
  private static final int CPUS = 9;

  private static final Duration STEP_TIMEOUT = Duration.ofMinutes(3);
  private static final String GATE = "kueue.x-k8s.io/admission";

  private final KubernetesClient client;
  private final WatchRecorder recorder;
  private final ProgressListener progressListener;
  private final ScenarioCluster cluster;
  private final ExpectationResults<KindsExpectation> expectationResults;
  private final List<KindManifest> manifests;

  /**
   * Creates a scenario to run once, in a cluster that serves all kinds.
   *
   * @param recorder must have been started
   */
  public KindsScenario(
      KubernetesClient client, WatchRecorder recorder, ProgressListener progressListener) {
    this.client = client;
    this.recorder = recorder;
    this.progressListener = progressListener;
    this.cluster = new ScenarioCluster(client, recorder, STEP_TIMEOUT, progressListener);
    this.expectationResults = new ExpectationResults<>(KindsExpectation.class, progressListener);
    this.manifests = KindManifest.all();
  }

  /** Runs to the end or to the first failure; returns one result per expectation. */
  public List<ExpectationResult> tell() {
    return expectationResults.of(this::play);
  }

  private void play() {
    progressListener.say("a pool without quota, and a job of each of %d kinds".formatted(kinds()));
    cluster.create(setup());
    manifests.forEach(
        manifest -> manifest.objects().forEach(object -> cluster.create(inNamespace(object))));
    judgeWaiting();

    progressListener.say("the pool gets %d CPUs: room for three at a time".formatted(CPUS));
    giveQuota();
    runAll();
    judgeHistory();

    progressListener.say("all of them are deleted");
    manifests.forEach(this::delete);
    cluster.await("the end of all pods and Workloads", this::nothingLeft);
    expectationResults.judge(KindsExpectation.NOTHING_LEFT, Optional.empty(), "nothing is left");
  }

  private int kinds() {
    return manifests.size();
  }

  private static String inNamespace(ObjectNode object) {
    ObjectNode copy = object.deepCopy();
    copy.withObjectProperty("metadata").put("namespace", NAMESPACE);
    return copy.toString();
  }

  private static String setup() {
    return """
    apiVersion: v1
    kind: Namespace
    metadata: {name: %1$s}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ResourceFlavor
    metadata: {name: any-node}
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: ClusterQueue
    metadata: {name: %2$s}
    spec:
      namespaceSelector: {}
      resourceGroups:
      - coveredResources: [cpu, memory]
        flavors:
        - name: any-node
          resources: [{name: cpu, nominalQuota: 0}, {name: memory, nominalQuota: 1Ti}]
    ---
    apiVersion: kueue.x-k8s.io/v1beta2
    kind: LocalQueue
    metadata: {name: team-a, namespace: %1$s}
    spec: {clusterQueue: %2$s}
    """
        .formatted(NAMESPACE, CLUSTER_QUEUE);
  }

  private void giveQuota() {
    client
        .genericKubernetesResources(AuditedKind.CLUSTER_QUEUE.context())
        .withName(CLUSTER_QUEUE)
        .patch(
            PatchContext.of(PatchType.JSON),
            "[{\"op\":\"replace\",\"path\":\"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota\","
                + "\"value\":\""
                + CPUS
                + "\"}]");
  }

  private List<JsonNode> own(AuditedKind kind) {
    return recorder.current(kind).stream().filter(KindsScenario::isOwn).toList();
  }

  private static boolean isOwn(JsonNode object) {
    return object.at("/metadata/namespace").asText().equals(NAMESPACE);
  }

  /** The manifest of a pod or Workload, whose owner's name (else its own) begins with its name. */
  private Optional<KindManifest> manifestOf(JsonNode object) {
    String owner = object.at("/metadata/ownerReferences/0/name").asText();
    String name = owner.isEmpty() ? object.at("/metadata/name").asText() : owner;
    return manifests.stream()
        .filter(manifest -> (name + "-").startsWith(manifest.name() + "-sample-"))
        .findFirst();
  }

  private List<JsonNode> workloadsOf(KindManifest manifest) {
    return own(AuditedKind.WORKLOAD).stream()
        .filter(workload -> manifestOf(workload).filter(manifest::equals).isPresent())
        .toList();
  }

  private void judgeWaiting() {
    cluster.await(
        "a Workload of each job that waits",
        () ->
            manifests.stream()
                    .allMatch(
                        manifest ->
                            workloadsOf(manifest).stream()
                                .anyMatch(it -> has(it, "QuotaReserved", "False")))
                ? Optional.of(true)
                : Optional.empty());
    Optional<String> fault =
        recorder.history().stream()
            .filter(change -> change.kind() == AuditedKind.POD && isOwn(change.object()))
            .filter(change -> !isGated(change.object()))
            .map(change -> change.object().at("/metadata/name").asText() + " isn't gated")
            .findFirst();
    expectationResults.judge(
        KindsExpectation.WAITS, fault, "%d kinds wait for quota".formatted(kinds()));
  }

  private static boolean isGated(JsonNode pod) {
    return pod.at("/spec/schedulingGates").findValuesAsText("name").contains(GATE);
  }

  /** Deletes what has become ready and doesn't end by itself, until each has had its turn. */
  private void runAll() {
    Set<String> done = new TreeSet<>();
    Set<String> deleted = new HashSet<>();
    while (done.size() < manifests.size()) {
      KindManifest next =
          cluster.await(
              "the next of " + open(done),
              () ->
                  manifests.stream()
                      .filter(it -> !done.contains(it.name()))
                      .filter(this::ran)
                      .findFirst());
      done.add(next.name());
      progressListener.say(
          "%s ran; %d of %d".formatted(next.name(), done.size(), manifests.size()));
      if (!next.ends() && deleted.add(next.name())) {
        delete(next);
      }
    }
    expectationResults.judge(
        KindsExpectation.RUNS, failed(), "all ran: " + String.join(", ", done));
  }

  private String open(Set<String> done) {
    return String.join(
        ", ",
        manifests.stream().map(KindManifest::name).filter(name -> !done.contains(name)).toList());
  }

  /** Whether it has ended, or all its pods are ready if it doesn't end by itself. */
  private boolean ran(KindManifest manifest) {
    List<JsonNode> workloads = workloadsOf(manifest);
    String wanted = manifest.ends() ? "Finished" : "PodsReady";
    return !workloads.isEmpty()
        && workloads.stream().allMatch(workload -> has(workload, wanted, "True"));
  }

  private Optional<String> failed() {
    return recorder.history().stream()
        .filter(change -> change.kind() == AuditedKind.WORKLOAD && isOwn(change.object()))
        .map(ObjectChange::object)
        .filter(
            workload ->
                condition(workload, "Finished")
                    .filter(it -> it.path("reason").asText().equals("Failed"))
                    .isPresent())
        .map(workload -> workload.at("/metadata/name").asText() + " failed")
        .findFirst();
  }

  private void judgeHistory() {
    if (!recorder.catchUp(STEP_TIMEOUT)) {
      throw new ScenarioException("the watches did not catch up");
    }
    List<ObjectChange> history = recorder.history();
    AuditReport report = Auditor.audit(history);
    BigDecimal held =
        report.peaks().entrySet().stream()
            .filter(peak -> peak.getKey().resource().equals(Quantities.CPU))
            .map(Map.Entry::getValue)
            .max(BigDecimal::compareTo)
            .orElse(BigDecimal.ZERO)
            .stripTrailingZeros();
    Optional<String> fault =
        recorder.gap().or(() -> report.violations().stream().findFirst().map(Objects::toString));
    expectationResults.judge(
        KindsExpectation.SHARES,
        fault,
        "at most %s of %d CPUs held; %s".formatted(held.toPlainString(), CPUS, report.summary()));
    PodAuditor.Result pods = PodAuditor.audit(history, NAMESPACE, this::deletedJobOf);
    expectationResults.judge(
        KindsExpectation.WITHIN_QUOTA,
        pods.peak().compareTo(BigDecimal.valueOf(CPUS)) > 0
            ? Optional.of(
                "pods of %s CPUs ran at once: %s"
                    .formatted(pods.peak().toPlainString(), pods.atPeak()))
            : Optional.empty(),
        "%d pods, at most %s CPUs at once".formatted(pods.pods(), pods.peak().toPlainString()));
    judgeWorkloads(history);
  }

  /** The manifest of a pod or Workload if {@link #runAll} deleted its jobs. */
  private Optional<String> deletedJobOf(JsonNode object) {
    return manifestOf(object).filter(manifest -> !manifest.ends()).map(KindManifest::name);
  }

  /** Owners of Workloads are the objects of the manifests, and pods of a Deployment. */
  private void judgeWorkloads(List<ObjectChange> history) {
    Set<String> submitted = new HashSet<>();
    for (KindManifest manifest : manifests) {
      manifest
          .jobs()
          .forEach(
              job ->
                  submitted.add(
                      job.path("kind").asText() + " " + job.at("/metadata/name").asText()));
    }
    List<String> others = new ArrayList<>();
    history.stream()
        .filter(change -> change.kind() == AuditedKind.WORKLOAD && isOwn(change.object()))
        .map(change -> change.object().at("/metadata/ownerReferences/0"))
        .map(owner -> owner.path("kind").asText() + " " + owner.path("name").asText())
        .filter(owner -> !submitted.contains(owner) && !owner.startsWith("Pod deployment-"))
        .forEach(others::add);
    expectationResults.judge(
        KindsExpectation.ONE_WORKLOAD,
        others.stream().findFirst().map(owner -> owner + " has a Workload"),
        "%d objects submitted".formatted(submitted.size()));
  }

  private void delete(KindManifest manifest) {
    for (ObjectNode object : manifest.jobs()) {
      client
          .load(new ByteArrayInputStream(inNamespace(object).getBytes(StandardCharsets.UTF_8)))
          .delete();
    }
  }

  private Optional<Boolean> nothingLeft() {
    boolean left =
        !own(AuditedKind.WORKLOAD).isEmpty()
            || !own(AuditedKind.POD).isEmpty()
            || recorder.current(AuditedKind.CLUSTER_QUEUE).stream()
                .anyMatch(
                    queue -> queue.at("/status/flavorsUsage/0/resources/0/total").asInt() > 0);
    return left ? Optional.empty() : Optional.of(true);
  }

  private static boolean has(JsonNode object, String type, String status) {
    return condition(object, type)
        .filter(condition -> condition.path("status").asText().equals(status))
        .isPresent();
  }

  private static Optional<JsonNode> condition(JsonNode object, String type) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (condition.path("type").asText().equals(type)) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  /** The expectations of the scenario of all kinds, in order. */
  public enum KindsExpectation implements Expectation {
    /** Nothing starts by itself. */
    WAITS(
        "with an empty quota a job of each kind waits: suspended without pods, or with gated pods"),
    /** Every kind is started and ends. */
    RUNS("with room for three at a time each of them runs; what ends by itself ends well"),
    /** There is more to do than room. */
    SHARES("the pool is shared: never more than its quota is held, and others wait for it"),
    /** Pods keep to what is held. */
    WITHIN_QUOTA(
        "no pod of any kind runs beyond the quota, at any write to the store"
            + " (those of a deleted job count until its Workload is gone)"),
    /** No kind is counted twice. */
    ONE_WORKLOAD("each job has its Workload, and the Jobs and pods that it made have none"),
    /** Nothing remains. */
    NOTHING_LEFT(
        "deleted at the end, they leave neither pods nor Workloads, and the pool is empty");

    private final String text;

    KindsExpectation(String text) {
      this.text = text;
    }

    @Override
    public String text() {
      return text;
    }
  }
}
