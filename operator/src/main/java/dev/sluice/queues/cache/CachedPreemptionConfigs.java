package dev.sluice.queues.cache;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.sluice.PreemptionConfigReader;
import dev.sluice.api.sluice.PreemptionConfigReader.Reading;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.workload.record.CachedWorkload;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The PreemptionConfigs that ClusterQueues name, and what these ask of Workloads
 * (docs/preemption-config.md). Thread-safe.
 */
public final class CachedPreemptionConfigs implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CachedPreemptionConfigs.class);

  /** The group and the version of the kind. */
  public static final String API = "/apis/" + ApiVersions.GROUP + "/v1alpha1";

  private final InformerCaches informerCaches;
  private final Store<JsonNode> store =
      new Store<>(object -> JsonFields.at(object, "spec").deepCopy());
  private final Reflector<Store.Item<JsonNode>> reflector;

  /** Changes come from the watches of both kinds. */
  private final ReentrantLock lock = new ReentrantLock();

  /** The configs that ClusterQueues name, as of the last change. */
  private volatile Map<String, Reading> readings = Map.of();

  /** The labels that rules in use ask for; empty while no ClusterQueue names a config. */
  private volatile Optional<Set<String>> labels = Optional.empty();

  /** What can't be used, by the ClusterQueues that name it: the log says it once. */
  private Map<String, Reading> faulty = Map.of();

  private volatile Runnable queuesChanged = () -> {};
  private volatile Runnable workloadsChanged = () -> {};

  /** Follows these caches, before they are filled. */
  public CachedPreemptionConfigs(InformerCaches informerCaches, Reflectors reflectors) {
    this.informerCaches = informerCaches;
    reflector =
        reflectors.of(
            PreemptionConfigReader.PLURAL, API + "/" + PreemptionConfigReader.PLURAL, store);
    store.observe((before, after) -> changed());
    informerCaches.clusterQueues().observe(this::queueChanged);
  }

  /** Calls the listener when ClusterQueues have to be told of anew. */
  public void onQueuesChange(Runnable told) {
    queuesChanged = told;
  }

  /** Calls the listener when Workloads have to be told of anew. */
  public void onWorkloadsChange(Runnable told) {
    workloadsChanged = told;
  }

  /** Begins to read; done when all were read once. */
  public CompletableFuture<Void> start() {
    return reflector.start();
  }

  /**
   * The rules for a ClusterQueue; empty unless it names a config. One that doesn't exist, or can't
   * be read, has none.
   */
  public Optional<PreemptionConfig> of(ClusterQueue queue) {
    return named(queue)
        .map(
            name ->
                Optional.ofNullable(readings.get(name))
                    .map(Reading::config)
                    .orElseGet(() -> new PreemptionConfig(List.of())));
  }

  /** What the rules in use compare of a Workload; empty while no ClusterQueue names a config. */
  public Optional<PreemptionTraits> traits(CachedWorkload workload) {
    return labels.map(
        keys -> {
          Map<String, String> asked = new HashMap<>(workload.labels());
          asked.keySet().retainAll(keys);
          return new PreemptionTraits(
              asked,
              workload.spec().priorityClass().map(each -> each.name()),
              workload.spec().priority(),
              Optional.of(
                  new LocalQueueId(workload.id().namespace(), workload.spec().queueName())));
        });
  }

  private Optional<Reading> reading(String name) {
    return store.find(name).map(spec -> PreemptionConfigReader.read(spec, this::selected));
  }

  private Set<String> selected(LabelSelector selector) {
    Set<String> names = new HashSet<>();
    for (ClusterQueue queue : informerCaches.clusterQueues().all()) {
      if (selector.matches(labels(queue))) {
        names.add(queue.getMetadata().getName());
      }
    }
    return names;
  }

  private static Optional<String> named(@Nullable ClusterQueue queue) {
    return Optional.ofNullable(queue)
        .flatMap(each -> Optional.ofNullable(each.getMetadata().getAnnotations()))
        .flatMap(each -> Optional.ofNullable(each.get(PreemptionConfigReader.ANNOTATION)))
        .filter(name -> !name.isEmpty());
  }

  private void queueChanged(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    // A selector may match a queue without labels, too.
    boolean selectable =
        before == null || after == null || !Objects.equals(labels(before), labels(after));
    if (!named(before).equals(named(after)) || (selectable && labels.isPresent())) {
      changed();
    }
  }

  private static Map<String, String> labels(ClusterQueue queue) {
    Map<String, String> labels = queue.getMetadata().getLabels();
    return labels == null ? Map.of() : labels;
  }

  /** Finds out anew, and tells of it without the lock, which those who are told may wait for. */
  private void changed() {
    Optional<Set<String>> before;
    Optional<Set<String>> after;
    lock.lock();
    try {
      before = labels;
      after = asked();
      labels = after;
    } finally {
      lock.unlock();
    }
    if (!after.equals(before)) {
      workloadsChanged.run();
    }
    if (after.isPresent() || before.isPresent()) {
      queuesChanged.run();
    }
  }

  /** Reads each config once that is named, however many ClusterQueues name it. */
  private Optional<Set<String>> asked() {
    Map<String, Reading> read = new HashMap<>();
    Map<String, Reading> wrong = new HashMap<>();
    Set<String> asked = new HashSet<>();
    boolean used = false;
    for (ClusterQueue queue : informerCaches.clusterQueues().all()) {
      Optional<String> name = named(queue);
      if (name.isPresent()) {
        used = true;
        Optional<Reading> reading =
            Optional.ofNullable(
                read.computeIfAbsent(name.get(), named -> reading(named).orElse(null)));
        reading.ifPresent(each -> asked.addAll(each.labels()));
        String queueName = queue.getMetadata().getName();
        reading
            .filter(each -> !each.faults().isEmpty())
            .ifPresent(each -> wrong.put(queueName, each));
        Optional.ofNullable(wrong.get(queueName))
            .filter(each -> !each.equals(faulty.get(queueName)))
            .ifPresent(
                each ->
                    LOG.warn(
                        "preemptionConfig={} clusterQueue={} used=false reason=\"{}\"",
                        name.get(),
                        queueName,
                        each.faults().getFirst()));
      }
    }
    readings = Map.copyOf(read);
    faulty = wrong;
    return used ? Optional.of(Set.copyOf(asked)) : Optional.empty();
  }

  @Override
  public void close() {
    reflector.close();
  }
}
