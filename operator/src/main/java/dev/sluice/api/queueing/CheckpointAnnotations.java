package dev.sluice.api.queueing;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Optional;

/** The annotations by which jobs save their work before they are stopped (docs/preemption.md). */
public final class CheckpointAnnotations {

  /** On a job and its Workload: when the job's work was last saved; its owner writes it. */
  public static final String CHECKPOINTED_AT = "sluice.dev/checkpointed-at";

  /** On a job and its Workload: since when the job is asked to save its work; Sluice writes it. */
  public static final String REQUESTED_AT = "sluice.dev/checkpoint-requested-at";

  /** What is allowed as a time, after "must be". */
  public static final String RULE = "a time from 1970 to 9999, such as 2026-03-01T10:30:00Z";

  private static final int MOST_CHARACTERS = 40;
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

  private CheckpointAnnotations() {}

  /** When the work of a job was last saved; empty if nothing that is allowed is said. */
  public static Optional<Instant> checkpointedAt(Map<String, String> annotations) {
    return Optional.ofNullable(annotations.get(CHECKPOINTED_AT))
        .flatMap(CheckpointAnnotations::parse);
  }

  /** The same as it is written. */
  public static Optional<String> checkpointedText(Map<String, String> annotations) {
    return Optional.ofNullable(annotations.get(CHECKPOINTED_AT))
        .filter(text -> parse(text).isPresent());
  }

  /** Since when a job is asked to save its work; empty if it isn't. */
  public static Optional<Instant> requestedAt(Map<String, String> annotations) {
    return Optional.ofNullable(annotations.get(REQUESTED_AT)).flatMap(CheckpointAnnotations::parse);
  }

  /** The time that a value says; empty if it isn't allowed. */
  public static Optional<Instant> parse(String text) {
    if (text.length() > MOST_CHARACTERS) {
      return Optional.empty();
    }
    try {
      return Optional.of(OffsetDateTime.parse(text).toInstant())
          .filter(time -> !time.isBefore(Instant.EPOCH) && !time.isAfter(LAST));
    } catch (DateTimeException notATime) {
      return Optional.empty();
    }
  }
}
