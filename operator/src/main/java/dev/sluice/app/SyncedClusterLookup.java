package dev.sluice.app;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.sluice.ReservationReader.ReservationSpec;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.queues.cache.ReservationTargets;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.review.WebhookRouter.ClusterNotListedException;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.ClusterLookup.QueueUse;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Lookup that waits until the caches are listed. Webhooks are served before the caches are listed,
 * because listing needs the conversion webhook; but with empty caches a job would be taken for one
 * without a queue. A review therefore waits for a limited time, and fails with {@link
 * ClusterNotListedException} after it; the client retries.
 */
final class SyncedClusterLookup implements ClusterLookup {

  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final ClusterLookup lookup;
  private final CompletableFuture<Void> known;
  private final Duration timeout;

  /** Around facts that are known when the future completes. */
  SyncedClusterLookup(ClusterLookup lookup, CompletableFuture<Void> known) {
    this(lookup, known, TIMEOUT);
  }

  /**
   * The same.
   *
   * @param known completes when they are
   * @param timeout how long a question waits for that
   */
  SyncedClusterLookup(ClusterLookup lookup, CompletableFuture<Void> known, Duration timeout) {
    this.lookup = lookup;
    this.known = known;
    this.timeout = timeout;
  }

  private ClusterLookup synced() {
    try {
      known.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      return lookup;
    } catch (TimeoutException e) {
      throw new ClusterNotListedException("the cluster isn't listed yet", e);
    } catch (ExecutionException e) {
      throw new ClusterNotListedException("the cluster can't be listed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public boolean hasDefaultLocalQueue(String namespace) {
    return synced().hasDefaultLocalQueue(namespace);
  }

  @Override
  public JsonNode resolved(JobKind kind, JsonNode job) {
    return synced().resolved(kind, job);
  }

  @Override
  public Optional<Set<String>> localQueuesWithout(String namespace, String queue) {
    return synced().localQueuesWithout(namespace, queue);
  }

  /** Only a warning depends on it: nobody waits for that. */
  @Override
  public Optional<Set<String>> priorityClassesWithout(String name) {
    return isSynced() ? lookup.priorityClassesWithout(name) : Optional.empty();
  }

  /** Only a warning depends on it: nobody waits for that. */
  @Override
  public Optional<Set<String>> clusterQueuesWithout(String name) {
    return isSynced() ? lookup.clusterQueuesWithout(name) : Optional.empty();
  }

  /** Only warnings depend on it: nobody waits for that. */
  @Override
  public Optional<ReservationTargets.Comparison> compared(ReservationSpec spec) {
    return isSynced() ? lookup.compared(spec) : Optional.empty();
  }

  /** Only a warning depends on it: nobody waits for that. */
  @Override
  public Optional<SortedSet<LocalQueueId>> queuesWithoutRunTime(BudgetSpec.Scope scope) {
    return isSynced() ? lookup.queuesWithoutRunTime(scope) : Optional.empty();
  }

  private boolean isSynced() {
    return known.isDone() && !known.isCompletedExceptionally();
  }

  /** Only a warning depends on it: nobody waits for that. */
  @Override
  public String parentOfCohort(String name) {
    return isSynced() ? lookup.parentOfCohort(name) : "";
  }

  /** Only a warning depends on it: nobody waits for that. */
  @Override
  public Optional<String> noWaitForCheaper(
      String namespace, String queue, Map<String, String> labels) {
    return isSynced() ? lookup.noWaitForCheaper(namespace, queue, labels) : Optional.empty();
  }

  @Override
  public AllowedSubjects allowedInQueue(String namespace, String queue) {
    return synced().allowedInQueue(namespace, queue);
  }

  @Override
  public AllowedSubjects allowedInPriorityClass(String name) {
    return synced().allowedInPriorityClass(name);
  }

  @Override
  public Set<String> restrictedClassesUpTo(long priority, String used) {
    return synced().restrictedClassesUpTo(priority, used);
  }

  @Override
  public boolean hasRestrictedQueue(String namespace) {
    return synced().hasRestrictedQueue(namespace);
  }

  @Override
  public Optional<QueueUse> useOfWorkload(String namespace, String name) {
    return synced().useOfWorkload(namespace, name);
  }

  @Override
  public boolean hasUse(String namespace, Owner owner, QueueUse queueUse) {
    return synced().hasUse(namespace, owner, queueUse);
  }

  @Override
  public boolean hasDefaultPriorityClass() {
    return synced().hasDefaultPriorityClass();
  }

  @Override
  public Map<String, String> namespaceLabels(String namespace) {
    return synced().namespaceLabels(namespace);
  }

  @Override
  public boolean runsElsewhere(String namespace, String queue) {
    return synced().runsElsewhere(namespace, queue);
  }

  @Override
  public boolean mayRunHere(String namespace, String queue) {
    return synced().mayRunHere(namespace, queue);
  }

  @Override
  public Optional<QueueRunTime> maxRunTime(String namespace, String queue) {
    return synced().maxRunTime(namespace, queue);
  }

  @Override
  public boolean isOperator(String user) {
    return synced().isOperator(user);
  }

  @Override
  public boolean hasWorkloadInUse(String namespace, Owner job) {
    return synced().hasWorkloadInUse(namespace, job);
  }

  @Override
  public boolean isBeingEvicted(String namespace, Owner job) {
    return synced().isBeingEvicted(namespace, job);
  }

  @Override
  public Optional<String> admissionExcess(String namespace, JsonNode before, JsonNode pod) {
    return synced().admissionExcess(namespace, before, pod);
  }

  @Override
  public Optional<String> excessWith(AdmissionRequest request) {
    return synced().excessWith(request);
  }

  @Override
  public boolean isScheduledPodGroup(String namespace, String podGroup) {
    return synced().isScheduledPodGroup(namespace, podGroup);
  }

  @Override
  public boolean isManaged(String namespace, Owner owner) {
    return synced().isManaged(namespace, owner);
  }
}
