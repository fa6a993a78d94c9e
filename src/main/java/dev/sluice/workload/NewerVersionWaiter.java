package dev.sluice.workload;

import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Lets one wait until more is known of a Workload than now: to act again on what was seen before is
 * of no use. Usable from any thread.
 */
public final class NewerVersionWaiter implements WorkloadListener {

  private final WorkloadLister store;
  private final Duration patience;
  private final Map<String, CompletableFuture<Void>> awaited = new ConcurrentHashMap<>();

  /**
   * Of what {@code store} holds; it must be told of changes after the store was.
   *
   * @param patience for how long one waits at most
   */
  public NewerVersionWaiter(WorkloadLister store, Duration patience) {
    this.store = store;
    this.patience = patience;
  }

  /** Completes when a later version is known, or that it is gone, or when nobody waits longer. */
  CompletableFuture<Void> after(WorkloadId id, long version) {
    CompletableFuture<Void> news =
        awaited.computeIfAbsent(id.uid(), uid -> new CompletableFuture<>());
    boolean known =
        store
            .get(id.namespace(), id.name())
            .filter(workload -> workload.id().equals(id) && workload.version() <= version)
            .isEmpty();
    if (known) {
      complete(id);
    }
    return news.copy()
        .completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS)
        .whenComplete((nothing, never) -> awaited.remove(id.uid(), news));
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (after != null) {
      complete(after.id());
    }
    if (before != null && (after == null || !after.id().equals(before.id()))) {
      complete(before.id());
    }
  }

  private void complete(WorkloadId id) {
    CompletableFuture<Void> news = awaited.remove(id.uid());
    if (news != null) {
      news.complete(null);
    }
  }
}
