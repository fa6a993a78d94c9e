package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A piece of work as it was last seen.
 *
 * @param ordinal which one
 * @param admitted whether it may run, and is not to give way
 * @param evicted whether it has to give its quota back
 * @param finished whether it has ended
 * @param failed whether it ended badly
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

  /** A Workload. */
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

  /** A Job: it is admitted when it isn't suspended any more. */
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
