package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import java.util.ArrayList;
import java.util.List;

/**
 * Reports fields of a spec that are accepted but have no effect in this version, one sentence per
 * field.
 */
public final class UnsupportedFields {

  /** The reason of the events that report such fields. */
  public static final String REASON = "NotActedUpon";

  private UnsupportedFields() {}

  /** Unsupported fields of a ClusterQueue: concurrent admission. */
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
}
