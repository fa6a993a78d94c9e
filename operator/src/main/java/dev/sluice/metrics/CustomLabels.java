package dev.sluice.metrics;

import dev.sluice.api.config.Configuration.CustomLabel;
import dev.sluice.api.config.Configuration.SourceKind;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.workload.record.CachedWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Further labels of metrics, whose values come from labels and annotations of the objects that the
 * metrics are about. A metric takes the labels of one kind of source; which kind, its own labels
 * tell. Some take those of Workloads, too, which follow the others.
 */
public final class CustomLabels {

  /** The value of a label whose source has a value that isn't tracked. */
  public static final String UNTRACKED = "kueue.x-k8s.io/_UNTRACKED_VALUE_";

  /** No labels. */
  public static final CustomLabels NONE =
      new CustomLabels(
          List.of(),
          new Sources() {
            @Override
            public Optional<Metadata> clusterQueue(String name) {
              return Optional.empty();
            }

            @Override
            public Optional<Metadata> cohort(String name) {
              return Optional.empty();
            }

            @Override
            public Optional<Metadata> localQueue(LocalQueueId id) {
              return Optional.empty();
            }
          });

  /** The labels by which metrics tell LocalQueues apart. */
  static final List<String> OF_LOCAL_QUEUE = List.of("name", "namespace");

  private static final String PREFIX = "custom_";

  private final List<CustomLabel> labels;
  private final Sources sources;

  /** What an object says about itself. */
  public record Metadata(Map<String, String> labels, Map<String, String> annotations) {}

  /** The objects that values come from. */
  public interface Sources {

    /** The ClusterQueue of this name. */
    Optional<Metadata> clusterQueue(String name);

    /** The Cohort of this name; empty for one without an object. */
    Optional<Metadata> cohort(String name);

    /** The LocalQueue with this identity. */
    Optional<Metadata> localQueue(LocalQueueId id);
  }

  /** The labels of a configuration, in its order. */
  public CustomLabels(List<CustomLabel> labels, Sources sources) {
    this.labels = List.copyOf(labels);
    this.sources = sources;
  }

  /** The names that follow a metric's own labels. */
  List<String> names(List<String> own) {
    return of(kind(own)).stream().map(label -> PREFIX + label.name()).toList();
  }

  /** The values of {@link #names}, for the values of a metric's own labels. */
  List<String> values(List<String> own, List<String> ownValues) {
    Optional<SourceKind> kind = kind(own);
    List<CustomLabel> wanted = of(kind);
    if (wanted.isEmpty()) {
      return List.of();
    }
    return values(
        wanted,
        switch (kind.orElseThrow()) {
          case CLUSTER_QUEUE -> sources.clusterQueue(value(own, ownValues, "cluster_queue"));
          case COHORT -> sources.cohort(value(own, ownValues, "cohort"));
          case LOCAL_QUEUE ->
              sources.localQueue(
                  new LocalQueueId(
                      value(own, ownValues, "namespace"), value(own, ownValues, "name")));
          case WORKLOAD -> Optional.empty();
        });
  }

  /** The names of the labels that come from Workloads; they follow all others. */
  List<String> workloadNames() {
    return of(Optional.of(SourceKind.WORKLOAD)).stream()
        .map(label -> PREFIX + label.name())
        .toList();
  }

  /** The values of {@link #workloadNames} for a Workload. */
  List<String> workloadValues(CachedWorkload workload) {
    return values(SourceKind.WORKLOAD, new Metadata(workload.labels(), workload.annotations()));
  }

  /** The values of {@link #workloadNames} for a Workload without labels and annotations. */
  List<String> valuesOfNoWorkload() {
    return values(of(Optional.of(SourceKind.WORKLOAD)), Optional.empty());
  }

  /** Whether any label comes from Workloads. */
  boolean hasWorkloadLabels() {
    return !of(Optional.of(SourceKind.WORKLOAD)).isEmpty();
  }

  /** The names of the labels that come from ClusterQueues. */
  List<String> clusterQueueNames() {
    return names(List.of("cluster_queue"));
  }

  /** The values of {@link #clusterQueueNames} for a ClusterQueue. */
  List<String> clusterQueueValues(String clusterQueue) {
    return values(List.of("cluster_queue"), List.of(clusterQueue));
  }

  /** The values of {@link #clusterQueueNames} where there is no ClusterQueue. */
  List<String> valuesOfNoClusterQueue() {
    return values(of(Optional.of(SourceKind.CLUSTER_QUEUE)), Optional.empty());
  }

  /** The values that an object of this kind gives to the labels of its kind. */
  public List<String> values(SourceKind kind, Metadata metadata) {
    return values(of(Optional.of(kind)), Optional.of(metadata));
  }

  private static List<String> values(List<CustomLabel> wanted, Optional<Metadata> metadata) {
    List<String> values = new ArrayList<>(wanted.size());
    for (CustomLabel label : wanted) {
      String value =
          metadata
              .map(known -> label.fromAnnotation() ? known.annotations() : known.labels())
              .map(all -> all.get(label.sourceKey()))
              .orElse("");
      boolean tracked = label.trackedValues().isEmpty() || label.trackedValues().contains(value);
      values.add(tracked ? value : UNTRACKED);
    }
    return values;
  }

  private List<CustomLabel> of(Optional<SourceKind> kind) {
    return kind.isEmpty()
        ? List.of()
        : labels.stream().filter(label -> label.sourceKind() == kind.get()).toList();
  }

  private static Optional<SourceKind> kind(List<String> own) {
    if (own.contains("namespace")) {
      return Optional.of(SourceKind.LOCAL_QUEUE);
    }
    if (own.contains("cluster_queue") || own.contains("preempting_cluster_queue")) {
      return Optional.of(SourceKind.CLUSTER_QUEUE);
    }
    return own.contains("cohort") ? Optional.of(SourceKind.COHORT) : Optional.empty();
  }

  private static String value(List<String> own, List<String> ownValues, String name) {
    int at = own.indexOf(name);
    return ownValues.get(at < 0 ? own.indexOf("preempting_" + name) : at);
  }
}
