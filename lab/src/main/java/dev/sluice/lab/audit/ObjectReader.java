package dev.sluice.lab.audit;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.Auditor.FlavorResourcePair;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads the audited fields of objects. */
final class ObjectReader {

  private static final String QUEUE_NAME = "kueue.x-k8s.io/queue-name";
  private static final int DIGITS = 9;
  private static final Set<String> JOBS = Set.of("Job", "RayCluster");

  private ObjectReader() {}

  static String uid(JsonNode object) {
    return object.path("metadata").path("uid").asText();
  }

  static String name(JsonNode object) {
    JsonNode metadata = object.path("metadata");
    String namespace = metadata.path("namespace").asText();
    String name = metadata.path("name").asText();
    return namespace.isEmpty() ? name : namespace + "/" + name;
  }

  /** The uid of the Job, or the RayCluster, that controls the object; empty if there is none. */
  static String controllingJob(JsonNode object) {
    for (JsonNode owner : object.path("metadata").path("ownerReferences")) {
      if (owner.path("controller").asBoolean() && JOBS.contains(owner.path("kind").asText())) {
        return owner.path("uid").asText();
      }
    }
    return "";
  }

  /** Whether a Workload is a slice of an elastic job. */
  static boolean isSlice(JsonNode workload) {
    return annotation(workload, "kueue.x-k8s.io/elastic-job").equals("true");
  }

  /** The slice that a Workload replaces, as namespace and name; empty if it replaces none. */
  static String replacedSlice(JsonNode workload) {
    return annotation(workload, "kueue.x-k8s.io/workload-slice-replacement-for");
  }

  private static String annotation(JsonNode object, String key) {
    return object.path("metadata").path("annotations").path(key).asText();
  }

  /** Whether a pod waits for the gate of elastic jobs to be opened. */
  static boolean isGated(JsonNode pod) {
    for (JsonNode gate : pod.path("spec").path("schedulingGates")) {
      if (gate.path("name").asText().equals("kueue.x-k8s.io/elastic-job")) {
        return true;
      }
    }
    return false;
  }

  static boolean isTrue(JsonNode object, String conditionType) {
    for (JsonNode condition : object.path("status").path("conditions")) {
      if (condition.path("type").asText().equals(conditionType)) {
        return condition.path("status").asText().equals("True");
      }
    }
    return false;
  }

  /** Whether a Job has a queue name, as label or annotation. */
  static boolean isQueued(JsonNode job) {
    JsonNode metadata = job.path("metadata");
    return metadata.path("labels").has(QUEUE_NAME) || metadata.path("annotations").has(QUEUE_NAME);
  }

  /** How a Job ended: Complete, Failed, or empty. */
  static String end(JsonNode job) {
    return isTrue(job, "Complete") ? "Complete" : isTrue(job, "Failed") ? "Failed" : "";
  }

  static boolean hasEnded(JsonNode pod) {
    String phase = pod.path("status").path("phase").asText();
    return phase.equals("Succeeded") || phase.equals("Failed");
  }

  static BigDecimal amount(JsonNode quantity) {
    return Quantity.getAmountInBytes(Quantity.parse(quantity.asText()));
  }

  /** The nominal quotas of a ClusterQueue. */
  static Map<FlavorResourcePair, BigDecimal> quotas(JsonNode queue) {
    Map<FlavorResourcePair, BigDecimal> quotas = new HashMap<>();
    String name = name(queue);
    for (JsonNode group : queue.path("spec").path("resourceGroups")) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode resource : flavor.path("resources")) {
          quotas.put(
              new FlavorResourcePair(
                  name, flavor.path("name").asText(), resource.path("name").asText()),
              amount(resource.path("nominalQuota")));
        }
      }
    }
    return quotas;
  }

  /** The quota that a Workload holds: none without an admission or after it finished. */
  static Map<FlavorResourcePair, BigDecimal> held(JsonNode workload) {
    Map<FlavorResourcePair, BigDecimal> held = new HashMap<>();
    JsonNode admission = workload.path("status").path("admission");
    if (isTrue(workload, "Finished")) {
      return held;
    }
    String queue = admission.path("clusterQueue").asText();
    for (JsonNode podSet : admission.path("podSetAssignments")) {
      long count = podSet.path("count").asLong(1);
      String name = podSet.path("name").asText();
      long needed = Math.min(count, specified(workload, name)) - reclaimable(workload, name);
      for (Map.Entry<String, JsonNode> usage : podSet.path("resourceUsage").properties()) {
        BigDecimal amount =
            count == 0
                ? BigDecimal.ZERO
                : amount(usage.getValue())
                    .multiply(BigDecimal.valueOf(needed))
                    .divide(BigDecimal.valueOf(count), DIGITS, RoundingMode.HALF_UP);
        String flavor = podSet.path("flavors").path(usage.getKey()).asText();
        held.merge(new FlavorResourcePair(queue, flavor, usage.getKey()), amount, BigDecimal::add);
      }
    }
    return held;
  }

  /** The pods that the spec has: fewer than admitted, after an elastic job became smaller. */
  private static long specified(JsonNode workload, String podSet) {
    for (JsonNode each : workload.path("spec").path("podSets")) {
      if (each.path("name").asText().equals(podSet)) {
        return each.path("count").asLong(1);
      }
    }
    return Long.MAX_VALUE;
  }

  private static long reclaimable(JsonNode workload, String podSet) {
    for (JsonNode each : workload.path("status").path("reclaimablePods")) {
      if (each.path("name").asText().equals(podSet)) {
        return each.path("count").asLong();
      }
    }
    return 0;
  }

  /** The quotas that the pods of a Workload with a single pod set count against, by resource. */
  static Map<String, FlavorResourcePair> pairs(JsonNode workload) {
    Map<String, FlavorResourcePair> flavorResourcePairs = new HashMap<>();
    JsonNode admission = workload.path("status").path("admission");
    String queue = admission.path("clusterQueue").asText();
    for (JsonNode podSet : admission.path("podSetAssignments")) {
      for (Map.Entry<String, JsonNode> flavor : podSet.path("flavors").properties()) {
        flavorResourcePairs.put(
            flavor.getKey(),
            new FlavorResourcePair(queue, flavor.getValue().asText(), flavor.getKey()));
      }
    }
    return flavorResourcePairs;
  }

  /** The quota that a pod uses until it has ended. */
  static Map<FlavorResourcePair, BigDecimal> requests(
      JsonNode pod, Map<String, FlavorResourcePair> flavorResourcePairs) {
    Map<FlavorResourcePair, BigDecimal> requests = new HashMap<>();
    for (JsonNode container : pod.path("spec").path("containers")) {
      for (Map.Entry<String, JsonNode> request :
          container.path("resources").path("requests").properties()) {
        Optional.ofNullable(flavorResourcePairs.get(request.getKey()))
            .ifPresent(
                flavorResourcePair ->
                    requests.merge(
                        flavorResourcePair, amount(request.getValue()), BigDecimal::add));
      }
    }
    if (flavorResourcePairs.containsKey("pods")) {
      requests.put(flavorResourcePairs.get("pods"), BigDecimal.ONE);
    }
    return requests;
  }
}
