package dev.sluice.queues.status;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Immutable updates of lists of conditions. */
public final class Conditions {

  /** The longest message that the API server accepts. */
  static final int MAX_MESSAGE_LENGTH = 32_768;

  private Conditions() {}

  /** A condition that gets its status now. A message that is too long is cut. */
  public static Condition of(
      String type, boolean status, String reason, String message, long generation, Instant now) {
    return new ConditionBuilder()
        .withType(type)
        .withStatus(status ? "True" : "False")
        .withReason(reason)
        .withMessage(truncated(message))
        .withObservedGeneration(generation)
        .withLastTransitionTime(now.truncatedTo(ChronoUnit.SECONDS).toString())
        .build();
  }

  /**
   * The list with one condition set. Returns the same list if nothing changes; a condition that has
   * the same status already keeps its transition time, which is set in {@code wanted}.
   */
  public static List<Condition> with(List<Condition> conditions, Condition wanted) {
    List<Condition> changed = new ArrayList<>(conditions);
    for (int i = 0; i < changed.size(); i++) {
      Condition present = changed.get(i);
      if (wanted.getType().equals(present.getType())) {
        if (Objects.equals(present.getStatus(), wanted.getStatus())) {
          wanted.setLastTransitionTime(present.getLastTransitionTime());
        }
        changed.set(i, wanted);
        return changed.equals(conditions) ? conditions : changed;
      }
    }
    changed.add(wanted);
    return changed;
  }

  private static String truncated(String message) {
    return message.length() <= MAX_MESSAGE_LENGTH
        ? message
        : message.substring(0, MAX_MESSAGE_LENGTH);
  }
}
