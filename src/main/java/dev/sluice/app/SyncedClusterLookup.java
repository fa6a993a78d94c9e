package dev.sluice.app;

import dev.sluice.webhooks.ClusterLookup;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Facts that nobody is told before they are known. Webhooks are served before the cluster was
 * listed, because listing needs conversion; but a job that is looked at with nothing known would be
 * taken for one that has no queue. So such a review waits a moment, and fails if that isn't enough:
 * who made the job tries again.
 */
final class SyncedClusterLookup implements ClusterLookup {

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final ClusterLookup facts;
  private final CompletableFuture<Void> known;
  private final Duration patience;

  /** Around facts that are known when the future completes. */
  SyncedClusterLookup(ClusterLookup facts, CompletableFuture<Void> known) {
    this(facts, known, PATIENCE);
  }

  /**
   * The same.
   *
   * @param known completes when they are
   * @param patience how long a question waits for that
   */
  SyncedClusterLookup(ClusterLookup facts, CompletableFuture<Void> known, Duration patience) {
    this.facts = facts;
    this.known = known;
    this.patience = patience;
  }

  private ClusterLookup facts() {
    try {
      known.get(patience.toMillis(), TimeUnit.MILLISECONDS);
      return facts;
    } catch (TimeoutException e) {
      throw new IllegalStateException("the cluster isn't listed yet", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("the cluster can't be listed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public boolean hasDefaultLocalQueue(String namespace) {
    return facts().hasDefaultLocalQueue(namespace);
  }

  @Override
  public boolean hasDefaultPriorityClass() {
    return facts().hasDefaultPriorityClass();
  }

  @Override
  public Map<String, String> namespaceLabels(String namespace) {
    return facts().namespaceLabels(namespace);
  }

  @Override
  public boolean runsElsewhere(String namespace, String queue) {
    return facts().runsElsewhere(namespace, queue);
  }

  @Override
  public boolean mayRunHere(String namespace, String queue) {
    return facts().mayRunHere(namespace, queue);
  }

  @Override
  public boolean isOperator(String user) {
    return facts().isOperator(user);
  }

  @Override
  public boolean hasWorkloadInUse(String namespace, Owner job) {
    return facts().hasWorkloadInUse(namespace, job);
  }

  @Override
  public boolean isManaged(String namespace, Owner owner) {
    return facts().isManaged(namespace, owner);
  }
}
