package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueueSpec;
import dev.sluice.api.v1beta2.ResourceFlavor;
import java.util.ArrayList;
import java.util.List;

/**
 * Parts of a spec that are accepted, and that this version does nothing about. Each is named in one
 * sentence, so that nobody waits for what won't come.
 */
public final class UnsupportedFields {

  /** The reason under which they are reported. */
  public static final String REASON = "NotActedUpon";

  private UnsupportedFields() {}

  /** Of a ClusterQueue: concurrent admission. */
  public static List<String> in(ClusterQueue queue) {
    ClusterQueueSpec spec = queue.getSpec();
    List<String> parts = new ArrayList<>();
    if (spec == null) {
      return parts;
    }
    if (spec.concurrentAdmissionPolicy() != null) {
      parts.add(
          "spec.concurrentAdmissionPolicy: workloads are not tried on several flavors at once yet");
    }
    return parts;
  }

  /** Of a ResourceFlavor: its topology. */
  public static List<String> in(ResourceFlavor flavor) {
    return FlavorMapper.topology(flavor)
        .map(
            topology ->
                "spec.topologyName: pods are not placed by the topology \"%s\" yet"
                    .formatted(topology))
        .map(List::of)
        .orElse(List.of());
  }
}
