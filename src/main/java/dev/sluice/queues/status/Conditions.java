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

  /**
   * The list with one condition set. Returns the same list if nothing changes; the transition time
   * changes only with the condition's status.
   */
  public static List<Condition> with(
      List<Condition> conditions,
      String type,
      boolean status,
      String reason,
      String message,
      long generation,
      Instant now) {
    Condition wanted =
        new ConditionBuilder()
            .withType(type)
            .withStatus(status ? "True" : "False")
            .withReason(reason)
            .withMessage(truncated(message))
            .withObservedGeneration(generation)
            .withLastTransitionTime(now.truncatedTo(ChronoUnit.SECONDS).toString())
            .build();
    List<Condition> changed = new ArrayList<>(conditions);
    for (int i = 0; i < changed.size(); i++) {
      Condition present = changed.get(i);
      if (type.equals(present.getType())) {
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
