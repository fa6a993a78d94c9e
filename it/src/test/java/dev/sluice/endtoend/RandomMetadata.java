package dev.sluice.endtoend;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Random;

/** Labels, annotations and finalizers that mean something to somebody, with made-up values. */
final class RandomMetadata {

  private static final List<String> LABELS =
      List.of(
          "kueue.x-k8s.io/managed",
          "kueue.x-k8s.io/queue-name",
          "kueue.x-k8s.io/podset",
          "kueue.x-k8s.io/pod-group-name",
          "kueue.x-k8s.io/prebuilt-workload-name",
          "kueue.x-k8s.io/multikueue-origin",
          "kueue.x-k8s.io/priority-class",
          "kueue.x-k8s.io/job-uid",
          "batch.kubernetes.io/controller-uid",
          "batch.kubernetes.io/job-name",
          "controller-uid",
          "job-name",
          "controller-revision-hash",
          "app",
          "spark-role",
          "ray.io/cluster",
          "sluice.dev/pod-group",
          "sluice.dev/played");

  private static final List<String> ANNOTATIONS =
      List.of(
          "kueue.x-k8s.io/queue-name",
          "kueue.x-k8s.io/workload",
          "kueue.x-k8s.io/elastic-job",
          "kueue.x-k8s.io/workload-slice-name",
          "kueue.x-k8s.io/workload-slice-replacement-for",
          "kueue.x-k8s.io/pod-group-name",
          "kueue.x-k8s.io/pod-group-total-count",
          "kueue.x-k8s.io/pod-group-serving",
          "kueue.x-k8s.io/pod-group-fast-admission",
          "kueue.x-k8s.io/pod-suspending-parent",
          "kueue.x-k8s.io/retriable-in-group",
          "kueue.x-k8s.io/role-hash",
          "kueue.x-k8s.io/is-group-workload",
          "kueue.x-k8s.io/job-min-parallelism",
          "kueue.x-k8s.io/job-completions-equal-parallelism",
          "kueue.x-k8s.io/podset-required-topology",
          "kueue.x-k8s.io/admission-gated-by",
          "kueue.x-k8s.io/stopping",
          "kueue.x-k8s.io/was-podgroup",
          "kueue.x-k8s.io/podset-topology-spreading",
          "sluice.dev/active-deadline",
          "sluice.dev/checkpoint-requested-at",
          "sluice.dev/checkpointed-at",
          "sluice.dev/max-run-time",
          "sluice.dev/run-for",
          "sluice.dev/remote-status");

  private static final List<String> VALUES =
      List.of(
          "true",
          "false",
          "1",
          "3",
          "lq",
          "other",
          "main",
          "podgroup-0",
          "podgroup-1",
          "job",
          "statefulset",
          "job-0",
          "executor",
          "7d",
          "2026-01-01T00:00:00Z",
          "[{\"topology\":\"rack\",\"size\":0}]",
          "");

  private static final List<String> FINALIZERS =
      List.of(
          "kueue.x-k8s.io/managed",
          "kueue.x-k8s.io/resource-in-use",
          "example.com/mine",
          "batch.kubernetes.io/job-tracking");

  private RandomMetadata() {}

  /** Puts one or two of them into the metadata of an object that is to be made. */
  static void add(ObjectNode metadata, Random random) {
    change(metadata, random);
    if (random.nextBoolean()) {
      change(metadata, random);
    }
  }

  /** A change of metadata, as a merge patch: something is set, or taken away. */
  static ObjectNode change(ObjectNode metadata, Random random) {
    boolean removed = random.nextInt(3) == 0;
    switch (random.nextInt(5)) {
      case 0, 1 -> set(metadata.withObjectProperty("labels"), LABELS, removed, random);
      case 2, 3 -> set(metadata.withObjectProperty("annotations"), ANNOTATIONS, removed, random);
      default -> {
        if (removed) {
          metadata.putNull("finalizers");
        } else {
          metadata.putArray("finalizers").add(RandomObjects.pick(FINALIZERS, random));
        }
      }
    }
    return metadata;
  }

  private static void set(ObjectNode map, List<String> keys, boolean removed, Random random) {
    String key = RandomObjects.pick(keys, random);
    if (removed) {
      map.putNull(key);
    } else {
      map.put(key, RandomObjects.pick(VALUES, random));
    }
  }
}
