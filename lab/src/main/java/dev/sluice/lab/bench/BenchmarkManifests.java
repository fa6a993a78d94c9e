package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.Schedule.Creation;
import java.util.List;

/** The objects of a scenario, with as few fields as possible. */
final class BenchmarkManifests {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final String HOSTNAME = "kubernetes.io/hostname";
  private static final String RACK = "sluice.dev/rack";
  private static final String RUN = "sluice.dev/bench-run";

  private final Scenario scenario;
  private final BenchmarkTarget benchmarkTarget;

  BenchmarkManifests(Scenario scenario, BenchmarkTarget benchmarkTarget) {
    this.scenario = scenario;
    this.benchmarkTarget = benchmarkTarget;
  }

  private ObjectNode served(String kind, String name) {
    return object(BenchmarkTarget.GROUP + "/" + benchmarkTarget.version(), kind, name);
  }

  private static ObjectNode object(String apiVersion, String kind, String name) {
    ObjectNode root = JSON.objectNode().put("apiVersion", apiVersion).put("kind", kind);
    root.putObject("metadata").put("name", name);
    return root;
  }

  String namespace() {
    return object("v1", "Namespace", benchmarkTarget.namespace()).toString();
  }

  /**
   * The flavor. Nothing makes the nodes of a run ready, so the taint that the API server gives to
   * each new node stays.
   */
  String flavor() {
    ObjectNode root = served("ResourceFlavor", benchmarkTarget.flavor());
    if (scenario.nodes().isPresent()) {
      ObjectNode spec = root.putObject("spec").put("topologyName", benchmarkTarget.topology());
      spec.putObject("nodeLabels").put(RUN, benchmarkTarget.topology());
      spec.putArray("tolerations").addObject().put("operator", "Exists");
    }
    return root.toString();
  }

  String topology() {
    ObjectNode root = served("Topology", benchmarkTarget.topology());
    ArrayNode levels = root.putObject("spec").putArray("levels");
    levels.addObject().put("nodeLabel", RACK);
    levels.addObject().put("nodeLabel", HOSTNAME);
    return root.toString();
  }

  /** A node that says of itself that it is ready; KWOK plays its kubelet where it runs. */
  String node(Scenario.Nodes nodes, int rack, int number) {
    String name = benchmarkTarget.node(rack, number);
    ObjectNode root = object("v1", "Node", name);
    root.withObject("/metadata/annotations").put("kwok.x-k8s.io/node", "fake");
    root.withObject("/metadata/labels")
        .put(HOSTNAME, name)
        .put(RACK, "rack-" + rack)
        .put(RUN, benchmarkTarget.topology());
    ObjectNode status = root.putObject("status");
    for (String field : List.of("capacity", "allocatable")) {
      status
          .putObject(field)
          .put("cpu", Integer.toString(nodes.cpu()))
          .put("memory", "1Ti")
          .put("pods", "110");
    }
    status.putArray("conditions").addObject().put("type", "Ready").put("status", "True");
    return root.toString();
  }

  String priorityClass(int priority) {
    return served("WorkloadPriorityClass", benchmarkTarget.priorityClass(priority))
        .put("value", priority)
        .toString();
  }

  String clusterQueue(int number) {
    Scenario.Queue queue = scenario.clusterQueue();
    ObjectNode root = served("ClusterQueue", benchmarkTarget.queue(number));
    ObjectNode spec = root.putObject("spec");
    String cohort = benchmarkTarget.cohort(number / scenario.clusterQueuesPerCohort());
    spec.put(benchmarkTarget.version().equals("v1beta1") ? "cohort" : "cohortName", cohort);
    spec.putObject("namespaceSelector")
        .putObject("matchLabels")
        .put("kubernetes.io/metadata.name", benchmarkTarget.namespace());
    spec.putObject("preemption")
        .put("reclaimWithinCohort", queue.reclaimWithinCohort())
        .put("withinClusterQueue", queue.withinClusterQueue());
    ObjectNode group = spec.putArray("resourceGroups").addObject();
    group.putArray("coveredResources").add("cpu");
    ObjectNode flavor = group.putArray("flavors").addObject().put("name", benchmarkTarget.flavor());
    flavor
        .putArray("resources")
        .addObject()
        .put("name", "cpu")
        .put("nominalQuota", Integer.toString(queue.nominalCpu()))
        .put("borrowingLimit", Integer.toString(queue.borrowingLimitCpu()));
    return root.toString();
  }

  String localQueue(int number) {
    ObjectNode root = served("LocalQueue", benchmarkTarget.queue(number));
    root.putObject("spec").put("clusterQueue", benchmarkTarget.queue(number));
    return root.toString();
  }

  String workload(Creation creation) {
    ObjectNode root = served("Workload", benchmarkTarget.work(creation));
    ObjectNode spec = root.putObject("spec");
    spec.put("queueName", benchmarkTarget.queue(creation.queue()));
    spec.put("priority", creation.workClass().priority());
    Scenario.WorkClass workClass = creation.workClass();
    ObjectNode podSet =
        spec.putArray("podSets").addObject().put("name", "main").put("count", workClass.pods());
    if (scenario.nodes().isPresent()) {
      ObjectNode request = podSet.putObject("topologyRequest");
      String word = workClass.placement().word();
      if (workClass.placement() == Scenario.PodPlacing.ANYWHERE) {
        request.put(word, true);
      } else {
        request.put(word, RACK);
      }
    }
    pod(podSet.putObject("template").putObject("spec"), creation);
    return root.toString();
  }

  String job(Creation creation) {
    ObjectNode root = object("batch/v1", "Job", benchmarkTarget.work(creation));
    root.withObject("/metadata/labels")
        .put("kueue.x-k8s.io/queue-name", benchmarkTarget.queue(creation.queue()))
        .put(
            "kueue.x-k8s.io/priority-class",
            benchmarkTarget.priorityClass(creation.workClass().priority()));
    ObjectNode spec = root.putObject("spec").put("suspend", true).put("backoffLimit", 0);
    int pods = creation.workClass().pods();
    spec.put("parallelism", pods).put("completions", pods);
    ObjectNode template = spec.putObject("template");
    template
        .withObject("/metadata/annotations")
        .put("sluice.dev/run-for", creation.workClass().runMillis() + "ms");
    pod(template.putObject("spec"), creation);
    return root.toString();
  }

  private static void pod(ObjectNode pod, Creation creation) {
    pod.put("restartPolicy", "Never");
    ObjectNode container = pod.putArray("containers").addObject();
    container.put("name", "c").put("image", "none");
    container
        .putObject("resources")
        .putObject("requests")
        .put("cpu", Integer.toString(creation.workClass().cpu()));
  }
}
