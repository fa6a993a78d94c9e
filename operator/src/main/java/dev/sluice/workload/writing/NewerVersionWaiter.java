package dev.sluice.workload.writing;

import dev.sluice.core.model.WorkloadId;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a newer version of a Workload is known: a repeated write based on the known version
 * would fail again. Usable from any thread.
 */
public final class NewerVersionWaiter implements WorkloadListener {

  private final WorkloadLister store;
  private final Duration patience;
  private final Map<String, CompletableFuture<Void>> awaited = new ConcurrentHashMap<>();

  /**
   * Creates a waiter for Workloads of {@code store}; changes must be reported after the store was
   * updated.
   *
   * @param patience the longest wait
   */
  public NewerVersionWaiter(WorkloadLister store, Duration patience) {
    this.store = store;
    this.patience = patience;
  }

  /**
   * Completes when a newer version is known, when the Workload was deleted, or when the wait times
   * out.
   */
  CompletableFuture<Void> after(WorkloadId id, long version) {
    return after(id, version, patience);
  }

  /** The same, waiting for so long at most, which may be longer than what was given. */
  CompletableFuture<Void> after(WorkloadId id, long version, Duration most) {
    CompletableFuture<Void> news =
        awaited.computeIfAbsent(id.uid(), uid -> new CompletableFuture<>());
    boolean known = store.get(id).filter(workload -> workload.version() <= version).isEmpty();
    if (known) {
      complete(id);
    }
    // Others may wait for the same news, and longer: the next version or the deletion ends them
    // all.
    return news.copy().completeOnTimeout(null, most.toMillis(), TimeUnit.MILLISECONDS);
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
