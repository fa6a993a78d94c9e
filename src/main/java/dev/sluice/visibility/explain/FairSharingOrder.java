package dev.sluice.visibility.explain;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Order of LocalQueues under admission fair sharing: LocalQueues with less past usage first, as
 * their statuses report it. The configured resource weights are unknown to this command; each
 * resource has weight 1.
 */
final class FairSharingOrder {

  private final Map<String, Double> used = new TreeMap<>();
  private boolean byUse;

  /** Reads from the ClusterQueue whether it uses admission fair sharing. */
  void observe(GenericKubernetesResource clusterQueue) {
    byUse =
        JsonPaths.text(clusterQueue, "spec", "admissionScope", "admissionMode")
            .equals("UsageBasedAdmissionFairSharing");
  }

  /** Adds the past usage of one of its LocalQueues. */
  void used(GenericKubernetesResource localQueue) {
    Object consumed =
        localQueue.get("status", "fairSharing", "admissionFairSharingStatus", "consumedResources");
    double sum = 0;
    if (consumed instanceof Map<?, ?> amounts) {
      for (Object amount : amounts.values()) {
        sum += number(String.valueOf(amount)).doubleValue();
      }
    }
    String weight = JsonPaths.text(localQueue, "spec", "fairSharing", "weight");
    double share = weight.isEmpty() ? 1 : number(weight).doubleValue();
    used.put(JsonPaths.fullName(localQueue), share <= 0 ? Double.POSITIVE_INFINITY : sum / share);
  }

  private static BigDecimal number(String quantity) {
    return Quantity.getAmountInBytes(Quantity.parse(quantity));
  }

  /**
   * Orders Workloads by the past usage of their LocalQueues; without admission fair sharing, all
   * are equal.
   */
  Comparator<GenericKubernetesResource> order() {
    return Comparator.comparingDouble(this::usedBy);
  }

  private double usedBy(GenericKubernetesResource workload) {
    return byUse ? used.getOrDefault(queueOf(workload), 0.0) : 0;
  }

  private static String queueOf(GenericKubernetesResource workload) {
    return workload.getMetadata().getNamespace()
        + "/"
        + JsonPaths.text(workload, "spec", "queueName");
  }

  private List<String> before(
      GenericKubernetesResource workload, List<GenericKubernetesResource> pending) {
    Set<String> queues = new LinkedHashSet<>();
    for (GenericKubernetesResource other : pending) {
      if (usedBy(other) < usedBy(workload)) {
        queues.add(queueOf(other));
      }
    }
    return new ArrayList<>(queues);
  }

  /**
   * The end of a sentence if Workloads are ahead because their LocalQueues used less; otherwise
   * empty.
   */
  String sentence(GenericKubernetesResource workload, List<GenericKubernetesResource> pending) {
    List<String> before = before(workload, pending);
    return before.isEmpty()
        ? ""
        : "; LocalQueue %s used more than %s, so that %s first"
            .formatted(
                queueOf(workload),
                before.size() == 1
                    ? "LocalQueue " + before.getFirst()
                    : before.size() + " others that wait",
                before.size() == 1 ? "that one comes" : "those come");
  }

  /** A line with the past usage of each LocalQueue, with admission fair sharing only. */
  Optional<String> line(
      GenericKubernetesResource workload, List<GenericKubernetesResource> pending) {
    List<String> before = before(workload, pending);
    if (before.isEmpty()) {
      return Optional.empty();
    }
    before.add(queueOf(workload));
    return Optional.of(
        "  used over time, by weight: "
            + String.join(
                ", ",
                before.stream()
                    .map(queue -> queue + " " + amount(used.getOrDefault(queue, 0.0)))
                    .toList()));
  }

  private static String amount(double use) {
    return Double.isInfinite(use)
        ? "without bounds"
        : BigDecimal.valueOf(use).setScale(3, RoundingMode.HALF_UP).toPlainString();
  }
}
