package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.accounting.PodAdmissionLookup;
import dev.sluice.api.QueueNames;
import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.PreemptibleLabels;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.sluice.ReservationReader.ReservationSpec;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.queues.cache.CachedRunTimeRules;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.queues.cache.ReservationTargets;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.review.WebhookRouter.ClusterNotListedException;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.ClusterLookup.QueueUse;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Answers the webhooks' questions about the cluster from the informer caches. */
public final class CachedClusterLookup implements ClusterLookup {

  private final InformerCaches informerCaches;
  private final LocalClusters localClusters;
  private final Jobs jobs;
  private final Predicate<String> operator;
  private final PodAdmissionLookup admissions;

  /** What the job integrations know, for a namespace. From any thread. */
  public interface Jobs {

    /** Whether the owner, or one of its owners, is managed. */
    boolean isManaged(String namespace, Owner owner);

    /** A job with the specs of the objects that it refers to, as far as they are known. */
    JsonNode resolved(JobKind kind, JsonNode job);

    /** Whether the object has a Workload that is not on hold. */
    boolean isInUse(String namespace, Owner job);

    /** Whether a Workload of the job is evicted, and has quota until its pods are gone. */
    boolean isBeingEvicted(String namespace, Owner job);

    /** What a Workload of this name uses; empty if there is none. */
    Optional<QueueUse> useOfWorkload(String namespace, String name);

    /** Whether the owner, or one of its owners, uses the same. */
    boolean hasUse(String namespace, Owner owner, QueueUse queueUse);

    /** Whether kube-scheduler has once found a node for every pod of this PodGroup. */
    boolean isScheduledPodGroup(String namespace, String podGroup);
  }

  /**
   * Creates a lookup.
   *
   * @param informerCaches the informer caches
   * @param localClusters where this cluster is also a worker
   * @param jobs what is known of jobs and their Workloads
   * @param operator whether a user is the operator itself
   * @param admissions what pods were admitted with
   */
  public CachedClusterLookup(
      InformerCaches informerCaches,
      LocalClusters localClusters,
      Jobs jobs,
      Predicate<String> operator,
      PodAdmissionLookup admissions) {
    this.informerCaches = informerCaches;
    this.localClusters = localClusters;
    this.jobs = jobs;
    this.operator = operator;
    this.admissions = admissions;
  }

  @Override
  public JsonNode resolved(JobKind kind, JsonNode job) {
    return jobs.resolved(kind, job);
  }

  @Override
  public boolean hasDefaultLocalQueue(String namespace) {
    return informerCaches.localQueues().find(namespace, QueueNames.DEFAULT).isPresent();
  }

  @Override
  public Optional<Set<String>> localQueuesWithout(String namespace, String queue) {
    if (informerCaches.localQueues().find(namespace, queue).isPresent()) {
      return Optional.empty();
    }
    return Optional.of(
        informerCaches.localQueues().all().stream()
            .map(LocalQueue::getMetadata)
            .filter(metadata -> namespace.equals(metadata.getNamespace()))
            .map(ObjectMeta::getName)
            .collect(Collectors.toUnmodifiableSet()));
  }

  @Override
  public Optional<Set<String>> priorityClassesWithout(String name) {
    return without(
        informerCaches.workloadPriorityClasses().find(name),
        informerCaches.workloadPriorityClasses().all());
  }

  @Override
  public Optional<Set<String>> clusterQueuesWithout(String name) {
    return without(informerCaches.clusterQueues().find(name), informerCaches.clusterQueues().all());
  }

  /** Nodes may be added when a window is over: a condition tells of them, nobody is warned. */
  @Override
  public Optional<ReservationTargets.Comparison> compared(ReservationSpec spec) {
    return Optional.of(new ReservationTargets(informerCaches, labels -> true).compare(spec));
  }

  @Override
  public Optional<SortedSet<LocalQueueId>> queuesWithoutRunTime(BudgetSpec.Scope scope) {
    return Optional.of(new CachedRunTimeRules(informerCaches).unstated(scope));
  }

  private static Optional<Set<String>> without(
      Optional<? extends HasMetadata> found, Collection<? extends HasMetadata> all) {
    return found.isPresent()
        ? Optional.empty()
        : Optional.of(
            all.stream()
                .map(each -> each.getMetadata().getName())
                .collect(Collectors.toUnmodifiableSet()));
  }

  @Override
  public String parentOfCohort(String name) {
    return informerCaches
        .cohorts()
        .find(name)
        .flatMap(found -> Optional.ofNullable(found.getSpec()))
        .flatMap(spec -> Optional.ofNullable(spec.parentName()))
        .orElse("");
  }

  @Override
  public AllowedSubjects allowedInQueue(String namespace, String queue) {
    return informerCaches
        .localQueues()
        .find(namespace, queue)
        .map(CachedClusterLookup::allowed)
        .orElseGet(
            () ->
                !queue.isEmpty() && hasRestrictedQueue(namespace)
                    ? AllowedSubjects.NOBODY
                    : AllowedSubjects.EVERYBODY);
  }

