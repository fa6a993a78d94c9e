package dev.sluice.endtoend;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.testing.SilentNode;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * What a tenant does to run more than the quota of the queue {@code lq}, two CPUs and 16 GiB, one
 * way each (docs/security.md#ways-that-were-tried). Each begins with a job that is admitted, or
 * ends with one that is held, so that a way that does nothing fails. Whether a step was refused, or
 * what it led to was stopped, is the operator's choice; what ran counts.
 */
final class TenantWays {

  /** What queues have. */
  static final Map<String, Quantity> QUOTA =
      Map.of("cpu", new Quantity("2"), "memory", new Quantity("16Gi"));

  static final Duration LIMIT = Duration.ofMinutes(5);
  private static final String JOB = "batch/v1/Job";
  static final String POD = "v1/Pod";
  static final String WORKLOAD = "kueue.x-k8s.io/v1beta2/Workload";

  static final String TEMPLATE =
      """
      {metadata: {annotations: {sluice.dev/run-for: 60m}}, spec: {restartPolicy: Never,
       terminationGracePeriodSeconds: 1,
       containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]}}\
      """
          .replace("\n", "");

  /** When what would be too much is held. */
  enum Held {
    /** Before it runs, whatever the mode. */
    BEFORE,
    /** Before it runs, as long as the policies of the API server hold; otherwise afterwards. */
    BY_POLICIES,
    /** It may run for some moments, unless the mode is Prevent. */
    AFTERWARDS;

    /** Whether more than the quota may run for some moments. */
    boolean mayRunFirst(boolean prevent, Tenant.Policies policies) {
      return !prevent
          && (this == AFTERWARDS || (this == BY_POLICIES && policies == Tenant.Policies.PASS));
    }
  }

  /**
   * A way.
   *
   * @param name a DNS label
   * @param queues the LocalQueues of the one quota
   * @param steps what the tenant does
   */
  record Way(String name, Held held, List<String> queues, Consumer<Tenant> steps) {
    Way(String name, Held held, Consumer<Tenant> steps) {
      this(name, held, List.of("lq"), steps);
    }
  }

  /** The API server waits so long for an answer, as webhooks are registered. */
  private static final Duration REVIEW_TIMEOUT = Duration.ofSeconds(10);

  private TenantWays() {}

  /** All of them. */
  static List<Way> all() {
    return List.of(
        new Way("large-pod", Held.BEFORE, List.of("lq", "default"), TenantWays::makeLargePod),
        new Way("elastic-gates", Held.BY_POLICIES, TenantWays::takeGatesOff),
        new Way("elastic-labels", Held.BY_POLICIES, TenantWays::relabelElastic),
        new Way("resize-grandchild", Held.BEFORE, TenantWays::resizeBelowJobSet),
        new Way("resize-group-name", Held.BEFORE, TenantWays::resizeWithGroupName),
        new Way("resize-no-owner", Held.BEFORE, TenantWays::resizeWithoutOwner),
        new Way("child-job", Held.BY_POLICIES, TenantWays::growChildJob),
        new Way("ray-workers", Held.BY_POLICIES, TenantWaysOfKinds::growRayWorkers),
        new Way("ray-min-replicas", Held.BEFORE, TenantWaysOfKinds::raiseMinReplicas),
        new Way("replica-types", Held.BEFORE, TenantWaysOfKinds::writeTypesOtherwise),
        new Way("spark-properties", Held.BEFORE, TenantWaysOfKinds::configureSpark),
        new Way("executor", Held.BEFORE, TenantWaysOfKinds::makeExecutor),
        new Way("workflow-fields", Held.BEFORE, TenantWaysOfKinds::hideInWorkflows),
        new Way("workflow-changed", Held.AFTERWARDS, TenantWaysOfKinds::changeWorkflow),
        new Way("workflow-request", Held.AFTERWARDS, TenantWaysOfKinds::saveInWorkflow),
        new Way("workflow-ended", Held.AFTERWARDS, TenantWaysOfKinds::endWorkflow),
        new Way("wrapper", Held.BEFORE, TenantWaysOfKinds::misdeclareComponents),
        new Way("managed-label", Held.BY_POLICIES, TenantWays::takeManagedOff),
        new Way("suspending-parent", Held.BEFORE, TenantWays::makeUpParents),
        new Way("parallelism", Held.AFTERWARDS, TenantWays::growJob),
        new Way("rollout", Held.AFTERWARDS, TenantWays::rollOut),
        new Way("long-grace", Held.BEFORE, TenantWays::deleteJobThatLasts),
        new Way("orphans", Held.BEFORE, TenantWays::orphanPods),
        new Way("let-go", Held.BY_POLICIES, TenantWays::letPodsGo),
        new Way("topology", Held.BEFORE, TenantWays::fillNode),
        new Way("amounts", Held.BEFORE, TenantWays::writeAmountsOtherwise),
        new Way("poison", Held.BEFORE, PoisonTexts::send));
  }

  /** A Job that runs until somebody stops it. */
  static String job(String name, int pods, String annotations) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}, annotations: {%s}}
    spec: {parallelism: %d, completions: 1000, template: %s}
    """
        .formatted(name, annotations, pods, TEMPLATE);
  }

  static String pod(String name, String labels, String annotations) {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq%s}
      annotations: {sluice.dev/run-for: 60m%s}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
    """
        .formatted(name, labels, annotations);
  }

  private static String jobSet() {
    return """
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: set, labels: {kueue.x-k8s.io/queue-name: lq}}
    spec:
      replicatedJobs:
      - name: main
        template: {spec: {parallelism: 1, completions: 1000, template: %s}}
    """
        .formatted(TEMPLATE);
  }

  private static void takeGatesOff(Tenant tenant) {
    tenant.create(job("elastic", 2, "kueue.x-k8s.io/elastic-job: 'true'"));
    tenant.awaitRunning(2);
    tenant.patch(JOB, "elastic", "{'spec': {'parallelism': 20}}");
    await().atMost(LIMIT).until(() -> tenant.pods().size() >= 20);
    for (JsonNode pod : tenant.pods()) {
      tenant.patch(POD, Tenant.name(pod), "{'spec': {'schedulingGates': null}}");
    }
  }

  private static void relabelElastic(Tenant tenant) {
    tenant.create(job("elastic", 2, "kueue.x-k8s.io/elastic-job: 'true'"));
    for (JsonNode pod : tenant.awaitRunning(2)) {
      for (String label :
          List.of(
              "kueue.x-k8s.io/podset",
              "batch.kubernetes.io/job-name",
              "batch.kubernetes.io/controller-uid")) {
        tenant.patch(
            POD, Tenant.name(pod), "{'metadata': {'labels': {'%s': 'other'}}}".formatted(label));
      }
    }
  }

  private static JsonNode resizable(Tenant tenant) {
    JsonNode pod = tenant.awaitRunning(1).getFirst();
    tenant.reportResources(pod);
    return pod;
  }

  private static void resizeBelowJobSet(Tenant tenant) {
    tenant.create(jobSet());
    tenant.resize(resizable(tenant), 64);
  }

  private static void resizeWithGroupName(Tenant tenant) {
    tenant.create(pod("small", "", ""));
    JsonNode small = resizable(tenant);
    tenant.create(
        pod(
                "large",
                ", kueue.x-k8s.io/pod-group-name: large",
                ", kueue.x-k8s.io/pod-group-total-count: '1'")
            .replace("cpu: \"1\"", "cpu: \"8\""));
    await().atMost(LIMIT).until(() -> tenant.find(WORKLOAD, "large").isPresent());
    tenant.patch(
        POD,
        "small",
        "{'metadata': {'annotations': {'kueue.x-k8s.io/pod-group-name': 'large'},"
            + " 'labels': {'kueue.x-k8s.io/pod-group-name': 'large'}}}");
    tenant.patch(
        POD, "small", "{'metadata': {'annotations': {'kueue.x-k8s.io/pod-group-name': 'large'}}}");
    tenant.resize(small, 8);
  }

  private static void resizeWithoutOwner(Tenant tenant) {
    tenant.create(job("sized", 1, ""));
    JsonNode pod = resizable(tenant);
    tenant.patch(POD, Tenant.name(pod), "{'metadata': {'ownerReferences': null}}");
    tenant.resize(pod, 64);
  }

  private static void growChildJob(Tenant tenant) {
    tenant.create(jobSet());
    tenant.awaitRunning(1);
    tenant.patch(JOB, "set-main-0", "{'metadata': {'ownerReferences': null}}");
    tenant.patch(JOB, "set-main-0", "{'spec': {'parallelism': 50}}");
  }

  /** The queue holds them; pods of them would run within seconds otherwise. */
  static void awaitHeld(Tenant tenant, int jobs) {
    await().atMost(LIMIT).until(() -> tenant.all(WORKLOAD).size() == jobs);
  }

  private static void takeManagedOff(Tenant tenant) {
    tenant.create(job("beside", 2, ""));
    tenant.awaitRunning(2);
    tenant.create(pod("sly", "", ""));
    tenant.patch(
        POD,
        "sly",
        "{'metadata': {'labels': {'kueue.x-k8s.io/managed': null, 'kueue.x-k8s.io/queue-name':"
            + " null}}, 'spec': {'schedulingGates': null}}");
    tenant.patch(POD, "sly", "{'metadata': {'labels': {'kueue.x-k8s.io/managed': null}}}");
    tenant.patch(POD, "sly", "{'spec': {'schedulingGates': null}}");
  }

  private static void makeUpParents(Tenant tenant) {
    tenant.create(job("beside", 1, ""));
    tenant.awaitRunning(1);
    for (int i = 0; i < 7; i++) {
      tenant.create(
          pod(
              "member-" + i,
              ", kueue.x-k8s.io/managed: 'true', kueue.x-k8s.io/pod-group-name: one",
              ", kueue.x-k8s.io/pod-group-total-count: '1',"
                  + " kueue.x-k8s.io/pod-suspending-parent: statefulset"));
      for (String parent : List.of("job", "statefulset", "made-up")) {
        tenant.create(
            pod(
                "alone-" + parent + "-" + i,
                ", kueue.x-k8s.io/managed: 'true'",
                ", kueue.x-k8s.io/pod-suspending-parent: " + parent));
      }
    }
    tenant.awaitRunning(2);
  }

  /**
   * Its JSON is within the API server's limit, and the review's is not: "<" is escaped there. It
   * comes first, while little else is asked: the API server lets in what isn't answered within ten
   * seconds, because it names no queue. A gate of its own keeps such a pod from running.
   */
  private static void makeLargePod(Tenant tenant) {
    tenant.create(job("beside", 2, ""));
    tenant.awaitRunning(2);
    Instant begin = Instant.now();
    tenant.create(
        pod("large", "", "")
            .replace("kueue.x-k8s.io/queue-name: lq", "")
            .replace("spec:", "spec:\n  schedulingGates: [{name: example.test/large}]")
            .replace("image: none", "image: none, args: [\"" + "<".repeat(1_400_000) + "\"]"));
    boolean letIn =
        tenant.pods().stream().anyMatch(pod -> pod.at("/metadata/name").asText().equals("large"));
    if (letIn && Instant.now().isBefore(begin.plus(REVIEW_TIMEOUT))) {
      throw new AssertionError("a review that is too large was answered, and the pod let in");
    }
  }

  private static void deleteJobThatLasts(Tenant tenant) {
    String silent = SilentNode.name(tenant.cluster());
    tenant.create(
        job("lasting", 2, "")
            .replace(
                "terminationGracePeriodSeconds: 1",
                ("terminationGracePeriodSeconds: 86400, nodeSelector: {silent: %1$s},"
                        + " tolerations: [{key: silent, value: %1$s}]")
                    .formatted(silent)));
    await()
        .atMost(LIMIT)
        .until(
            () ->
                tenant.pods().stream()
                        .filter(pod -> pod.at("/spec/nodeName").asText().equals(silent))
                        .count()
                    == 2);
    tenant.delete(JOB, "lasting", DeletionPropagation.BACKGROUND, 0);
    tenant.create(job("next", 2, ""));
  }

  private static void growJob(Tenant tenant) {
    tenant.create(job("growing", 1, ""));
    tenant.awaitRunning(1);
    tenant.patch(JOB, "growing", "{'spec': {'parallelism': 50}}");
  }

  /** A rollout waits for pods of the old revision, which lose their gates for it. */
  private static void rollOut(Tenant tenant) {
    tenant.create(
        """
        apiVersion: apps/v1
        kind: StatefulSet
        metadata: {name: web, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          replicas: 10
          serviceName: web
          podManagementPolicy: Parallel
          selector: {matchLabels: {app: web}}
          template: %s
        """
            .formatted(
                TEMPLATE
                    .replace("Never", "Always")
                    .replace("annotations:", "labels: {app: web}, annotations:")));
    await().atMost(LIMIT).until(() -> tenant.pods().size() == 10);
    tenant.patch(
        "apps/v1/StatefulSet",
        "web",
        "{'spec': {'template': {'metadata': {'annotations': {'version': '2'}}}}}");
    await()
        .atMost(LIMIT)
        .until(
            () ->
                tenant.pods().stream()
                    .anyMatch(pod -> pod.at("/metadata/annotations/version").asText().equals("2")));
  }

  private static void orphanPods(Tenant tenant) {
    for (int i = 0; i < 3; i++) {
      tenant.create(job("left-" + i, 2, ""));
    }
    tenant.awaitRunning(2);
    for (int i = 0; i < 3; i++) {
      tenant.delete(JOB, "left-" + i, DeletionPropagation.ORPHAN, 0);
    }
    tenant.create(job("next", 2, ""));
  }

  private static void letPodsGo(Tenant tenant) {
    tenant.create(job("letting-go", 2, ""));
    for (JsonNode pod : tenant.awaitRunning(2)) {
      tenant.patch(
          POD,
          Tenant.name(pod),
          "{'metadata': {'labels': {'batch.kubernetes.io/controller-uid': 'x',"
              + " 'controller-uid': 'x'}}}");
    }
  }

  /**
   * Takes one of two nodes of a topology with a pod that says of itself that it was placed there:
   * Jobs of others mustn't be sent to it.
   */
  private static void fillNode(Tenant tenant) {
    TestCluster cluster = tenant.cluster();
    String others = cluster.createNamespace("others");
    List<Node> nodes =
        cluster.createNodes(
            NodeGroup.plentiful(cluster.name("racked"), 2)
                .withCapacity("cpu", "2")
                .withLabel("racked", "yes")
                .withTaint(new NodeTaint("racked", "yes", "NoSchedule")));
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Topology
        metadata: {name: "racked-${suffix}"}
        spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "racked-${suffix}"}
        spec:
          nodeLabels: {racked: "yes"}
          tolerations: [{key: racked, operator: Exists}]
          topologyName: "racked-${suffix}"
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "racked-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "racked-${suffix}", resources: [{name: cpu, nominalQuota: "4"}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: racked, namespace: %s}
        spec: {clusterQueue: "racked-${suffix}"}
        """
            .formatted(others));
    tenant.create(
        pod(
                "stray",
                ", kueue.x-k8s.io/podset: main",
                ", kueue.x-k8s.io/workload: made-up,"
                    + " kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname")
            .replace("kueue.x-k8s.io/queue-name: lq, ", "")
            .replace("cpu: \"1\"", "cpu: \"2\"")
            .replace(
                "  containers",
                "  tolerations: [{operator: Exists}]\n  nodeName: %s\n  containers"
                    .formatted(nodes.getFirst().getMetadata().getName())));
    tenant.awaitRunning(1);
    for (String name : List.of("placed-0", "placed-1")) {
      cluster.applyText(
          job(name, 1, "")
              .replace("metadata: {name", "metadata: {namespace: " + others + ", name")
              .replace("completions: 1000", "completions: 1")
              .replace("queue-name: lq", "queue-name: racked")
              .replace(
                  "run-for: 60m",
                  "run-for: 1s, kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname")
              .replace("cpu: \"1\"", "cpu: \"2\""));
    }
    await("Jobs of others")
        .atMost(LIMIT)
        .until(
            () ->
                cluster
                        .client()
                        .batch()
                        .v1()
                        .jobs()
                        .inNamespace(others)
                        .withField("status.successful", "1")
                        .list()
                        .getItems()
                        .size()
                    == 2);
  }

  private static void writeAmountsOtherwise(Tenant tenant) {
    // of an administrator
    tenant
        .cluster()
        .applyText(
            """
            apiVersion: v1
            kind: LimitRange
            metadata: {name: small, namespace: %s}
            spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}}]}
            """
                .formatted(tenant.namespace()));
    tenant.create(job("limits", 3, "").replace("requests:", "limits:"));
    tenant.create(
        job("whole", 1, "")
            .replace("terminationGrace", "resources: {requests: {cpu: 100m}}, terminationGrace"));
    tenant.create(job("beside", 2, ""));
    tenant.awaitRunning(2);
  }
}
