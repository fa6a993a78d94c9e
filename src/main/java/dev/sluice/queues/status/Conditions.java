package dev.sluice.queues.status;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Lists of conditions, changed by value. */
public final class Conditions {

  /** The longest message that the API server takes. */
  static final int LONGEST_MESSAGE = 32_768;

  private Conditions() {}

  /**
   * The list with one condition set. It is the same list if nothing changes; the time of transition
   * moves only with the condition's status.
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
    return message.length() <= LONGEST_MESSAGE ? message : message.substring(0, LONGEST_MESSAGE);
  }
}
