package dev.sluice.queues.cache;

import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Knows whether any ClusterQueue has back-fill (docs/backfill.md). Thread-safe. */
public final class CachedBackfillQueues implements BooleanSupplier {

  private final Set<String> names = ConcurrentHashMap.newKeySet();
  private volatile Runnable listener = () -> {};

  /** Creates a lookup that follows these caches, before they are filled. */
  public CachedBackfillQueues(InformerCaches informerCaches) {
    informerCaches.clusterQueues().observe(this::changed);
  }

  /** Calls the listener when the first queue gets back-fill. */
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
            && QueueAnnotations.ofClusterQueue(after.getMetadata().getAnnotations())
                .rules()
                .backfill()
                .isPresent();
    if (!uses) {
      names.remove(name);
    } else if (names.add(name) && names.size() == 1) {
      listener.run();
    }
  }
}
