package dev.sluice.kube.controller;

import dev.sluice.kube.events.EventNotifier;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** What people should know about an object's spec: said once for each state of it. */
public final class PerGenerationEvents {

  private final EventNotifier eventNotifier;
  private final Map<String, Said> remarked = new ConcurrentHashMap<>();

  private record Said(long generation, List<String> remarks) {}

  /** Nothing was said yet. */
  public PerGenerationEvents(EventNotifier eventNotifier) {
    this.eventNotifier = eventNotifier;
  }

  /**
   * Says all remarks in one notice, unless that was done for this generation and for the same
   * remarks: annotations change without a new generation.
   */
  public void emit(HasMetadata object, String reason, List<String> remarks) {
    Long generation = object.getMetadata().getGeneration();
    Said now = new Said(generation == null ? 0L : generation, List.copyOf(remarks));
    Said before = remarked.put(object.getMetadata().getUid(), now);
    if (!remarks.isEmpty() && !Objects.equals(before, now)) {
      eventNotifier.warn(object, reason, String.join("; ", remarks));
    }
  }

  /** Forgets an object. */
  public void forget(HasMetadata object) {
    remarked.remove(object.getMetadata().getUid());
  }
}
