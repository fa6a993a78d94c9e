package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.NodeAuditor;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Operators are killed in every phase of a placement, and another one goes on: pods are bound where
 * the assignment says, nothing is assigned twice, and no node ever has more pods than it has room
 * for.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@Tag("faults")
class TopologyRestartsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String GROUP = "kueue.x-k8s.io/v1beta2";
  private static final String REQUIRED =
      "kueue.x-k8s.io/podset-required-topology: example.com/rack,";

  /** Each fills a rack, and there are four racks. */
  private static final List<String> JOBS = List.of("a", "b", "c", "d", "e");

  private static final int PODS = 4;
  private static final int CPUS = 2;

  /** A lease shorter than what is shipped, and lost nodes that are waited for. */
  private static OperatorSettings settings() {
    return OperatorSettings.onFreePorts(new SecureRandom())
        .withLeases(Duration.ofSeconds(6), Duration.ofSeconds(4), Duration.ofMillis(500))
        .with("featureGates: {TASFailedNodeReplacementFailFast: false}\n");
  }

  /** The operators of one test, one after the other. */
  private static final class Operators implements AutoCloseable {

    private final TestCluster cluster;

    /** The same ports after a restart, or the definitions would change, which ends watches. */
    private final OperatorSettings settings = settings();

    private @Nullable OperatorProcess running;

    Operators(TestCluster cluster) {
      this.cluster = cluster;
    }

    /** Starts one for this phase, unless that of the phase before lives. */
    void begin(String phase) {
      if (running == null) {
        running =
            OperatorProcess.start(
                    "operator-" + phase,
                    cluster.kubeconfig(),
                    settings,
                    Path.of("target", "operators"),
                    List.of())
                .awaitReady();
      }
    }

    /** Kills the one that runs. */
    void kill() {
      OperatorProcess killed = Objects.requireNonNull(running);
      killed.kill();
      running = null;
      killed.close();
    }

    @Override
    public void close() {
      if (running != null) {
        running.close();
      }
    }
  }

  @Test
  void wheneverTheOperatorIsKilledPodsAreWhereTheAssignmentSays(TestCluster cluster) {
    RackedCluster racked = new RackedCluster(cluster).withNodes();
    Map<String, Map<String, BigDecimal>> allocatable = racked.allocatable();
    try (Operators operators = new Operators(cluster)) {
      operators.begin("before-reservation");
      givenHeldQueue(cluster, racked);
      JOBS.forEach(name -> racked.job(name, "lq", REQUIRED, PODS, CPUS));
      JOBS.forEach(name -> racked.jobs().workloadOf(RackedCluster.JOB, name));
      assertThat(JOBS).allMatch(name -> racked.assigned(name).isEmpty());
      operators.kill();
      goOn(cluster, racked, allocatable, operators);
    }
  }

  /** From the first reservation to the end. */
  private static void goOn(
      TestCluster cluster,
      RackedCluster racked,
      Map<String, Map<String, BigDecimal>> allocatable,
      Operators operators) {
    List<ObjectChange> history;
    try (WatchRecorder pods = recorder(cluster, AuditedKind.POD);
        WatchRecorder workloads = recorder(cluster, AuditedKind.WORKLOAD)) {
      operators.begin("before-admission");
      queue(cluster, "{\"spec\": {\"stopPolicy\": \"None\"}}");
      RackedCluster.eventually(
          "assignments of four Jobs",
          () -> assertThat(placed(racked)).as("placed Jobs").hasSize(JOBS.size() - 1));
      List<String> first = placed(racked);
      String left = JOBS.stream().filter(name -> !first.contains(name)).findFirst().orElseThrow();
      operators.kill();

      List<HasMetadata> gates = keepGates(cluster);
      operators.begin("before-all-are-ungated");
      first.forEach(name -> approve(cluster, racked, name));
      first.forEach(name -> awaitHalf(racked, name));
      operators.kill();

      gates.forEach(each -> cluster.client().resource(each).delete());
      operators.begin("before-replacement");
      first.forEach(name -> awaitPlaced(racked, name));
      String lost = racked.assigned(first.getFirst()).keySet().iterator().next();
      String rack = racked.rackOf(lost);
      racked.removeNode(lost);
      awaitUnhealthy(racked, first.getFirst(), lost);
      operators.kill();
      racked.addNodes("spare", rack, 1);
      allocatable.putAll(racked.allocatable());

      operators.begin("that-leads");
      awaitReplaced(racked, first.getFirst(), lost);
      history = history(workloads);
      try (LocalOperator standby =
              LocalOperator.start("standby-of-racks", cluster.kubeconfig(), settings());
          WatchRecorder later = recorder(cluster, AuditedKind.WORKLOAD)) {
        gates = keepGates(cluster);
        racked.jobs().delete(RackedCluster.JOB, first.getLast());
        RackedCluster.eventually(
            "assignment of " + left, () -> assertThat(placed(racked)).contains(left));
        approve(cluster, racked, left);
        awaitHalf(racked, left);
        operators.kill();
        gates.forEach(each -> cluster.client().resource(each).delete());
        awaitPlaced(racked, left);
        assertThat(standby.isAlive()).isTrue();
        history.addAll(history(later));
      }
      first.subList(1, first.size() - 1).forEach(name -> awaitPlaced(racked, name));
      history.addAll(history(pods));
      judge(history, cluster.namespace(), allocatable, first.getFirst());
    }
  }

  private static WatchRecorder recorder(TestCluster cluster, AuditedKind kind) {
    return new WatchRecorder(cluster.client(), InstantSource.system(), change -> {}, Set.of(kind))
        .start();
  }

  /** All that happened until now. */
  private static List<ObjectChange> history(WatchRecorder recorder) {
    assertThat(recorder.catchUp(LIMIT)).as(() -> recorder.gap().orElse("late")).isTrue();
    assertThat(recorder.gap()).isEmpty();
    return new ArrayList<>(recorder.history());
  }

  /** A queue that admits nothing yet, and later only what the test approves of. */
  private static void givenHeldQueue(TestCluster cluster, RackedCluster racked) {
    racked.withQueues();
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: AdmissionCheck
        metadata: {name: "hand-${suffix}"}
        spec: {controllerName: example.test/by-hand}
        """);
    cluster
        .client()
        .genericKubernetesResources(GROUP, "AdmissionCheck")
        .withName(cluster.name("hand"))
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active",
              "message": "", "lastTransitionTime": "2026-03-01T10:00:00Z"}]}}
            """);
    queue(
        cluster,
        """
        {"spec": {"stopPolicy": "Hold",
          "admissionChecksStrategy": {"admissionChecks": [{"name": "%s"}]}}}
        """
            .formatted(cluster.name("hand")));
  }

  private static void queue(TestCluster cluster, String patch) {
    cluster
        .client()
        .genericKubernetesResources(GROUP, "ClusterQueue")
        .withName(cluster.name("cq"))
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  /** The Jobs whose Workload has an assignment. */
  private static List<String> placed(RackedCluster racked) {
    return JOBS.stream()
        .filter(name -> racked.jobs().find(RackedCluster.JOB, name).isPresent())
        .filter(name -> !racked.assigned(name).isEmpty())
        .toList();
  }

  /** Sets the state of the admission check of a Job's Workload. */
  private static void approve(TestCluster cluster, RackedCluster racked, String job) {
    String workload = racked.jobs().workloadOf(RackedCluster.JOB, job);
    RackedCluster.eventually(
        "check of " + workload,
        () ->
            assertThat(
                    racked
                        .jobs()
                        .get(QueuedJobs.WORKLOAD, workload)
                        .at("/status/admissionChecks/0/state")
                        .asText())
                .isEqualTo("Pending"));
    assertThat(racked.pods(job)).isEmpty();
    cluster
        .client()
        .genericKubernetesResources(GROUP, "Workload")
        .inNamespace(cluster.namespace())
        .withName(workload)
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"admissionChecks": [{"name": "%s", "state": "Ready", "message": "",
              "lastTransitionTime": "2026-03-01T10:00:00Z"}]}}
            """
                .formatted(cluster.name("hand")));
  }

  /**
   * From now on pods with the indexes 1 and 3 keep their scheduling gates, whatever is written;
   * returns what to delete to end this.
   */
  private static List<HasMetadata> keepGates(TestCluster cluster) {
    List<HasMetadata> policy =
        cluster.applyText(
            """
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingAdmissionPolicy
            metadata: {name: "gates-${suffix}"}
            spec:
              matchConstraints:
                resourceRules:
                - {apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods]}
              validations:
              - message: keeps its gates
                expression: >-
                  !has(oldObject.spec.schedulingGates) || has(object.spec.schedulingGates)
                  || !(oldObject.metadata.labels['batch.kubernetes.io/job-completion-index']
                  in ['1', '3'])
            ---
            apiVersion: admissionregistration.k8s.io/v1
            kind: ValidatingAdmissionPolicyBinding
            metadata: {name: "gates-${suffix}"}
            spec:
              policyName: "gates-${suffix}"
              validationActions: [Deny]
              matchResources:
                namespaceSelector:
                  matchLabels: {kubernetes.io/metadata.name: "${namespace}"}
            """);
    List<HasMetadata> probe =
        cluster.applyText(
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: probe, labels: {batch.kubernetes.io/job-completion-index: "1"}}
            spec:
              schedulingGates: [{name: example.test/probe}]
              containers: [{name: main, image: none}]
            """);
    RackedCluster.eventually(
        "policy that keeps gates",
        () ->
            assertThatThrownBy(
                    () ->
                        cluster
                            .client()
                            .pods()
                            .inNamespace(cluster.namespace())
                            .withName("probe")
                            .dryRun()
                            .patch(
                                PatchContext.of(PatchType.JSON_MERGE),
                                "{\"spec\": {\"schedulingGates\": null}}"))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining("keeps its gates"));
    probe.forEach(pod -> cluster.client().resource(pod).withGracePeriod(0).delete());
    return policy;
  }

  /** Awaits that the pods run whose gates nothing keeps, where they belong, and none beside. */
  private static void awaitHalf(RackedCluster racked, String job) {
    String workload = racked.jobs().workloadOf(RackedCluster.JOB, job);
    List<String> places = racked.placesOf(workload).getOrDefault("main", List.of());
    RackedCluster.eventually(
        "half of the pods of " + job,
        () ->
            assertThat(racked.nodes(job))
                .as(() -> racked.pods(job).values().toString())
                .isEqualTo(Map.of(0, places.get(0), 2, places.get(2))));
  }

  /** Awaits that each pod runs where its rank belongs. */
  private static void awaitPlaced(RackedCluster racked, String job) {
    String workload = racked.jobs().workloadOf(RackedCluster.JOB, job);
    racked.awaitRunning(job, PODS);
    assertThat(racked.boundOf(workload)).isEqualTo(racked.placesOf(workload));
  }

  /** The node is listed, and no place is found for its pods, because the rack is full. */
  private static void awaitUnhealthy(RackedCluster racked, String job, String node) {
    String workload = racked.jobs().workloadOf(RackedCluster.JOB, job);
    RackedCluster.eventually(
        "second pass of " + workload + " without success",
        () -> {
          assertThat(
                  racked
                      .jobs()
                      .get(QueuedJobs.WORKLOAD, workload)
                      .at("/status/unhealthyNodes/0/name")
                      .asText())
              .isEqualTo(node);
          assertThat(racked.eventsOf(workload)).contains("SecondPassFailed");
        });
  }

  private static void awaitReplaced(RackedCluster racked, String job, String lost) {
    RackedCluster.eventually(
        "replacement of " + lost,
        () -> assertThat(racked.assigned(job)).doesNotContainKey(lost).hasSize(2));
    racked.removePodsOf(job, lost);
    RackedCluster.eventually(
        "pods of " + job + " where they belong",
        () -> assertThat(racked.running(job)).isEqualTo(racked.assigned(job)));
  }

  /** Judges all that happened; one Job lost a node. */
  private static void judge(
      List<ObjectChange> history,
      String namespace,
      Map<String, Map<String, BigDecimal>> allocatable,
      String moved) {
    NodeAuditor.Result result = NodeAuditor.audit(history, allocatable);
    assertThat(result.violations()).isEmpty();
    assertThat(result.pods()).isGreaterThanOrEqualTo(PODS * JOBS.size() + 2);
    Map<String, List<Map<String, Integer>>> assignments = new TreeMap<>();
    Map<String, Map<String, String>> bound = new HashMap<>();
    for (ObjectChange change : history) {
      JsonNode object = change.object();
      if (!object.at("/metadata/namespace").asText().equals(namespace)) {
        continue;
      }
      if (change.kind() == AuditedKind.WORKLOAD) {
        String job = object.at("/metadata/ownerReferences/0/name").asText();
        Map<String, Integer> places = places(object);
        List<Map<String, Integer>> known =
            assignments.computeIfAbsent(job, any -> new ArrayList<>());
        if (!places.isEmpty() && (known.isEmpty() || !known.getLast().equals(places))) {
          known.add(places);
        }
      } else if (!object.at("/spec/nodeName").asText().isEmpty()) {
        bound
            .computeIfAbsent(
                object.at("/metadata/labels/batch.kubernetes.io~1job-name").asText(),
                any -> new LinkedHashMap<>())
            .put(object.at("/metadata/uid").asText(), object.at("/spec/nodeName").asText());
      }
    }
    assertThat(assignments.keySet()).containsExactlyElementsOf(JOBS);
    assignments.forEach(
        (job, places) -> {
          assertThat(places).as("assignments of " + job).hasSize(job.equals(moved) ? 2 : 1);
          Set<String> nodes =
              places.stream().flatMap(each -> each.keySet().stream()).collect(Collectors.toSet());
          assertThat(bound.getOrDefault(job, Map.of()).values())
              .as("nodes of " + job)
              .isNotEmpty()
              .isSubsetOf(nodes);
        });
  }

  private static Map<String, Integer> places(JsonNode workload) {
    Map<String, Integer> result = new TreeMap<>();
    for (JsonNode podSet : workload.at("/status/admission/podSetAssignments")) {
      for (TopologyAssignment.Domain domain :
          TopologyAssignmentCodec.decode(podSet.path("topologyAssignment")).domains()) {
        result.put(domain.values().getLast(), domain.count());
      }
    }
    return result;
  }
}
