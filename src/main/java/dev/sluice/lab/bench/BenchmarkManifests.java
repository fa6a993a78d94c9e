package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.Schedule.Creation;

/** The objects of a scenario, with as few fields as possible. */
final class BenchmarkManifests {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

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

  String flavor() {
    return served("ResourceFlavor", benchmarkTarget.flavor()).toString();
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
    ObjectNode podSet = spec.putArray("podSets").addObject().put("name", "main").put("count", 1);
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
