package dev.sluice.metrics;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.metrics.GaugeSet.Family;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers of Workloads by the values of the labels that come from Workloads. The values of a
 * Workload without labels always have a series, so that a queue without Workloads has one.
 */
final class WorkloadLabelGauges {

  private final CustomLabels customLabels;
  private final Map<String, Map<List<String>, Integer>> byClusterQueue = new HashMap<>();
  private final Map<LocalQueueId, Map<List<String>, Integer>> byLocalQueue = new HashMap<>();

  /** The admitted Workloads that {@code counter} counts. */
  WorkloadLabelGauges(CustomLabels customLabels, WorkloadCounter counter) {
    this.customLabels = customLabels;
    counter
        .admitted()
        .forEach(
            (group, count) -> {
              byClusterQueue
                  .computeIfAbsent(group.clusterQueue(), any -> new HashMap<>())
                  .merge(group.labels(), count, Integer::sum);
              byLocalQueue
                  .computeIfAbsent(group.queue(), any -> new HashMap<>())
                  .merge(group.labels(), count, Integer::sum);
            });
  }

  /** Adds the number of a ClusterQueue: {@code total}, or its parts if labels tell them apart. */
  void admitted(GaugeSet gauges, Family family, String clusterQueue, int total) {
    if (customLabels.hasWorkloadLabels()) {
      set(
          gauges,
          family,
          customLabels,
          byClusterQueue.getOrDefault(clusterQueue, Map.of()),
          clusterQueue);
    } else {
      gauges.set(family, total, clusterQueue);
    }
  }

  /** The same of a LocalQueue. */
  void admitted(GaugeSet gauges, Family family, LocalQueueId id, int total) {
    if (customLabels.hasWorkloadLabels()) {
      set(
          gauges,
          family,
          customLabels,
          byLocalQueue.getOrDefault(id, Map.of()),
          id.name(),
          id.namespace());
    } else {
      gauges.set(family, total, id.name(), id.namespace());
    }
  }

  /** Adds a series for each set of values, and one for the values of a Workload without labels. */
  static void set(
      GaugeSet gauges,
      Family family,
      CustomLabels customLabels,
      Map<List<String>, Integer> counts,
      String... labels) {
    List<String> none = customLabels.valuesOfNoWorkload();
    if (!counts.containsKey(none)) {
      gauges.setOfWorkloads(family, 0, none, labels);
    }
    counts.forEach((values, count) -> gauges.setOfWorkloads(family, count, values, labels));
  }
}
