package dev.sluice.cli.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.cli.bench.Schedule.Creation;

/** The objects of a scenario, as small as they may be. */
final class Manifests {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final Scenario scenario;
  private final Target target;

  Manifests(Scenario scenario, Target target) {
    this.scenario = scenario;
    this.target = target;
  }

  private ObjectNode served(String kind, String name) {
    return object(Target.GROUP + "/" + target.version(), kind, name);
  }

  private static ObjectNode object(String apiVersion, String kind, String name) {
    ObjectNode root = JSON.objectNode().put("apiVersion", apiVersion).put("kind", kind);
    root.putObject("metadata").put("name", name);
    return root;
  }

  String namespace() {
    return object("v1", "Namespace", target.namespace()).toString();
  }

  String flavor() {
    return served("ResourceFlavor", target.flavor()).toString();
  }

  String priorityClass(int priority) {
    return served("WorkloadPriorityClass", target.priorityClass(priority))
        .put("value", priority)
        .toString();
  }

  String clusterQueue(int number) {
    Scenario.Queue queue = scenario.clusterQueue();
    ObjectNode root = served("ClusterQueue", target.queue(number));
    ObjectNode spec = root.putObject("spec");
    String cohort = target.cohort(number / scenario.clusterQueuesPerCohort());
    spec.put(target.version().equals("v1beta1") ? "cohort" : "cohortName", cohort);
    spec.putObject("namespaceSelector")
        .putObject("matchLabels")
        .put("kubernetes.io/metadata.name", target.namespace());
    spec.putObject("preemption")
        .put("reclaimWithinCohort", queue.reclaimWithinCohort())
        .put("withinClusterQueue", queue.withinClusterQueue());
    ObjectNode group = spec.putArray("resourceGroups").addObject();
    group.putArray("coveredResources").add("cpu");
    ObjectNode flavor = group.putArray("flavors").addObject().put("name", target.flavor());
    flavor
        .putArray("resources")
        .addObject()
        .put("name", "cpu")
        .put("nominalQuota", Integer.toString(queue.nominalCpu()))
        .put("borrowingLimit", Integer.toString(queue.borrowingLimitCpu()));
    return root.toString();
  }

  String localQueue(int number) {
    ObjectNode root = served("LocalQueue", target.queue(number));
    root.putObject("spec").put("clusterQueue", target.queue(number));
    return root.toString();
  }

  String workload(Creation creation) {
    ObjectNode root = served("Workload", target.work(creation));
    ObjectNode spec = root.putObject("spec");
    spec.put("queueName", target.queue(creation.queue()));
    spec.put("priority", creation.workClass().priority());
    ObjectNode podSet = spec.putArray("podSets").addObject().put("name", "main").put("count", 1);
    pod(podSet.putObject("template").putObject("spec"), creation);
    return root.toString();
  }

  String job(Creation creation) {
    ObjectNode root = object("batch/v1", "Job", target.work(creation));
    root.withObject("/metadata/labels")
        .put("kueue.x-k8s.io/queue-name", target.queue(creation.queue()))
        .put(
            "kueue.x-k8s.io/priority-class", target.priorityClass(creation.workClass().priority()));
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
