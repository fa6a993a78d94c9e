package dev.sluice.queues;

import dev.sluice.queues.status.Conditions;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What others than the engine say of objects, to be shown as one of their conditions by whoever
 * writes the rest of the status: so that a list of conditions has one author. From any thread.
 */
public final class ExternalConditions {

  private final String type;
  private final Map<String, Optional<Note>> notes = new ConcurrentHashMap<>();
  private volatile boolean silent;

  /**
   * What is said.
   *
   * @param status whether the condition is True
   * @param reason in the API's word
   * @param message for people
   */
  public record Note(boolean status, String reason, String message) {}

  /** Nothing is known yet: what stands stays. */
  public ExternalConditions(String type) {
    this.type = type;
  }

  /** Nobody will say anything: the condition doesn't apply to any object. */
  public void clear() {
    silent = true;
  }

  /**
   * Says something of an object; empty: the condition doesn't apply to it.
   *
   * @return whether that is new
   */
  public boolean set(String name, Optional<Note> note) {
    return !note.equals(notes.put(name, note));
  }

  /** Forgets an object. */
  public void forget(String name) {
    notes.remove(name);
  }

  /** The conditions with what is said of an object; the same list if nothing changes. */
  List<Condition> in(List<Condition> conditions, String name, long generation, Instant now) {
    Optional<Note> note = silent ? Optional.empty() : notes.get(name);
    if (note == null) {
      return conditions;
    }
    return note.map(
            it ->
                Conditions.with(
                    conditions, type, it.status(), it.reason(), it.message(), generation, now))
        .orElseGet(() -> conditions.stream().filter(it -> !type.equals(it.getType())).toList());
  }
}
