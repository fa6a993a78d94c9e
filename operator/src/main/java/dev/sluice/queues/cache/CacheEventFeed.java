package dev.sluice.queues.cache;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.core.engine.SchedulerEventSink;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FungibilityGates;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.CohortMapper;
import dev.sluice.queues.mapping.EffectiveQuotasMapper;
import dev.sluice.queues.mapping.FlavorMapper;
import dev.sluice.queues.mapping.LocalQueueMapper;
import dev.sluice.queues.mapping.ReferenceLookup;
import dev.sluice.queues.mapping.TopologyMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds the scheduler with namespaces, topologies, flavors, cohorts and queues: when opened, all of
 * them once, dependencies before queues; afterwards every relevant change.
 */
public final class CacheEventFeed {

  private static final Logger LOG = LoggerFactory.getLogger(CacheEventFeed.class);

  private final InformerCaches informerCaches;
  private final SchedulerEventSink sink;
  private final ReferenceLookup referenceLookup;

  private volatile Function<ClusterQueue, Optional<PreemptionConfig>> preemptionConfigs =
      queue -> Optional.empty();

  private final boolean ignoreUndeclared;
  private final FungibilityGates fungibilityGates;
  private final EffectiveQuotasMapper effective;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, SchedulerEvent> lastSubmitted = new HashMap<>();
  private boolean open;

  /**
   * Creates a closed feed: it observes the informer caches and submits no events yet.
   *
   * @param ignoreUndeclared whether ClusterQueues ignore requests for resources that they do not
   *     declare (docs/scheduling-semantics.md#quota-check-strategy)
   * @param fungibilityGates what becomes of their policies for the search of a flavor
   * @param effective which quotas count
   * @param clock the time, on which quota may depend (docs/quota-by-time.md)
   */
  public CacheEventFeed(
      InformerCaches informerCaches,
      SchedulerEventSink sink,
      boolean ignoreUndeclared,
      FungibilityGates fungibilityGates,
      EffectiveQuotasMapper effective,
      InstantSource clock) {
    this.effective = effective;
    this.clock = clock;
    this.fungibilityGates = fungibilityGates;
    this.informerCaches = informerCaches;
    this.sink = sink;
    this.ignoreUndeclared = ignoreUndeclared;
    this.referenceLookup = informerCaches.surroundings();
    informerCaches.namespaces().observe((before, after) -> change(() -> namespace(before, after)));
    informerCaches.flavors().observe((before, after) -> change(() -> flavor(before, after)));
    informerCaches.cohorts().observe((before, after) -> change(() -> cohort(before, after)));
    informerCaches
        .clusterQueues()
        .observe((before, after) -> change(() -> clusterQueue(before, after)));
    informerCaches
        .localQueues()
        .observe((before, after) -> change(() -> localQueue(before, after)));
    informerCaches.checks().observe((before, after) -> change(() -> check(before, after)));
    informerCaches.topologies().observe((before, after) -> change(() -> topology(before, after)));
  }

  /**
   * Submits all known objects, and from now on every change. To be called once all caches have
   * synced.
   */
  public void open() {
    lock.lock();
    try {
      open = true;
      informerCaches
          .namespaces()
          .all()
          .forEach(namespace -> safely(() -> namespace(null, namespace)));
      informerCaches.topologies().all().forEach(topology -> safely(() -> submit(topology)));
      informerCaches.flavors().all().forEach(flavor -> safely(() -> submit(flavor)));
      informerCaches.cohorts().all().forEach(cohort -> safely(() -> cohort(null, cohort)));
      informerCaches
          .clusterQueues()
          .all()
          .forEach(queue -> safely(() -> clusterQueue(null, queue)));
      informerCaches.localQueues().all().forEach(queue -> safely(() -> localQueue(null, queue)));
    } finally {
      lock.unlock();
    }
  }

