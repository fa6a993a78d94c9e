package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.Optional;

/** Reads the conditions in the status of a job of any kind. */
public final class JobConditions {

  private JobConditions() {}

  /** The condition of this type, if it is True. */
  public static Optional<JsonNode> whenTrue(JsonNode job, String type) {
    return JsonFields.list(job, "status", "conditions").stream()
        .filter(condition -> condition.path("type").asText().equals(type))
        .filter(condition -> condition.path("status").asText().equals("True"))
        .findFirst();
  }

  /** Whether the condition of this type is True. */
  public static boolean isTrue(JsonNode job, String type) {
    return whenTrue(job, type).isPresent();
  }

  /**
   * The end of a job that two conditions tell, with the message of the one that is True.
   *
   * @param success type of the condition of a job that succeeded
   * @param failure type of the condition of a job that failed
   */
  public static Optional<JobState.End> end(JsonNode job, String success, String failure) {
    Optional<JsonNode> succeeded = whenTrue(job, success);
    return succeeded
        .or(() -> whenTrue(job, failure))
        .map(end -> new JobState.End(succeeded.isPresent(), end.path("message").asText()));
  }
}
