package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.lab.audit.NodeAuditor;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.controlplane.NodeGroup.NodeTaint;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.awaitility.core.ThrowingRunnable;

/**
 * A cluster of two blocks with two racks each and two nodes of four CPUs in each rack, with a
 * Topology, a flavor and a queue of it. No pods of others run on the nodes: they have a taint.
 */
public final class RackedCluster {

  static final String JOB = "batch/v1/Job";
  static final String HOST = "kubernetes.io/hostname";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final TestCluster cluster;
  private final QueuedJobs jobs;

  /** A cluster that has none of these yet. */
  public RackedCluster(TestCluster cluster) {
    this.cluster = cluster;
    this.jobs = new QueuedJobs(cluster);
  }

  QueuedJobs jobs() {
    return jobs;
  }

  /** Makes the nodes. */
  public RackedCluster withNodes() {
    return withNodes(2);
  }

  /** Makes so many nodes in each rack. */
  RackedCluster withNodes(int perRack) {
    for (String block : List.of("b1", "b2")) {
      for (String rack : List.of("r1", "r2")) {
        addNodes(block + rack, block + rack, perRack);
      }
    }
    return this;
  }

  /** Makes so many nodes in a rack, whose names begin with the stem. */
  void addNodes(String stem, String rack, int count) {
    cluster.createNodes(group(stem, rack, count));
  }

  /** Makes a node in a rack that has another hostname than its name. */
  void addNode(String stem, String rack, String hostname) {
    cluster.createNodes(group(stem, rack, 1).withLabel(HOST, hostname));
  }

  private NodeGroup group(String stem, String rack, int count) {
    return NodeGroup.plentiful(cluster.name(stem), count)
        .withCapacity("cpu", "4")
        .withLabel("pool", cluster.name("pool"))
        .withLabel("example.com/block", rack.substring(0, 2))
        .withLabel("example.com/rack", rack)
        .withTaint(new NodeTaint("pool", cluster.name("pool"), "NoSchedule"));
  }

  /** The name of a node of a rack. */
  String node(String rack, int index) {
    return cluster.name(rack) + "-" + index;
  }

  /** Makes the Topology, the flavor and the queues. */
  public RackedCluster withQueues() {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Topology
        metadata: {name: "racks-${suffix}"}
        spec:
          levels:
          - nodeLabel: example.com/block
          - nodeLabel: example.com/rack
          - nodeLabel: kubernetes.io/hostname
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "racked-${suffix}"}
        spec:
          nodeLabels: {pool: "pool-${suffix}"}
          tolerations: [{key: pool, operator: Exists, effect: NoSchedule}]
          topologyName: "racks-${suffix}"
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - name: "racked-${suffix}"
              resources: [{name: cpu, nominalQuota: "100"}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
    return this;
  }

