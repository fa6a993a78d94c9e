package dev.sluice.checks.controller;

import dev.sluice.queues.status.Conditions;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Desired value of the condition {@code Active} of an AdmissionCheck, or of an object that a check
 * depends on.
 *
 * @param status whether it is active
 * @param reason why, in one word
 * @param message why, for people
 */
public record ActiveCondition(boolean status, String reason, String message) {

  private static final String TYPE = "Active";

  /** The condition {@code Active} of a list. */
  public static Optional<Condition> find(List<Condition> conditions) {
    return conditions.stream().filter(it -> TYPE.equals(it.getType())).findFirst();
  }

  /** Whether the list contains the condition {@code Active} with status True. */
  public static boolean holds(List<Condition> conditions) {
    return find(conditions).filter(it -> "True".equals(it.getStatus())).isPresent();
  }

  /** The list with this condition in it; the others stay. */
  public List<Condition> in(List<Condition> conditions, long generation, Instant now) {
    return Conditions.with(
        conditions, Conditions.of(TYPE, status, reason, message, generation, now));
  }
}
