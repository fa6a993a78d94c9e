package dev.sluice.metrics;

import dev.sluice.kube.leader.ReplicaRole;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Creates families of metrics, each with the replica's role as its last label. */
final class MetricFamilies {

  private final PrometheusRegistry registry;
  private final CustomLabels customLabels;
  private final List<String> further;

  MetricFamilies(PrometheusRegistry registry) {
    this(registry, CustomLabels.NONE);
  }

  /** Families that take the labels of {@code customLabels} for which they have a source. */
  MetricFamilies(PrometheusRegistry registry, CustomLabels customLabels) {
    this(registry, customLabels, List.of());
  }

  private MetricFamilies(
      PrometheusRegistry registry, CustomLabels customLabels, List<String> further) {
    this.registry = registry;
    this.customLabels = customLabels;
    this.further = List.copyOf(further);
  }

  /** A counter; its name ends in {@code _total}. */
  Counter counter(String name, String help, String... labels) {
    return Counter.builder().name(name).help(help).labelNames(withRole(labels)).register(registry);
  }

  /** Families that name no LocalQueue, and take the labels that come from LocalQueues. */
  MetricFamilies ofLocalQueues() {
    return new MetricFamilies(
        registry, customLabels, customLabels.names(CustomLabels.OF_LOCAL_QUEUE));
  }

  /** The same families with the labels that come from Workloads, too. */
  MetricFamilies ofWorkloads() {
    return new MetricFamilies(registry, customLabels, customLabels.workloadNames());
  }

  /** A histogram of seconds with the given upper bounds; without bounds, the default ones. */
  Histogram histogram(String name, String help, double[] bounds, String... labels) {
    return Histogram.builder()
        .name(name)
        .help(help)
        .classicOnly()
        .classicUpperBounds(bounds)
        .labelNames(withRole(labels))
        .register(registry);
  }

  /** Label values in the order of the family's label names: {@code values}, then the role. */
  static String[] values(ReplicaRole role, String... values) {
    String[] all = Arrays.copyOf(values, values.length + 1);
    all[values.length] = role.text();
    return all;
  }

  /** The upper bounds 1, 2.5, 5, 10, 20 and so on, {@code count} in total. */
  static double[] waits(int count) {
    double[] bounds = new double[count];
    bounds[0] = 1;
    for (int i = 1; i < count; i++) {
      bounds[i] = 2.5 * Math.scalb(1, i - 1);
    }
    return bounds;
  }

  /** The upper bounds {@code first}, twice that, and so on, {@code count} in total. */
  static double[] doubling(double first, int count) {
    double[] bounds = new double[count];
    for (int i = 0; i < count; i++) {
      bounds[i] = Math.scalb(first, i);
    }
    return bounds;
  }

  private String[] withRole(String... labels) {
    List<String> all = new ArrayList<>(List.of(labels));
    all.add(ReplicaRole.LABEL);
    all.addAll(customLabels.names(List.of(labels)));
    all.addAll(further);
    return all.toArray(String[]::new);
  }
}
