package dev.sluice.endtoend;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Quantity;

/** What a Workload is charged for, as its status says. */
final class ChargedCpu {

  private ChargedCpu() {}

  /**
   * The thousandths of a CPU that a Workload holds: what was assigned, without the pods that its
   * spec doesn't have any more and those that were given back; none without quota, and after the
   * end.
   */
  static long of(JsonNode workload) {
    if (isTrue(workload, "Finished") || !isTrue(workload, "QuotaReserved")) {
      return 0;
    }
    long sum = 0;
    for (JsonNode assigned : workload.at("/status/admission/podSetAssignments")) {
      long usage = RunningPod.millis(new Quantity(assigned.at("/resourceUsage/cpu").asText("0")));
      long count = Math.max(1, assigned.path("count").asLong(1));
      sum += usage * remaining(workload, assigned) / count;
    }
    return sum;
  }

  private static boolean isTrue(JsonNode workload, String type) {
    return workload
        .at("/status/conditions")
        .valueStream()
        .anyMatch(
            condition ->
                condition.path("type").asText().equals(type)
                    && condition.path("status").asText().equals("True"));
  }

  private static long remaining(JsonNode workload, JsonNode assigned) {
    String name = assigned.path("name").asText();
    long count = assigned.path("count").asLong(1);
    for (JsonNode podSet : workload.at("/spec/podSets")) {
      if (podSet.path("name").asText().equals(name)) {
        count = Math.min(count, podSet.path("count").asLong(1));
      }
    }
    for (JsonNode reclaimed : workload.at("/status/reclaimablePods")) {
      if (reclaimed.path("name").asText().equals(name)) {
        count -= reclaimed.path("count").asLong();
      }
    }
    return Math.max(0, count);
  }
}
