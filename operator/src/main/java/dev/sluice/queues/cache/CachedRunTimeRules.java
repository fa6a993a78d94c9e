package dev.sluice.queues.cache;

import dev.sluice.api.queueing.QueueRunTime;
import dev.sluice.api.queueing.QueueRunTime.Annotations;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.kube.controller.ObservableItemStore;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Looks up what the queues of a job say about its run time (docs/run-times.md#queues). Thread-safe.
 */
public final class CachedRunTimeRules {

  private final InformerCaches informerCaches;

  /** Creates a lookup in these caches. They don't know of it until it has a listener. */
  public CachedRunTimeRules(InformerCaches informerCaches) {
    this.informerCaches = informerCaches;
  }

  /** From now on calls the listener, too, when a queue says something else of run times. */
  public void onChange(Runnable told) {
    ObservableItemStore.Observer<HasMetadata> observer =
        (before, after) -> {
          if (!said(before).equals(said(after))) {
            told.run();
          }
        };
    informerCaches.clusterQueues().observe(observer);
    informerCaches.localQueues().observe(observer);
  }

  private static List<Optional<Duration>> said(@Nullable HasMetadata queue) {
    Map<String, String> annotations =
        queue == null || queue.getMetadata().getAnnotations() == null
            ? Map.of()
            : queue.getMetadata().getAnnotations();
    return List.of(
        RunTimeAnnotations.defaultOf(annotations), RunTimeAnnotations.maxOf(annotations));
  }

  /** The ClusterQueue that a LocalQueue names; empty if it isn't known. */
  public String clusterQueue(String namespace, String localQueue) {
    return informerCaches
        .localQueues()
        .find(namespace, localQueue)
        .map(CachedQueues::clusterQueue)
        .orElse("");
  }

  /** The default of a LocalQueue, else that of its ClusterQueue. */
  public Optional<QueueRunTime> defaultOf(String namespace, String localQueue) {
    return of(namespace, localQueue, QueueRunTime::defaultOf);
  }

  /** The smaller one of the limits of a LocalQueue and its ClusterQueue. */
  public Optional<QueueRunTime> maxOf(String namespace, String localQueue) {
    return of(namespace, localQueue, QueueRunTime::maxOf);
  }

  /** The same without the queue's name. */
  public Optional<Duration> maxRunTime(String namespace, String localQueue) {
    return maxOf(namespace, localQueue).map(QueueRunTime::runTime);
  }

  /**
   * The LocalQueues in the scope of a budget of which neither they nor their ClusterQueues say how
   * long jobs run: no default, and no limit.
   */
  public SortedSet<LocalQueueId> unstated(BudgetSpec.Scope scope) {
    return informerCaches.localQueues().all().stream()
        .filter(queue -> isIn(scope, queue))
        .map(HasMetadata::getMetadata)
        .map(metadata -> new LocalQueueId(metadata.getNamespace(), metadata.getName()))
        .filter(queue -> defaultOf(queue.namespace(), queue.name()).isEmpty())
        .filter(queue -> maxOf(queue.namespace(), queue.name()).isEmpty())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private boolean isIn(BudgetSpec.Scope scope, LocalQueue queue) {
    ObjectMeta metadata = queue.getMetadata();
    return switch (scope) {
      case BudgetSpec.Scope.OfClusterQueue of -> CachedQueues.clusterQueue(queue).equals(of.name());
      case BudgetSpec.Scope.OfCohort of -> isBelow(CachedQueues.clusterQueue(queue), of.name());
      case BudgetSpec.Scope.OfLocalQueue of ->
          of.id().equals(new LocalQueueId(metadata.getNamespace(), metadata.getName()));
      case BudgetSpec.Scope.OfNamespaces of ->
          informerCaches
              .namespaces()
              .find(metadata.getNamespace())
              .map(found -> found.getMetadata().getLabels())
              .filter(of.labels()::matches)
              .isPresent();
    };
  }

  private boolean isBelow(String clusterQueue, String cohort) {
    Set<String> path = new HashSet<>();
    Optional<String> above =
        informerCaches
            .clusterQueues()
            .find(clusterQueue)
            .map(ClusterQueue::getSpec)
            .map(ClusterQueue.ClusterQueueSpec::cohortName);
    while (above.isPresent() && path.add(above.get())) {
      above =
          informerCaches
              .cohorts()
              .find(above.get())
              .map(Cohort::getSpec)
              .map(Cohort.CohortSpec::parentName);
    }
    return path.contains(cohort);
  }

  private Optional<QueueRunTime> of(
      String namespace,
      String localQueue,
      BiFunction<Annotations, Annotations, Optional<QueueRunTime>> rule) {
    return informerCaches
        .localQueues()
        .find(namespace, localQueue)
        .flatMap(
            local -> {
              String name = CachedQueues.clusterQueue(local);
              return rule.apply(
                  new Annotations(
                      "LocalQueue " + namespace + "/" + localQueue,
                      local.getMetadata().getAnnotations()),
                  new Annotations(
                      "ClusterQueue " + name,
                      informerCaches
                          .clusterQueues()
                          .find(name)
                          .map(queue -> queue.getMetadata().getAnnotations())
                          .orElse(null)));
            });
  }
}
