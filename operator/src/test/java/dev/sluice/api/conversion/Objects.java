package dev.sluice.api.conversion;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Generates objects that the stored version, or an older one, could hold. Same seed, same objects.
 */
final class Objects {

  private static final String[] FLAVORS = {"spot", "ondemand", "reserved"};
  private static final String[] QUANTITIES = {"0", "1", "500m", "10Gi", "3k", "2.5", "1e3", "64Mi"};

  private final Random random;

  Objects(long seed) {
    random = new Random(seed);
  }

  /** What a manifest says. */
  static <T extends JsonNode> T read(String yaml, Class<T> type) {
    try {
      return type.cast(new YAMLMapper().readTree(yaml));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(yaml, e);
    }
  }

  ObjectNode hub(String kind) {
    ObjectNode object = object(kind, "v1beta2");
    switch (kind) {
      case "ClusterQueue" -> clusterQueue(object);
      case "LocalQueue" -> localQueue(object);
      case "ResourceFlavor" -> flavor(object);
      case "Cohort" -> cohort(object);
      case "MultiKueueCluster" -> cluster(object);
      default -> workload(object);
    }
    return object;
  }

  ObjectNode alphaClusterQueue() {
    ObjectNode object = object("ClusterQueue", "v1alpha2");
    ObjectNode spec = object.putObject("spec");
    maybe(() -> spec.put("cohort", "all"));
    maybe(() -> spec.putObject("namespaceSelector"));
    ArrayNode resources = spec.putArray("resources");
    for (String name : new String[] {"cpu", "memory", "nvidia.com/gpu"}) {
      ArrayNode flavors = resources.addObject().put("name", name).putArray("flavors");
      for (int i = 0; i <= random.nextInt(FLAVORS.length); i++) {
        ObjectNode quota = flavors.addObject().put("name", FLAVORS[i]).putObject("quota");
        int min = random.nextInt(5);
        maybe(() -> quota.put("min", min));
        maybe(() -> quota.put("max", "1" + min + "Gi"));
      }
    }
    return object;
  }

  ObjectNode alphaFlavor() {
    ObjectNode object = object("ResourceFlavor", "v1alpha2");
    maybe(() -> object.withObject("/metadata/labels").put("type", "spot"));
    maybe(() -> object.putObject("nodeSelector").put("pool", "a"));
    maybe(
        () -> object.putArray("taints").addObject().put("key", "spot").put("effect", "NoSchedule"));
    return object;
  }

  private static ObjectNode object(String kind, String version) {
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    object.put("apiVersion", "kueue.x-k8s.io/" + version).put("kind", kind);
    object.putObject("metadata").put("name", "x").put("uid", "1-2-3");
    return object;
  }

  private void clusterQueue(ObjectNode object) {
    ObjectNode spec = object.putObject("spec");
    boolean cohort = random.nextBoolean();
    if (cohort) {
      spec.put("cohortName", "all");
    }
    maybe(() -> spec.putObject("namespaceSelector").putObject("matchLabels").put("a", "b"));
    maybe(() -> spec.put("queueingStrategy", "StrictFIFO"));
    maybe(() -> spec.put("stopPolicy", "Hold"));
    maybe(() -> spec.putObject("fairSharing").put("weight", "2"));
    maybe(() -> spec.putObject("preemption").put("withinClusterQueue", "LowerPriority"));
    maybe(() -> spec.putObject("flavorFungibility").put("whenCanBorrow", "TryNextFlavor"));
    maybe(
        () ->
            spec.putObject("admissionChecksStrategy")
                .putArray("admissionChecks")
                .addObject()
                .put("name", "check")
                .putArray("onFlavors")
                .add("spot"));
    maybe(
        () ->
            spec.putObject("concurrentAdmissionPolicy")
                .putObject("migration")
                .put("mode", "RetainFirstAdmission"));
    maybe(() -> groups(spec, cohort));
    maybe(() -> status(object, "flavorsUsage"));
  }

  private void groups(ObjectNode spec, boolean limits) {
    ArrayNode groups = spec.putArray("resourceGroups");
    String[][] resources = {{"cpu", "memory"}, {"nvidia.com/gpu"}};
    for (int g = 0; g <= random.nextInt(2); g++) {
      ObjectNode group = groups.addObject();
      ArrayNode covered = group.putArray("coveredResources");
      for (String resource : resources[g]) {
        covered.add(resource);
      }
      ArrayNode flavors = group.putArray("flavors");
      for (int f = 0; f <= random.nextInt(FLAVORS.length); f++) {
        ArrayNode quotas = flavors.addObject().put("name", FLAVORS[f] + g).putArray("resources");
        for (String resource : resources[g]) {
          ObjectNode quota = quotas.addObject().put("name", resource);
          quota.put("nominalQuota", quantity());
          if (limits) {
            maybe(() -> quota.put("borrowingLimit", quantity()));
            maybe(() -> quota.put("lendingLimit", quantity()));
          }
        }
      }
    }
  }