  /** Makes an indexed Job of so many pods with so many CPUs each, which run until it is deleted. */
  public void job(String name, String queue, String annotations, int pods, int cpus) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: %s
          labels: {kueue.x-k8s.io/queue-name: %s}
        spec:
          parallelism: %d
          completions: %d
          completionMode: Indexed
          template:
            metadata:
              annotations: {%s sluice.dev/run-for: "60m"}
            spec:
              restartPolicy: Never
              containers:
              - {name: main, image: none, resources: {requests: {cpu: "%d"}}}
        """
            .formatted(name, queue, pods, pods, annotations, cpus));
  }

  /** The pods of a Job that have not been deleted, by index. */
  Map<Integer, JsonNode> pods(String job) {
    return jobs.pods().stream()
        .filter(
            pod ->
                pod.at("/metadata/labels")
                    .path("batch.kubernetes.io/job-name")
                    .asText()
                    .equals(job))
        .filter(pod -> !pod.at("/metadata").has("deletionTimestamp"))
        .collect(
            Collectors.toMap(
                pod ->
                    pod.at("/metadata/labels")
                        .path("batch.kubernetes.io/job-completion-index")
                        .asInt(),
                pod -> pod,
                (one, other) -> other,
                TreeMap::new));
  }

  /** The nodes that the running pods of a Job are on, by index. */
  Map<Integer, String> nodes(String job) {
    Map<Integer, String> result = new TreeMap<>();
    pods(job)
        .forEach(
            (index, pod) -> {
              if (pod.at("/status/phase").asText().equals("Running")) {
                result.put(index, pod.at("/spec/nodeName").asText());
              }
            });
    return result;
  }

  /** Deletes a node, as if its machine was gone. */
  void removeNode(String node) {
    cluster.client().nodes().withName(node).withGracePeriod(0).delete();
  }

  /**
   * Deletes the pods of a Job on a node at once, as the control plane does some time after the
   * deletion of the node.
   */
  void removePodsOf(String job, String node) {
    pods(job)
        .values()
        .forEach(
            pod -> {
              if (pod.at("/spec/nodeName").asText().equals(node)) {
                cluster
                    .client()
                    .pods()
                    .inNamespace(cluster.namespace())
                    .withName(pod.at("/metadata/name").asText())
                    .withGracePeriod(0)
                    .delete();
              }
            });
  }

  /** The number of pods of a Job's Workload by node, according to its assignment. */
  Map<String, Integer> assigned(String job) {
    JsonNode status = jobs.get(QueuedJobs.WORKLOAD, jobs.workloadOf(JOB, job)).path("status");
    Map<String, Integer> result = new TreeMap<>();
    for (JsonNode podSet : status.at("/admission/podSetAssignments")) {
      TopologyAssignmentCodec.decode(podSet.path("topologyAssignment"))
          .domains()
          .forEach(domain -> result.merge(domain.values().getLast(), domain.count(), Integer::sum));
    }
    return result;
  }

  /** The node of each rank by pod set, as the assignments of a Workload say. */
  Map<String, List<String>> placesOf(String workload) {
    Map<String, List<String>> result = new TreeMap<>();
    JsonNode status = jobs.get(QueuedJobs.WORKLOAD, workload).path("status");
    for (JsonNode podSet : status.at("/admission/podSetAssignments")) {
      List<String> ranks = new ArrayList<>();
      TopologyAssignmentCodec.decode(podSet.path("topologyAssignment"))
          .domains()
          .forEach(
              domain ->
                  ranks.addAll(Collections.nCopies(domain.count(), domain.values().getLast())));
      result.put(podSet.path("name").asText(), ranks);
    }
    return result;
  }

  /**
   * The nodes that the pods of a Workload are bound to by pod set, in the order of their index, as
   * far as they have one.
   */
  Map<String, List<String>> boundOf(String workload) {
    return jobs.pods().stream()
        .filter(
            pod ->
                pod.at("/metadata/annotations/kueue.x-k8s.io~1workload").asText().equals(workload))
        .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
        .sorted(
            Comparator.comparingInt(
                pod ->
                    pod.at("/metadata/labels/batch.kubernetes.io~1job-completion-index").asInt()))
        .collect(
            Collectors.groupingBy(
                pod -> pod.at("/metadata/labels/kueue.x-k8s.io~1podset").asText(),
                TreeMap::new,
                Collectors.mapping(pod -> pod.at("/spec/nodeName").asText(), Collectors.toList())));
  }

  /** What each node has for pods. */
  Map<String, Map<String, BigDecimal>> allocatable() {
    Map<String, Map<String, BigDecimal>> result = new HashMap<>();
    cluster
        .client()
        .nodes()
        .withLabel("pool", cluster.name("pool"))
        .list()
        .getItems()
        .forEach(
            node -> {
              Map<String, BigDecimal> amounts = new HashMap<>();
              node.getStatus()
                  .getAllocatable()
                  .forEach(
                      (resource, quantity) ->
                          amounts.put(resource, NodeAuditor.amount(quantity.toString())));
              result.put(node.getMetadata().getName(), amounts);
            });
    return result;
  }

  /** The number of running pods of a Job by node. */
  Map<String, Integer> running(String job) {
    Map<String, Integer> result = new TreeMap<>();
    nodes(job).values().forEach(node -> result.merge(node, 1, Integer::sum));
    return result;
  }

  /** The rack of a node. */
  String rackOf(String node) {
    return cluster
        .client()
        .nodes()
        .withName(node)
        .get()
        .getMetadata()
        .getLabels()
        .getOrDefault("example.com/rack", "");
  }

  /** A condition of a Workload; a missing node without it. */
  JsonNode condition(String workload, String type) {
    for (JsonNode each : jobs.get(QueuedJobs.WORKLOAD, workload).at("/status/conditions")) {
      if (each.path("type").asText().equals(type)) {
        return each;
      }
    }
    return MissingNode.getInstance();
  }

  /** The reasons of the events of a Workload. */
  List<String> eventsOf(String workload) {
    return cluster.events().stream()
        .filter(event -> event.getRegarding().getName().equals(workload))
        .map(Event::getReason)
        .toList();
  }

  /** Repeats an assertion until it holds. */
  static void eventually(String what, ThrowingRunnable assertion) {
    await(what).atMost(LIMIT).untilAsserted(assertion);
  }

  /** Awaits that so many pods of a Job run, and returns their nodes by index. */
  Map<Integer, String> awaitRunning(String job, int pods) {
    eventually(
        "pods of " + job,
        () -> assertThat(nodes(job)).as(() -> pods(job).values().toString()).hasSize(pods));
    return nodes(job);
  }
}
