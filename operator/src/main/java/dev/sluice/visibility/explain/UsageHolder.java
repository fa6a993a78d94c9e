package dev.sluice.visibility.explain;

import dev.sluice.api.Quantities;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A Workload that holds quota that a pending Workload requests.
 *
 * @param name namespace and name
 * @param clusterQueue the ClusterQueue whose quota it holds
 * @param usage its usage of the requested resources, in amounts
 * @param weight how many times its usage would satisfy the request; for comparison
 */
record UsageHolder(String name, String clusterQueue, Map<String, Long> usage, double weight) {

  /**
   * The Workloads of {@code holding} that hold quota which {@code waiting} requests, largest weight
   * first.
   */
  static List<UsageHolder> inTheWay(
      GenericKubernetesResource waiting, List<CachedWorkload> holding) {
    Map<String, Long> wanted = JsonPaths.requests(waiting);
    return holding.stream()
        .flatMap(each -> each.status().admission().stream().map(it -> of(each, it, wanted)))
        .filter(usageHolder -> !usageHolder.usage().isEmpty())
        .sorted(
            Comparator.comparingDouble(UsageHolder::weight)
                .reversed()
                .thenComparing(UsageHolder::name))
        .toList();
  }

  private static UsageHolder of(
      CachedWorkload holding, CachedWorkload.Admission admission, Map<String, Long> wanted) {
    Map<String, Long> usage = new TreeMap<>();
    double weight = 0;
    for (CachedWorkload.Assignment podSet : admission.podSetAssignments()) {
      for (Map.Entry<String, String> used : podSet.resourceUsage().entrySet()) {
        long amount = Quantities.amount(used.getKey(), used.getValue());
        long request = wanted.getOrDefault(used.getKey(), 0L);
        if (amount > 0 && (wanted.isEmpty() || request > 0)) {
          usage.merge(used.getKey(), amount, Long::sum);
          weight += request > 0 ? (double) amount / request : 1;
        }
      }
    }
    return new UsageHolder(
        holding.id().namespace() + "/" + holding.id().name(),
        admission.clusterQueue(),
        usage,
        weight);
  }

  /** Name and usage. */
  String inShort() {
    return name + " (" + amounts() + ")";
  }

  /** A full line of text. */
  String line() {
    return "  held by " + name + " in ClusterQueue " + clusterQueue + ": " + amounts();
  }

  private String amounts() {
    return String.join(
        ", ",
        usage.entrySet().stream()
            .map(each -> each.getKey() + " " + Quantities.format(each.getKey(), each.getValue()))
            .toList());
  }
}
