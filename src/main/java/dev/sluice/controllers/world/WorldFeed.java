package dev.sluice.controllers.world;

import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.Cohort;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.Topology;
import dev.sluice.controllers.translation.ClusterQueues;
import dev.sluice.controllers.translation.Cohorts;
import dev.sluice.controllers.translation.Flavors;
import dev.sluice.controllers.translation.LocalQueues;
import dev.sluice.controllers.translation.Surroundings;
import dev.sluice.engine.EngineMailbox;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.Fact;
import dev.sluice.model.LocalQueueId;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the engine about namespaces, flavors, cohorts and queues: all of them once when it is
 * opened, what the queues rest on before the queues; from then on every change, as it comes, that
 * makes a difference to the engine.
 */
public final class WorldFeed {

  private static final Logger LOG = LoggerFactory.getLogger(WorldFeed.class);

  private final World world;
  private final EngineMailbox mailbox;
  private final Surroundings surroundings;
  private final boolean ignoreUndeclared;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, Fact> told = new HashMap<>();
  private boolean open;

  /**
   * A feed that is closed: it observes the world's stores, and tells nothing yet.
   *
   * @param ignoreUndeclared whether ClusterQueues ignore requests for resources that they don't
   *     declare (scheduling semantics, section 19)
   */
  public WorldFeed(World world, EngineMailbox mailbox, boolean ignoreUndeclared) {
    this.world = world;
    this.mailbox = mailbox;
    this.ignoreUndeclared = ignoreUndeclared;
    this.surroundings = world.surroundings();
    world.namespaces().observe((before, after) -> change(() -> namespace(before, after)));
    world.flavors().observe((before, after) -> change(() -> flavor(before, after)));
    world.cohorts().observe((before, after) -> change(() -> cohort(before, after)));
    world.clusterQueues().observe((before, after) -> change(() -> clusterQueue(before, after)));
    world.localQueues().observe((before, after) -> change(() -> localQueue(before, after)));
    world.checks().observe((before, after) -> change(() -> check(before, after)));
    world.topologies().observe((before, after) -> change(() -> topology(before, after)));
  }

  /** Tells all that is known, and from now on every change. To be called once all have synced. */
  public void open() {
    lock.lock();
    try {
      open = true;
      world.namespaces().all().forEach(namespace -> safely(() -> namespace(null, namespace)));
      world.flavors().all().forEach(flavor -> safely(() -> tell(flavor)));
      world.cohorts().all().forEach(cohort -> safely(() -> cohort(null, cohort)));
      world.clusterQueues().all().forEach(queue -> safely(() -> clusterQueue(null, queue)));
      world.localQueues().all().forEach(queue -> safely(() -> localQueue(null, queue)));
    } finally {
      lock.unlock();
    }
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

  /** What nothing can be made of stays as it was told, and keeps nobody else from being told. */
  private static void safely(Runnable telling) {
    try {
      telling.run();
    } catch (RuntimeException | StackOverflowError e) {
      LOG.error("an object could not be told to the engine", e);
    }
  }

  private void namespace(@Nullable Namespace before, @Nullable Namespace after) {
    if (after == null) {
      String name = name(before);
      untell(new Key("Namespace", name), new Fact.NamespaceRemoved(name));
      return;
    }
    Map<String, String> labels = after.getMetadata().getLabels();
    tell(
        new Key("Namespace", name(after)),
        new Fact.NamespaceChanged(name(after), labels == null ? Map.of() : labels));
  }

  private void flavor(@Nullable ResourceFlavor before, @Nullable ResourceFlavor after) {
    if (after == null) {
      untell(new Key("ResourceFlavor", name(before)), new Fact.FlavorRemoved(name(before)));
    } else {
      tell(after);
    }
    String name = name(after == null ? before : after);
    retell(queue -> ClusterQueues.flavors(queue).contains(name));
  }

  private void tell(ResourceFlavor flavor) {
    tell(
        new Key("ResourceFlavor", name(flavor)), new Fact.FlavorChanged(Flavors.translate(flavor)));
  }

  private void cohort(@Nullable Cohort before, @Nullable Cohort after) {
    if (after == null) {
      untell(new Key("Cohort", name(before)), new Fact.CohortRemoved(name(before)));
    } else {
      tell(
          new Key("Cohort", name(after)), new Fact.CohortChanged(Cohorts.translate(after).value()));
    }
  }

  private void clusterQueue(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    if (after == null) {
      untell(new Key("ClusterQueue", name(before)), new Fact.ClusterQueueRemoved(name(before)));
    } else {
      tell(new Key("ClusterQueue", name(after)), new Fact.ClusterQueueChanged(translated(after)));
    }
  }

  private ClusterQueueSpec translated(ClusterQueue queue) {
    ClusterQueueSpec spec = ClusterQueues.translate(queue, surroundings);
    return ignoreUndeclared ? spec.ignoringUndeclared() : spec;
  }

  private void localQueue(@Nullable LocalQueue before, @Nullable LocalQueue after) {
    if (after != null) {
      LocalQueueId id = LocalQueues.id(after);
      // Before the queue itself: what is known of its past counts from its first moment.
      LocalQueues.used(after)
          .ifPresent(used -> tell(new Key("LocalQueueUse", id.toString()), used));
      tell(
          new Key("LocalQueue", id.toString()),
          new Fact.LocalQueueChanged(LocalQueues.translate(after)));
    } else if (before != null) {
      LocalQueueId id = LocalQueues.id(before);
      untell(new Key("LocalQueue", id.toString()), new Fact.LocalQueueRemoved(id));
      told.remove(new Key("LocalQueueUse", id.toString()));
    }
  }

  private void check(@Nullable AdmissionCheck before, @Nullable AdmissionCheck after) {
    String name = name(after == null ? before : after);
    retell(queue -> ClusterQueues.admissionChecks(queue).contains(name));
  }

  private void topology(@Nullable Topology before, @Nullable Topology after) {
    String name = name(after == null ? before : after);
    retell(
        queue ->
            ClusterQueues.flavors(queue).stream()
                .flatMap(flavor -> world.flavors().find(flavor).stream())
                .flatMap(flavor -> Flavors.topology(flavor).stream())
                .anyMatch(name::equals));
  }

  private void retell(Predicate<ClusterQueue> which) {
    for (ClusterQueue queue : world.clusterQueues().all()) {
      if (which.test(queue)) {
        clusterQueue(null, queue);
      }
    }
  }

  private void tell(Key key, Fact fact) {
    if (!fact.equals(told.put(key, fact))) {
      mailbox.submit(fact);
    }
  }

  private void untell(Key key, Fact fact) {
    if (told.remove(key) != null) {
      mailbox.submit(fact);
    }
  }

  private static String name(@Nullable HasMetadata object) {
    return object == null ? "" : object.getMetadata().getName();
  }

  /** Whom a fact is about. */
  private record Key(String kind, String name) {}
}
