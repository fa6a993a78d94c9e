package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Values of gauges at one scrape, grouped by family. */
final class GaugeSet {

  private final ReplicaRole role;
  private final CustomLabels customLabels;
  private final Map<Family, List<Point>> families = new LinkedHashMap<>();

  /**
   * A family of gauges.
   *
   * @param name full name; a family whose name ends in {@code _info} has the constant value 1
   * @param help help text
   * @param labels names of its labels except the role
   */
  record Family(String name, String help, List<String> labels) {

    static Family of(String name, String help, String... labels) {
      return new Family(name, help, List.of(labels));
    }

    boolean isInfo() {
      return name.endsWith("_info");
    }
  }

  private record Point(double value, Labels labels) {}

  GaugeSet(ReplicaRole role) {
    this(role, CustomLabels.NONE);
  }

  /** Series that take the labels of {@code customLabels} for which they have a source. */
  GaugeSet(ReplicaRole role, CustomLabels customLabels) {
    this.role = role;
    this.customLabels = customLabels;
  }

  /** Adds a series; {@code labels} are the values of the family's labels. */
  void set(Family family, double value, String... labels) {
    add(
        family,
        value,
        List.of(labels),
        customLabels.names(family.labels()),
        customLabels.values(family.labels(), List.of(labels)));
  }

  /** Adds a series of a family that takes the labels of Workloads, too, with these values. */
  void setOfWorkloads(Family family, double value, List<String> workload, String... labels) {
    List<String> names = new ArrayList<>(customLabels.names(family.labels()));
    names.addAll(customLabels.workloadNames());
    List<String> values = new ArrayList<>(customLabels.values(family.labels(), List.of(labels)));
    values.addAll(workload);
    add(family, value, List.of(labels), names, values);
  }

  /** Adds a series of a family that takes the labels of ClusterQueues alone, with these values. */
  void setOfQueues(Family family, double value, List<String> queues, String... labels) {
    add(family, value, List.of(labels), customLabels.clusterQueueNames(), queues);
  }

  private void add(
      Family family,
      double value,
      List<String> own,
      List<String> customNames,
      List<String> customValues) {
    List<String> names = new ArrayList<>(family.labels());
    names.add(ReplicaRole.LABEL);
    names.addAll(customNames);
    List<String> values = new ArrayList<>(own);
    values.add(role.text());
    values.addAll(customValues);
    families
        .computeIfAbsent(family, any -> new ArrayList<>())
        .add(new Point(value, Labels.of(names, values)));
  }

  /** All values. */
  MetricSnapshots snapshots() {
    List<MetricSnapshot> result = new ArrayList<>();
    families.forEach((family, points) -> result.add(snapshot(family, points)));
    return new MetricSnapshots(result);
  }

  private static MetricSnapshot snapshot(Family family, List<Point> points) {
    if (family.isInfo()) {
      String name = family.name().substring(0, family.name().length() - "_info".length());
      return new InfoSnapshot(
          new MetricMetadata(name, family.help()),
          points.stream().map(point -> new InfoDataPointSnapshot(point.labels())).toList());
    }
    return new GaugeSnapshot(
        new MetricMetadata(family.name(), family.help()),
        points.stream()
            .map(point -> new GaugeDataPointSnapshot(point.value(), point.labels(), null))
            .toList());
  }
}
