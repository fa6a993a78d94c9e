package dev.sluice.checks.multikueue;

import dev.sluice.queues.status.Conditions;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.List;

/** Desired value of the condition {@code Active}. */
record ActiveCondition(boolean status, String reason, String message) {

  static final String TYPE = "Active";

  /** Whether the list contains the condition {@code Active} with status True. */
  static boolean holds(List<Condition> conditions) {
    return conditions.stream()
        .anyMatch(it -> TYPE.equals(it.getType()) && "True".equals(it.getStatus()));
  }

  List<Condition> in(List<Condition> conditions, long generation, Instant now) {
    return Conditions.with(conditions, TYPE, status, reason, message, generation, now);
  }
}
