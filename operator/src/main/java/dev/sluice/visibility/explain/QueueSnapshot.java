package dev.sluice.visibility.explain;

import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.EarlierLocalQueues;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.queues.mapping.CheckControllers;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.LocalQueueMapper;
import dev.sluice.queues.mapping.ReferenceLookup;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The order of the pending Workloads of one ClusterQueue, from the objects of the API server: an
 * engine that holds them and decides nothing is asked. The operator's configuration is unknown; its
 * defaults are used, and each resource has weight 1 in the usage of LocalQueues.
 */
final class QueueSnapshot {

  /**
   * Usage is taken from the statuses of LocalQueues, so no parameter but the weights has effect.
   */
  private static final EngineOptions OPTIONS =
      new EngineOptions(
          Optional.empty(),
          false,
          Optional.of(
              new AdmissionFairSharing(
                  Duration.ZERO,
                  Duration.ofMinutes(5),
                  Map.of(),
                  AdmissionFairSharing.Anchor.QUOTA_RESERVATION)),
          OrderingRules.DEFAULT);

  private static final ReferenceLookup NO_REFERENCES =
      new ReferenceLookup(
          name -> Optional.empty(),
          name -> Optional.empty(),
          name -> true,
          CheckControllers.none());

  private final Map<String, CachedWorkload> byUid = new HashMap<>();
  private final Engine engine = new Engine(OPTIONS, decision -> {});
  private final String clusterQueue;

  /**
   * Takes the objects over.
   *
   * @param clusterQueue the ClusterQueue; of its spec, the order needs the admission scope only
   * @param localQueues its LocalQueues
   * @param workloads Workloads; those that are not pending in one of its LocalQueues are ignored
   */
  QueueSnapshot(
      ClusterQueue clusterQueue,
      List<LocalQueue> localQueues,
      List<CachedWorkload> workloads,
      Instant now) {
    this.clusterQueue = clusterQueue.getMetadata().getName();
    engine.apply(new SchedulerEvent.TimePassed(now));
    engine.apply(
        new SchedulerEvent.ClusterQueueChanged(
            ClusterQueueMapper.translate(clusterQueue, NO_REFERENCES)));
    for (LocalQueue queue : localQueues) {
      LocalQueueMapper.used(queue).ifPresent(engine::apply);
      engine.apply(new SchedulerEvent.LocalQueueChanged(LocalQueueMapper.translate(queue)));
    }
    WorkloadTranslator translator =
        new WorkloadTranslator(ResourceContext.NONE, TranslationOptions.DEFAULT);
    for (CachedWorkload workload : workloads) {
      if (translator.of(workload) instanceof SchedulerEvent.WorkloadPending pending) {
        byUid.put(workload.id().uid(), workload);
        engine.apply(pending);
      }
    }
  }

  /**
   * Where a Workload stands in the queue.
   *
   * @param ahead the Workloads before it, in queue order
   * @param inLocalQueue its position among the Workloads of its LocalQueue, from 0
   * @param ofLocalQueue number of the Workloads in line in its LocalQueue
   * @param earlier the LocalQueues that come first because they used less
   */
  record Place(
      List<CachedWorkload> ahead,
      int inLocalQueue,
      int ofLocalQueue,
      Optional<EarlierLocalQueues> earlier) {}

  /** The place of a Workload; empty if it is not in line at the moment. */
  Optional<Place> place(String uid) {
    List<PendingPosition> line =
        engine.queries().pendingIn(clusterQueue).stream()
            .filter(position -> !position.inadmissible())
            .toList();
    for (int i = 0; i < line.size(); i++) {
      if (line.get(i).id().uid().equals(uid)) {
        return Optional.of(place(line, i));
      }
    }
    return Optional.empty();
  }

  private Place place(List<PendingPosition> line, int index) {
    PendingPosition own = line.get(index);
    List<CachedWorkload> ahead =
        line.subList(0, index).stream()
            .flatMap(other -> Optional.ofNullable(byUid.get(other.id().uid())).stream())
            .toList();
    return new Place(
        ahead,
        (int) line.subList(0, index).stream().filter(other -> sameQueue(own, other)).count(),
        (int) line.stream().filter(other -> sameQueue(own, other)).count(),
        engine.queries().pendingReason(own.id()).flatMap(PendingReport::earlierLocalQueues));
  }

  private static boolean sameQueue(PendingPosition one, PendingPosition other) {
    return one.queueName().equals(other.queueName())
        && one.id().namespace().equals(other.id().namespace());
  }
}