  private void localQueue(ObjectNode object) {
    ObjectNode spec = object.putObject("spec").put("clusterQueue", "pool");
    maybe(() -> spec.put("stopPolicy", "HoldAndDrain"));
    maybe(() -> spec.putObject("fairSharing").put("weight", 3));
    maybe(() -> status(object, "flavorsUsage"));
  }

  private void status(ObjectNode object, String usage) {
    ObjectNode status = object.putObject("status").put("pendingWorkloads", random.nextInt(9));
    maybe(() -> status.put("admittedWorkloads", 2).put("reservingWorkloads", 3));
    maybe(() -> status.putObject("fairSharing").put("weightedShare", 17));
    ObjectNode flavor = status.putArray(usage).addObject().put("name", "spot");
    flavor.putArray("resources").addObject().put("name", "cpu").put("total", quantity());
    status.putArray("conditions").addObject().put("type", "Active").put("status", "True");
  }

  private void flavor(ObjectNode object) {
    maybe(() -> object.withObject("/metadata/labels").put("type", "spot"));
    maybe(
        () -> {
          ObjectNode spec = object.putObject("spec");
          spec.putObject("nodeLabels").put("type", random.nextBoolean() ? "spot" : "other");
          maybe(() -> spec.put("topologyName", "rack"));
          maybe(() -> spec.putArray("tolerations").addObject().put("operator", "Exists"));
          maybe(
              () ->
                  spec.putArray("nodeTaints")
                      .addObject()
                      .put("key", "a")
                      .put("effect", "NoExecute"));
        });
  }

  private void cohort(ObjectNode object) {
    ObjectNode spec = object.putObject("spec");
    maybe(() -> spec.put("parentName", "root"));
    maybe(() -> groups(spec, true));
    maybe(() -> object.putObject("status").putObject("fairSharing").put("weightedShare", 5));
  }

  private void cluster(ObjectNode object) {
    ObjectNode source = object.putObject("spec").putObject("clusterSource");
    if (random.nextBoolean()) {
      source.putObject("kubeConfig").put("location", "secret").put("locationType", "Secret");
    } else {
      source.putObject("clusterProfileRef").put("name", "profile");
    }
  }

  private void workload(ObjectNode object) {
    ObjectNode spec = object.putObject("spec").put("queueName", "q").put("priority", 4);
    maybe(
        () ->
            spec.putObject("priorityClassRef")
                .put("group", random.nextBoolean() ? "kueue.x-k8s.io" : "scheduling.k8s.io"));
    if (spec.get("priorityClassRef") instanceof ObjectNode reference) {
      boolean own = reference.path("group").asText().startsWith("kueue");
      reference.put("kind", own ? "WorkloadPriorityClass" : "PriorityClass").put("name", "high");
    }
    maybe(() -> spec.putArray("preemptionGates").addObject().put("name", "gate"));
    ObjectNode podSet = spec.putArray("podSets").addObject().put("name", "main").put("count", 3);
    podSet.putObject("template").putObject("spec").put("restartPolicy", "Never");
    maybe(
        () -> {
          ArrayNode constraints =
              podSet
                  .putObject("topologyRequest")
                  .put("required", "rack")
                  .putArray("podsetSliceRequiredTopologyConstraints");
          constraints.addObject().put("topology", "host").put("size", 2);
        });
    maybe(() -> workloadStatus(object.putObject("status")));
  }

  private void workloadStatus(ObjectNode status) {
    maybe(() -> status.put("accumulatedPastExecutionTimeSeconds", 12));
    maybe(
        () ->
            status
                .putArray("preemptionGates")
                .addObject()
                .put("name", "gate")
                .put("position", "Open"));
    ObjectNode assignment =
        status
            .putObject("admission")
            .put("clusterQueue", "pool")
            .putArray("podSetAssignments")
            .addObject()
            .put("name", "main")
            .put("count", 3);
    maybe(() -> topology(assignment.putObject("topologyAssignment")));
  }

  private void topology(ObjectNode topology) {
    topology.putArray("levels").add("rack").add("host");
    ArrayNode slices = topology.putArray("slices");
    for (int s = 0; s <= random.nextInt(3); s++) {
      int domains = 1 + random.nextInt(3);
      ObjectNode slice = slices.addObject().put("domainCount", domains);
      ObjectNode counts = slice.putObject("podCounts");
      counts.put("universal", 1 + random.nextInt(2));
      ArrayNode values = slice.putArray("valuesPerLevel");
      values.addObject().put("universal", "r" + s);
      ObjectNode individual = values.addObject().putObject("individual").put("prefix", "node-");
      ArrayNode roots = individual.putArray("roots");
      each(domains, i -> roots.add(s(i)));
    }
  }

  private static String s(int index) {
    return "n" + index;
  }

  private static void each(int count, Consumer<Integer> action) {
    for (int i = 0; i < count; i++) {
      action.accept(i);
    }
  }

  private String quantity() {
    return QUANTITIES[random.nextInt(QUANTITIES.length)];
  }

  private void maybe(Runnable action) {
    if (random.nextBoolean()) {
      action.run();
    }
  }
}
