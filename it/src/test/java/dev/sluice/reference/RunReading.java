package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Objects of the API as the reference knows them, read without the operator's own translation; only
 * what random runs make use of.
 */
final class RunReading {

  private RunReading() {}

  static String name(JsonNode object) {
    return object.at("/metadata/name").asText();
  }

  static String uid(JsonNode object) {
    return object.at("/metadata/uid").asText();
  }

  static ClusterQueueSpec clusterQueue(JsonNode object) {
    JsonNode spec = object.path("spec");
    return new ClusterQueueSpec(
        name(object),
        spec.path("cohortName").asText(),
        groups(spec),
        spec.path("queueingStrategy").asText().equals("StrictFIFO")
            ? QueueingStrategy.STRICT_FIFO
            : QueueingStrategy.BEST_EFFORT_FIFO,
        new LabelSelector.Requirements(List.of()),
        word(StopPolicy.class, spec.path("stopPolicy"), StopPolicy.NONE),
        object.path("metadata").has("deletionTimestamp"),
        policies(spec.path("preemption")),
        new FlavorFungibility(
            spec.at("/flavorFungibility/whenCanBorrow").asText().equals("TryNextFlavor"),
            spec.at("/flavorFungibility/whenCanPreempt").asText().equals("TryNextFlavor"),
            spec.at("/flavorFungibility/preference").asText().equals("PreemptionOverBorrowing")),
        weight(spec),
        List.of(),
        List.of(),
        false);
  }

  static CohortSpec cohort(JsonNode object) {
    JsonNode spec = object.path("spec");
    return new CohortSpec(
        name(object), spec.path("parentName").asText(), groups(spec), weight(spec));
  }

  static LocalQueueSpec localQueue(JsonNode object) {
    return new LocalQueueSpec(
        new LocalQueueId(object.at("/metadata/namespace").asText(), name(object)),
        object.at("/spec/clusterQueue").asText(),
        word(StopPolicy.class, object.at("/spec/stopPolicy"), StopPolicy.NONE));
  }

  private static BigDecimal weight(JsonNode spec) {
    JsonNode weight = spec.at("/fairSharing/weight");
    return weight.isMissingNode() ? BigDecimal.ONE : number(weight);
  }

  private static PreemptionPolicies policies(JsonNode preemption) {
    JsonNode threshold = preemption.at("/borrowWithinCohort/maxPriorityThreshold");
    return new PreemptionPolicies(
        word(
            WithinClusterQueue.class,
            preemption.path("withinClusterQueue"),
            WithinClusterQueue.NEVER),
        word(
            ReclaimWithinCohort.class,
            preemption.path("reclaimWithinCohort"),
            ReclaimWithinCohort.NEVER),
        preemption.at("/borrowWithinCohort/policy").asText().equals("LowerPriority"),
        threshold.isNumber() ? OptionalInt.of(threshold.asInt()) : OptionalInt.empty());
  }

  /** {@code LowerPriority} is {@code LOWER_PRIORITY}. */
  private static <E extends Enum<E>> E word(Class<E> type, JsonNode word, E absent) {
    return Arrays.stream(type.getEnumConstants())
        .filter(each -> each.name().replace("_", "").equalsIgnoreCase(word.asText()))
        .findFirst()
        .orElse(absent);
  }

  private static List<ResourceGroup> groups(JsonNode spec) {
    List<ResourceGroup> groups = new ArrayList<>();
    for (JsonNode group : spec.path("resourceGroups")) {
      List<String> covered = new ArrayList<>();
      group.path("coveredResources").forEach(each -> covered.add(each.asText()));
      List<ResourceGroup.FlavorQuotas> flavors = new ArrayList<>();
      for (JsonNode flavor : group.path("flavors")) {
        Map<String, Quota> quotas = new HashMap<>();
        for (JsonNode resource : flavor.path("resources")) {
          String name = name(resource, "name");
          quotas.put(
              name,
              new Quota(
                  amount(name, resource.path("nominalQuota")),
                  limit(name, resource.path("borrowingLimit")),
                  limit(name, resource.path("lendingLimit"))));
        }
        flavors.add(new ResourceGroup.FlavorQuotas(name(flavor, "name"), quotas));
      }
      groups.add(new ResourceGroup(covered, flavors));
    }
    return groups;
  }

  private static String name(JsonNode node, String field) {
    return node.path(field).asText();
  }

