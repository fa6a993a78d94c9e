package dev.sluice.kube.reconcile;

import dev.sluice.kube.events.EventNotifier;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/** What people should know about an object's spec: said once for each state of it. */
public final class PerGenerationEvents {

  private final EventNotifier eventNotifier;
  private final Map<String, Long> remarked = new ConcurrentHashMap<>();

  /** Nothing was said yet. */
  public PerGenerationEvents(EventNotifier eventNotifier) {
    this.eventNotifier = eventNotifier;
  }

  /** Says all remarks in one notice, unless that was done for this generation. */
  public void emit(HasMetadata object, String reason, List<String> remarks) {
    Long generation = object.getMetadata().getGeneration();
    Long now = generation == null ? 0L : generation;
    Long before = remarked.put(object.getMetadata().getUid(), now);
    if (!remarks.isEmpty() && !Objects.equals(before, now)) {
      eventNotifier.warn(object, reason, String.join("; ", remarks));
    }
  }

  /** Forgets an object. */
  public void forget(HasMetadata object) {
    remarked.remove(object.getMetadata().getUid());
  }
}
