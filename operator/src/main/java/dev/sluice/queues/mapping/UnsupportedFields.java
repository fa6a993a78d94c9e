package dev.sluice.queues.mapping;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import java.util.ArrayList;
import java.util.List;

/** Reports fields of a spec that are accepted but have no effect, one sentence per field. */
public final class UnsupportedFields {

  /** The reason of the events that report such fields, of queues and of others' objects. */
  public static final String REASON = "NotActedUpon";

  private UnsupportedFields() {}

  /**
   * Fields of a ClusterQueue without effect.
   *
   * @param concurrentAdmission whether the gate ConcurrentAdmission is on
   */
  public static List<String> in(ClusterQueue queue, boolean concurrentAdmission) {
    ClusterQueueSpec spec = queue.getSpec();
    List<String> parts = new ArrayList<>();
    if (spec == null) {
      return parts;
    }
    if (!concurrentAdmission && spec.concurrentAdmissionPolicy() != null) {
      parts.add(
          "spec.concurrentAdmissionPolicy: without effect while the feature gate"
              + " ConcurrentAdmission is off");
    }
    return parts;
  }
}