  private static long limit(String resource, JsonNode quantity) {
    return quantity.isMissingNode() || quantity.isNull()
        ? ResourceAmounts.UNLIMITED
        : amount(resource, quantity);
  }

  private static BigDecimal number(JsonNode quantity) {
    return Quantity.getAmountInBytes(Quantity.parse(quantity.asText()));
  }

  private static long amount(String resource, JsonNode quantity) {
    BigDecimal number = number(quantity);
    return (resource.equals("cpu") ? number.movePointRight(3) : number)
        .setScale(0, RoundingMode.UP)
        .longValueExact();
  }

  /** A Workload with all that decisions about it hang on. */
  static RunWorkload workload(JsonNode object) {
    JsonNode status = object.path("status");
    boolean finished = isTrue(object, "Finished");
    boolean holds =
        !finished && isTrue(object, "QuotaReserved") && status.path("admission").isObject();
    boolean waits =
        !finished
            && !isTrue(object, "QuotaReserved")
            && !object.path("metadata").has("deletionTimestamp")
            && object.at("/spec/active").asBoolean(true)
            && !condition(object, "Requeued", "status").equals("False")
            && !status.at("/requeueState").has("requeueAt");
    return new RunWorkload(
        new WorkloadId(uid(object), object.at("/metadata/namespace").asText(), name(object)),
        object.at("/metadata/resourceVersion").asLong(),
        object.at("/spec/queueName").asText(),
        object.at("/spec/priority").asLong(),
        Instant.parse(object.at("/metadata/creationTimestamp").asText()),
        shape(object),
        waits,
        holds ? status.at("/admission/clusterQueue").asText() : "",
        holds ? assignments(status) : List.of(),
        isTrue(object, "Evicted"),
        isTrue(object, "Preempted")
            ? Optional.of(
                new RunWorkload.Preempted(
                    condition(object, "Preempted", "reason"),
                    condition(object, "Preempted", "message"),
                    condition(object, "Preempted", "lastTransitionTime")))
            : Optional.empty(),
        holds
            ? Instant.parse(condition(object, "QuotaReserved", "lastTransitionTime"))
            : Instant.EPOCH,
        Boolean.parseBoolean(condition(object, "Admitted", "status")));
  }

  private static RequestShape shape(JsonNode object) {
    List<PodSetRequest> podSets = new ArrayList<>();
    for (JsonNode podSet : object.at("/spec/podSets")) {
      SortedMap<String, Long> perPod = new TreeMap<>();
      for (JsonNode container : podSet.at("/template/spec/containers")) {
        container
            .at("/resources/requests")
            .properties()
            .forEach(
                each ->
                    perPod.merge(each.getKey(), amount(each.getKey(), each.getValue()), Long::sum));
      }
      int count = podSet.path("count").asInt(1);
      podSets.add(
          new PodSetRequest(
              name(podSet, "name"),
              count,
              count - podSet.path("minCount").asInt(count),
              perPod,
              NodeConstraints.ANYWHERE,
              ""));
    }
    return new RequestShape(podSets);
  }

  private static List<PodSetAssignment> assignments(JsonNode status) {
    List<PodSetAssignment> result = new ArrayList<>();
    for (JsonNode each : status.at("/admission/podSetAssignments")) {
      SortedMap<String, String> flavors = new TreeMap<>();
      each.path("flavors")
          .properties()
          .forEach(f -> flavors.put(f.getKey(), f.getValue().asText()));
      int count = each.path("count").asInt(1);
      int left = count - reclaimable(status, name(each, "name"));
      SortedMap<String, Long> usage = new TreeMap<>();
      each.path("resourceUsage")
          .properties()
          .forEach(
              used ->
                  usage.put(
                      used.getKey(),
                      count == 0
                          ? 0
                          : amount(used.getKey(), used.getValue()) / count * Math.max(0, left)));
      result.add(new PodSetAssignment(name(each, "name"), flavors, usage, left));
    }
    return result;
  }

  private static int reclaimable(JsonNode status, String podSet) {
    for (JsonNode each : status.path("reclaimablePods")) {
      if (name(each, "name").equals(podSet)) {
        return each.path("count").asInt();
      }
    }
    return 0;
  }

  private static boolean isTrue(JsonNode object, String type) {
    return condition(object, type, "status").equals("True");
  }

  private static String condition(JsonNode object, String type, String field) {
    for (JsonNode condition : object.at("/status/conditions")) {
      if (name(condition, "type").equals(type)) {
        return name(condition, field);
      }
    }
    return "";
  }
}
