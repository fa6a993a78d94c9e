package dev.sluice.queues;

import dev.sluice.queues.status.Conditions;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Conditions that other controllers compute for objects. The reconciler that owns the object's
 * status writes them, so that a list of conditions has one writer. Thread-safe.
 */
public final class ExternalConditions {

  private final String type;
  private final Map<String, Optional<Note>> notes = new ConcurrentHashMap<>();
  private volatile boolean disabled;

  /**
   * Content of the condition.
   *
   * @param status whether the condition is True
   * @param reason the reason as the API spells it
   * @param message message for users
   */
  public record Note(boolean status, String reason, String message) {}

  /** Starts without content: the present condition stays. */
  public ExternalConditions(String type) {
    this.type = type;
  }

  /** The condition applies to no object. */
  public void clear() {
    disabled = true;
  }

  /**
   * Sets the content for an object; empty: the condition does not apply to the object.
   *
   * @return whether the content changed
   */
  public boolean set(String name, Optional<Note> note) {
    return !note.equals(notes.put(name, note));
  }

  /** Forgets an object. */
  public void forget(String name) {
    notes.remove(name);
  }

  /** The conditions with this condition set for an object; the same list if nothing changes. */
  List<Condition> in(List<Condition> conditions, String name, long generation, Instant now) {
    Optional<Note> note = disabled ? Optional.empty() : notes.get(name);
    if (note == null) {
      return conditions;
    }
    return note.map(
            it ->
                Conditions.with(
                    conditions,
                    Conditions.of(type, it.status(), it.reason(), it.message(), generation, now)))
        .orElseGet(() -> conditions.stream().filter(it -> !type.equals(it.getType())).toList());
  }
}