  /** Submits a ClusterQueue once more, if its quota is another one by now. */
  public void timeHasPassed(String clusterQueue) {
    change(() -> resubmit(queue -> name(queue).equals(clusterQueue)));
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      if (open) {
        safely(change);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * An object that cannot be mapped keeps its last submitted state and does not block other
   * objects.
   */
  private static void safely(Runnable submission) {
    try {
      submission.run();
    } catch (RuntimeException | Error e) {
      LOG.error("engine event=lost reason=\"an object of the cache could not be passed on\"", e);
    }
  }

  private void namespace(@Nullable Namespace before, @Nullable Namespace after) {
    if (after == null) {
      String name = name(before);
      withdraw(new Key("Namespace", name), new SchedulerEvent.NamespaceRemoved(name));
      return;
    }
    Map<String, String> labels = after.getMetadata().getLabels();
    submit(
        new Key("Namespace", name(after)),
        new SchedulerEvent.NamespaceChanged(name(after), labels == null ? Map.of() : labels));
  }

  private void flavor(@Nullable ResourceFlavor before, @Nullable ResourceFlavor after) {
    if (after == null) {
      withdraw(
          new Key("ResourceFlavor", name(before)), new SchedulerEvent.FlavorRemoved(name(before)));
    } else {
      submit(after);
    }
    String name = name(after == null ? before : after);
    resubmit(queue -> ClusterQueueMapper.flavors(queue).contains(name));
  }

  private void submit(ResourceFlavor flavor) {
    submit(
        new Key("ResourceFlavor", name(flavor)),
        new SchedulerEvent.FlavorChanged(FlavorMapper.translate(flavor)));
  }

  private void cohort(@Nullable Cohort before, @Nullable Cohort after) {
    if (after == null) {
      withdraw(new Key("Cohort", name(before)), new SchedulerEvent.CohortRemoved(name(before)));
    } else {
      submit(
          new Key("Cohort", name(after)),
          new SchedulerEvent.CohortChanged(
              CohortMapper.translate(effective.applied(after)).value()));
    }
  }

  private void clusterQueue(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    if (after == null) {
      withdraw(
          new Key("ClusterQueue", name(before)),
          new SchedulerEvent.ClusterQueueRemoved(name(before)));
    } else {
      submit(
          new Key("ClusterQueue", name(after)),
          new SchedulerEvent.ClusterQueueChanged(translated(after)));
    }
  }

  /** Tells the engine of these PreemptionConfigs, too; to be called before {@link #open}. */
  public void follow(CachedPreemptionConfigs configs) {
    preemptionConfigs = configs::of;
    configs.onQueuesChange(() -> change(() -> resubmit(queue -> true)));
  }

  private ClusterQueueSpec translated(ClusterQueue queue) {
    ClusterQueueSpec mapped =
        ClusterQueueMapper.translate(effective.applied(queue), referenceLookup, clock.instant());
    Optional<PreemptionConfig> config = preemptionConfigs.apply(queue);
    ClusterQueueSpec spec =
        mapped
            .with(fungibilityGates.applied(mapped.fungibility()))
            .with(mapped.strategy(), mapped.rules().withPreemptionConfig(config));
    return ignoreUndeclared || isMadeFromQuota(queue) ? spec.ignoringUndeclared() : spec;
  }

  /** A quota of Kube Queue is about the resources that it names, see docs/kube-queue.md. */
  private static boolean isMadeFromQuota(ClusterQueue queue) {
    Map<String, String> annotations = queue.getMetadata().getAnnotations();
    return annotations != null && annotations.containsKey(KueueConstants.SOURCE_KIND);
  }

  private void localQueue(@Nullable LocalQueue before, @Nullable LocalQueue after) {
    if (after != null) {
      LocalQueueId id = LocalQueueMapper.id(after);
      // before the queue itself: recorded past usage must count from the queue's first event
      LocalQueueMapper.used(after)
          .ifPresent(used -> submit(new Key("LocalQueueUse", id.toString()), used));
      submit(
          new Key("LocalQueue", id.toString()),
          new SchedulerEvent.LocalQueueChanged(LocalQueueMapper.translate(after)));
    } else if (before != null) {
      LocalQueueId id = LocalQueueMapper.id(before);
      withdraw(new Key("LocalQueue", id.toString()), new SchedulerEvent.LocalQueueRemoved(id));
      lastSubmitted.remove(new Key("LocalQueueUse", id.toString()));
    }
  }

  private void check(@Nullable AdmissionCheck before, @Nullable AdmissionCheck after) {
    String name = name(after == null ? before : after);
    resubmit(queue -> ClusterQueueMapper.admissionChecks(queue).contains(name));
  }

  private void topology(@Nullable Topology before, @Nullable Topology after) {
    String name = name(after == null ? before : after);
    if (after == null) {
      withdraw(new Key("Topology", name), new SchedulerEvent.TopologyRemoved(name));
    } else {
      submit(after);
    }
    resubmit(
        queue ->
            ClusterQueueMapper.flavors(queue).stream()
                .flatMap(flavor -> informerCaches.flavors().find(flavor).stream())
                .flatMap(flavor -> FlavorMapper.topology(flavor).stream())
                .anyMatch(name::equals));
  }

  private void submit(Topology topology) {
    TopologyMapper.translate(topology)
        .ifPresent(
            spec ->
                submit(new Key("Topology", spec.name()), new SchedulerEvent.TopologyChanged(spec)));
  }

  private void resubmit(Predicate<ClusterQueue> which) {
    for (ClusterQueue queue : informerCaches.clusterQueues().all()) {
      if (which.test(effective.applied(queue))) {
        clusterQueue(null, queue);
      }
    }
  }

  private void submit(Key key, SchedulerEvent schedulerEvent) {
    if (!schedulerEvent.equals(lastSubmitted.put(key, schedulerEvent))) {
      sink.submit(schedulerEvent);
    }
  }

  private void withdraw(Key key, SchedulerEvent schedulerEvent) {
    if (lastSubmitted.remove(key) != null) {
      sink.submit(schedulerEvent);
    }
  }

  private static String name(@Nullable HasMetadata object) {
    return object == null ? "" : object.getMetadata().getName();
  }

  /** Identifies the object of an event. */
  private record Key(String kind, String name) {}
}
