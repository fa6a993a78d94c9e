package dev.sluice.jobs.kind;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Instant;
import java.util.Optional;

/** How jobs are stopped that can't be suspended: something is noted on them, then they go. */
@FunctionalInterface
public interface JobStopProcedure {

  /**
   * What is written on the job before it is deleted; empty when it says so already.
   *
   * @param reason why it is stopped, in one word
   * @param note why it is stopped, for people
   */
  Optional<JobPatch> terminationPatch(JsonNode object, String reason, String note, Instant now);
}