  @Override
  public AllowedSubjects allowedInPriorityClass(String name) {
    return informerCaches
        .workloadPriorityClasses()
        .find(name)
        .map(CachedClusterLookup::allowed)
        .orElse(AllowedSubjects.EVERYBODY);
  }

  private static AllowedSubjects allowed(HasMetadata object) {
    return AllowedSubjects.of(object.getMetadata().getAnnotations());
  }

  @Override
  public Set<String> restrictedClassesUpTo(long priority, String used) {
    return informerCaches.restrictedClassesUpTo(priority, used);
  }

  @Override
  public boolean hasRestrictedQueue(String namespace) {
    return informerCaches.localQueues().all().stream()
        .filter(queue -> namespace.equals(queue.getMetadata().getNamespace()))
        .anyMatch(queue -> allowed(queue).isRestricted());
  }

  @Override
  public Optional<QueueUse> useOfWorkload(String namespace, String name) {
    return jobs.useOfWorkload(namespace, name);
  }

  @Override
  public boolean hasUse(String namespace, Owner owner, QueueUse queueUse) {
    return jobs.hasUse(namespace, owner, queueUse);
  }

  @Override
  public boolean hasDefaultPriorityClass() {
    return informerCaches.workloadPriorityClasses().find(QueueNames.DEFAULT).isPresent();
  }

  @Override
  public Map<String, String> namespaceLabels(String namespace) {
    return informerCaches
        .namespaces()
        .find(namespace)
        .map(found -> found.getMetadata().getLabels())
        .map(Map::copyOf)
        .orElse(Map.of());
  }

  @Override
  public boolean isOperator(String user) {
    return operator.test(user);
  }

  private Optional<ClusterQueue> clusterQueue(String namespace, String queue) {
    return informerCaches
        .localQueues()
        .find(namespace, queue)
        .flatMap(found -> Optional.ofNullable(found.getSpec()))
        .flatMap(spec -> Optional.ofNullable(spec.clusterQueue()))
        .flatMap(informerCaches.clusterQueues()::find);
  }

  @Override
  public Optional<String> noWaitForCheaper(
      String namespace, String queue, Map<String, String> labels) {
    return clusterQueue(namespace, queue).flatMap(found -> noWaitForCheaper(found, labels));
  }

  static Optional<String> noWaitForCheaper(ClusterQueue queue, Map<String, String> labels) {
    String name = "ClusterQueue " + queue.getMetadata().getName();
    QueueAnnotations.OfClusterQueue annotated =
        QueueAnnotations.ofClusterQueue(queue.getMetadata().getAnnotations());
    boolean isStrict =
        annotated.strategy().isPresent()
            || (queue.getSpec() != null
                && queue.getSpec().queueingStrategy() == ClusterQueue.QueueingStrategy.STRICT_FIFO);
    if (annotated.rules().cheapest().isEmpty()) {
      return Optional.of(name + " has no " + CostAnnotations.FLAVOR_ORDER + ": Cheapest");
    }
    if (isStrict) {
      return Optional.of(name + " is not of the queueing strategy BestEffortFIFO");
    }
    return annotated.rules().countsPreemptible() && PreemptibleLabels.isGuaranteed(labels)
        ? Optional.of("in " + name + " its labels say that it may not be preempted")
        : Optional.empty();
  }

  @Override
  public boolean runsElsewhere(String namespace, String queue) {
    return clusterQueue(namespace, queue)
        .flatMap(found -> Optional.ofNullable(found.getSpec()))
        .flatMap(spec -> Optional.ofNullable(spec.admissionChecksStrategy()))
        .stream()
        .flatMap(strategy -> strategy.admissionChecks().stream())
        .anyMatch(rule -> informerCaches.dispatchesRemotely(rule.name()));
  }

  @Override
  public boolean mayRunHere(String namespace, String queue) {
    return localClusters.mayRunHere(namespace, queue);
  }

  @Override
  public Optional<QueueRunTime> maxRunTime(String namespace, String queue) {
    return new CachedRunTimeRules(informerCaches).maxOf(namespace, queue);
  }

  @Override
  public boolean hasWorkloadInUse(String namespace, Owner job) {
    return jobs.isInUse(namespace, job);
  }

  @Override
  public boolean isBeingEvicted(String namespace, Owner job) {
    return jobs.isBeingEvicted(namespace, job);
  }

  @Override
  public Optional<String> admissionExcess(String namespace, JsonNode before, JsonNode pod) {
    return admissions.excess(namespace, before, pod);
  }

  @Override
  public Optional<String> excessWith(AdmissionRequest request) {
    try {
      return admissions.excessWith(request.oldObject(), request.object(), request.dryRun());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterNotListedException("the review was interrupted", e);
    } catch (IllegalStateException e) {
      throw new ClusterNotListedException("pods can't be compared: " + e.getMessage(), e);
    }
  }

  @Override
  public boolean isScheduledPodGroup(String namespace, String podGroup) {
    return jobs.isScheduledPodGroup(namespace, podGroup);
  }

  @Override
  public boolean isManaged(String namespace, Owner owner) {
    return jobs.isManaged(namespace, owner);
  }
}
