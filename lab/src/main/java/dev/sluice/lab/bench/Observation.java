package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Last observed state of a workload.
 *
 * @param ordinal its number
 * @param admitted whether it may run and is not being evicted
 * @param evicted whether it must release its quota
 * @param finished whether it has finished
 * @param failed whether it failed
 * @param version its resource version
 * @param conditions its conditions
 */
record Observation(
    int ordinal,
    boolean admitted,
    boolean evicted,
    boolean finished,
    boolean failed,
    String version,
    JsonNode conditions) {

  /** Reads a Workload. */
  static Observation ofWorkload(JsonNode object) {
    boolean gives = Condition.holds(object, "Evicted");
    return new Observation(
        ordinal(object),
        Condition.holds(object, "Admitted") && !gives,
        gives && Condition.holds(object, "QuotaReserved"),
        Condition.holds(object, "Finished"),
        false,
        object.path("metadata").path("resourceVersion").asText(),
        object.path("status").path("conditions"));
  }

  /** Reads a Job; a Job is admitted when it is not suspended. */
  static Observation ofJob(JsonNode object) {
    return new Observation(
        ordinal(object),
        !object.path("spec").path("suspend").asBoolean(false),
        false,
        Condition.holds(object, "Complete"),
        Condition.holds(object, "Failed"),
        object.path("metadata").path("resourceVersion").asText(),
        object.path("status").path("conditions"));
  }

  private static int ordinal(JsonNode object) {
    return BenchmarkTarget.ordinal(object.path("metadata").path("name").asText());
  }
}
