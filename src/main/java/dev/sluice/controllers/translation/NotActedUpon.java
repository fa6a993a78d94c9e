package dev.sluice.controllers.translation;

import dev.sluice.api.Quantities;
import dev.sluice.api.v1beta2.AdmissionMode;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueueSpec;
import dev.sluice.api.v1beta2.FairSharing;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a spec that are accepted, and that this version does nothing about. Each is named in one
 * sentence, so that nobody waits for what won't come.
 */
public final class NotActedUpon {

  /** The reason under which they are reported. */
  public static final String REASON = "NotActedUpon";

  private NotActedUpon() {}

  /** Of a ClusterQueue: order by past usage, concurrent admission. */
  public static List<String> in(ClusterQueue queue) {
    ClusterQueueSpec spec = queue.getSpec();
    List<String> parts = new ArrayList<>();
    if (spec == null) {
      return parts;
    }
    if (spec.admissionScope() != null
        && spec.admissionScope().admissionMode() != AdmissionMode.NO_ADMISSION_FAIR_SHARING) {
      parts.add("spec.admissionScope: past usage doesn't order admission yet");
    }
    if (spec.concurrentAdmissionPolicy() != null) {
      parts.add(
          "spec.concurrentAdmissionPolicy: workloads are not tried on several flavors at once yet");
    }
    return parts;
  }

  /** Of a LocalQueue: its weight. */
  public static List<String> in(LocalQueue queue) {
    List<String> parts = new ArrayList<>();
    if (queue.getSpec() != null) {
      weight(queue.getSpec().fairSharing(), parts);
    }
    return parts;
  }

  /** Of a ResourceFlavor: its topology. */
  public static List<String> in(ResourceFlavor flavor) {
    return Flavors.topology(flavor)
        .map(
            topology ->
                "spec.topologyName: pods are not placed by the topology \"%s\" yet"
                    .formatted(topology))
        .map(List::of)
        .orElse(List.of());
  }

  private static void weight(@Nullable FairSharing sharing, List<String> parts) {
    if (sharing != null && !isOne(sharing.weight().toString())) {
      parts.add("spec.fairSharing.weight: past usage doesn't order admission yet");
    }
  }

  private static boolean isOne(String weight) {
    try {
      return Quantities.parse(weight).compareTo(BigDecimal.ONE) == 0;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
