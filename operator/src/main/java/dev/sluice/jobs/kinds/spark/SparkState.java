package dev.sluice.jobs.kinds.spark;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobState;
import java.util.Optional;
import java.util.Set;

/** The status of a SparkApplication. */
final class SparkState {

  private static final String RUNNING = "RUNNING";
  private static final String COMPLETED = "COMPLETED";
  private static final String FAILED = "FAILED";
  private static final String SUBMISSION_FAILED = "SUBMISSION_FAILED";

  /** States, the one before the first included, in which the application has no pods. */
  private static final Set<String> WITHOUT_PODS =
      Set.of("", "SUSPENDED", "RESUMING", "PENDING_RERUN", COMPLETED, FAILED, SUBMISSION_FAILED);

  private SparkState() {}

  /** The state of the application; empty before it has one. */
  static String of(JsonNode object) {
    return JsonFields.text(object, "status", "applicationState", "state");
  }

  /** Whether it has pods. */
  static boolean hasPods(JsonNode object) {
    return !WITHOUT_PODS.contains(of(object));
  }

  /** How many executors of an application that runs are there, or done; -1 if it doesn't run. */
  static long executorsUp(JsonNode object) {
    return of(object).equals(RUNNING)
        ? JsonFields.map(object, "status", "executorState").values().stream()
            .filter(state -> state.equals(RUNNING) || state.equals(COMPLETED))
            .count()
        : -1;
  }

  /** How it ended, if it has. */
  static Optional<JobState.End> end(JsonNode object) {
    String message = JsonFields.text(object, "status", "applicationState", "errorMessage");
    return switch (of(object)) {
      case COMPLETED ->
          Optional.of(new JobState.End(true, "SparkApplication finished successfully"));
      case FAILED -> Optional.of(failed(message, "SparkApplication failed"));
      case SUBMISSION_FAILED ->
          isSubmittedAgain(object)
              ? Optional.empty()
              : Optional.of(failed(message, "SparkApplication could not be submitted"));
      default -> Optional.empty();
    };
  }

  private static JobState.End failed(String message, String otherwise) {
    return new JobState.End(false, message.isEmpty() ? otherwise : message);
  }

  /** Whether the application is submitted once more after a submission that failed. */
  private static boolean isSubmittedAgain(JsonNode object) {
    JsonNode policy = JsonFields.at(object, "spec", "restartPolicy");
    JsonNode retries = JsonFields.at(policy, "onSubmissionFailureRetries");
    return switch (policy.path("type").asText()) {
      case "Always" -> true;
      case "OnFailure" ->
          retries.isNumber()
              && JsonFields.at(object, "status", "submissionAttempts").asInt() <= retries.asInt();
      default -> false;
    };
  }
}
