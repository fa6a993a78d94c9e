package dev.sluice.queues.cache;

import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.model.QueueRules;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Knows whether any ClusterQueue has certain rules. Thread-safe. */
public final class CachedQueueRules implements BooleanSupplier {

  private final Predicate<QueueRules> rules;
  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private volatile Runnable listener = () -> {};

  /**
   * Creates a lookup that follows these caches, before they are filled.
   *
   * @param rules whether a queue has the rules
   */
  public CachedQueueRules(InformerCaches informerCaches, Predicate<QueueRules> rules) {
    this.rules = rules;
    informerCaches.clusterQueues().observe(this::changed);
  }

  /** Calls the listener when the first queue gets the rules. */
  public void onFirst(Runnable told) {
    listener = told;
  }

  @Override
  public boolean getAsBoolean() {
    return !names.isEmpty();
  }

  private void changed(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    ClusterQueue named = after != null ? after : before;
    if (named == null) {
      return;
    }
    String name = named.getMetadata().getName();
    boolean uses =
        after != null
            && rules.test(
                QueueAnnotations.ofClusterQueue(after.getMetadata().getAnnotations()).rules());
    if (!uses) {
      names.remove(name);
    } else if (names.add(name) && names.size() == 1) {
      listener.run();
    }
  }
}
