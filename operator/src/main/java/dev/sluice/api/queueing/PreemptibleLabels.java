package dev.sluice.api.queueing;

import java.util.List;
import java.util.Map;

/**
 * The labels by which a job says whether it may be preempted. That it must not be counts in
 * ClusterQueues that say so (docs/queueing-policies.md#guaranteed-workloads).
 */
public final class PreemptibleLabels {

  /** The labels; the first one that is present decides. */
  public static final List<String> KEYS =
      List.of(
          "quota.scheduling.alibabacloud.com/preemptible",
          "quota.scheduling.koordinator.sh/preemptible",
          "alibabacloud.com/preemptible");

  private PreemptibleLabels() {}

  /** Whether labels say that their object must not be preempted. */
  public static boolean isGuaranteed(Map<String, String> labels) {
    return value(labels).equals("false");
  }

  /** Whether labels say that their object may be preempted. */
  public static boolean isPreemptible(Map<String, String> labels) {
    return value(labels).equals("true");
  }

  private static String value(Map<String, String> labels) {
    for (String key : KEYS) {
      String value = labels.get(key);
      if (value != null) {
        return value;
      }
    }
    return "";
  }
}
