package dev.sluice.visibility.explain;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A Workload that holds quota that a pending Workload requests.
 *
 * @param name namespace and name
 * @param clusterQueue the ClusterQueue whose quota it holds
 * @param usage its usage of the requested resources
 * @param weight how many times its usage would satisfy the request; for comparison
 */
record UsageHolder(
    String name, String clusterQueue, Map<String, BigDecimal> usage, BigDecimal weight) {

  /**
   * The Workloads of {@code holding} that hold quota which {@code waiting} requests, largest weight
   * first.
   */
  static List<UsageHolder> inTheWay(
      GenericKubernetesResource waiting, List<GenericKubernetesResource> holding) {
    Map<String, BigDecimal> wanted = JsonPaths.requests(waiting);
    return holding.stream()
        .map(each -> of(each, wanted))
        .filter(usageHolder -> !usageHolder.usage().isEmpty())
        .sorted(
            Comparator.comparing(UsageHolder::weight).reversed().thenComparing(UsageHolder::name))
        .toList();
  }

  private static UsageHolder of(GenericKubernetesResource holding, Map<String, BigDecimal> wanted) {
    Map<String, BigDecimal> usage = new TreeMap<>();
    BigDecimal weight = BigDecimal.ZERO;
    for (Map.Entry<String, BigDecimal> used : JsonPaths.usage(holding).entrySet()) {
      BigDecimal request = wanted.getOrDefault(used.getKey(), BigDecimal.ZERO);
      if (used.getValue().signum() > 0 && (wanted.isEmpty() || request.signum() > 0)) {
        usage.put(used.getKey(), used.getValue());
        weight =
            weight.add(
                request.signum() > 0
                    ? used.getValue().divide(request, MathContext.DECIMAL64)
                    : BigDecimal.ONE);
      }
    }
    return new UsageHolder(
        JsonPaths.fullName(holding),
        JsonPaths.text(holding, "status", "admission", "clusterQueue"),
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
            .map(each -> each.getKey() + " " + each.getValue().stripTrailingZeros().toPlainString())
            .toList());
  }
}
