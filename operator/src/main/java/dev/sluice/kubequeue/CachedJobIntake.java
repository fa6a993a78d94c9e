package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.queueing.AllowedSubjects;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.policy.JobIntake;
import dev.sluice.jobs.policy.QueueAssignment;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kubequeue.CachedJobIntake.QueueResolver.QuotaQueue;
import dev.sluice.kubequeue.CachedJobIntake.QueueResolver.Resolution;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.mapping.LabelSelectorMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The intake of jobs by the queues that were made from quotas, as the caches have them: they are
 * known by their marks ({@link SourceMark}). A LocalQueue that a quota label asks for and that the
 * quota allows in the namespace is made when the first job asks for it. Usable from any thread.
 */
public final class CachedJobIntake implements JobIntake {

  /** How long nobody tries again to make a LocalQueue. Jobs look again after twice as long. */
  public static final Duration BETWEEN_TRIES = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(CachedJobIntake.class);

  private final InformerCaches caches;
  private final ApiClient client;
  private final boolean unsuspended;
  private final Consumer<Runnable> later;
  private final Set<String> creating = ConcurrentHashMap.newKeySet();
  private final Map<String, String> refusals = new ConcurrentHashMap<>();
  private final List<Consumer<Predicate<String>>> observers = new CopyOnWriteArrayList<>();

  /**
   * An intake by these caches.
   *
   * @param client writes LocalQueues
   * @param later runs a task after {@link #BETWEEN_TRIES}
   */
  public CachedJobIntake(
      KubeQueue configuration, InformerCaches caches, ApiClient client, Consumer<Runnable> later) {
    this.later = later;
    this.caches = caches;
    this.client = client;
    this.unsuspended = configuration.jobs().intake() == KubeQueue.Intake.ALL;
    caches.localQueues().observe(this::localQueueChanged);
    caches.clusterQueues().observe(this::clusterQueueChanged);
    caches.namespaces().observe(this::namespaceChanged);
  }

  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public boolean takesUnsuspended() {
    return unsuspended;
  }

  @Override
  public Runnable observe(Consumer<Predicate<String>> observer) {
    observers.add(observer);
    return () -> observers.remove(observer);
  }

  @Override
  public QueueAssignment assign(
      JobRef job,
      Map<String, String> labels,
      Map<String, String> annotations,
      Supplier<List<ObjectNode>> templates) {
    String namespace = job.namespace();
    return switch (QueueResolver.resolve(
        labels, annotations, namespaceQueue(namespace, templates), quotaQueues())) {
      case Resolution.Unmapped none -> new QueueAssignment.Unassigned();
      case Resolution.UnknownQuota unknown ->
          new QueueAssignment.NotAvailable("there is no quota " + unknown.name());
      case Resolution.Found found -> inNamespace(namespace, found.queue());
    };
  }

  /**
   * The ClusterQueue that the namespace's own LocalQueue leads to. Before that of all pods comes
   * one for some of the pods that all pods of the job are among; of several the one that says most.
   */
  private Optional<String> namespaceQueue(String namespace, Supplier<List<ObjectNode>> templates) {
    Map<PodScopes, String> queues = new HashMap<>();
    for (LocalQueue queue : caches.localQueues().all()) {
      if (queue.getMetadata().getNamespace().equals(namespace)
          && isInUse(queue)
          && !has(queue, SourceMark.ON_DEMAND)) {
        PodScopes scopes =
            SourceMark.of(queue).map(mark -> PodScopes.parse(mark.scopes())).orElse(PodScopes.ALL);
        queues.merge(
            scopes, clusterQueue(queue), (one, other) -> one.compareTo(other) < 0 ? one : other);
      }
    }
    boolean choice = queues.keySet().stream().anyMatch(each -> !each.equals(PodScopes.ALL));
    List<ObjectNode> pods = choice ? templates.get() : List.of();
    Comparator<Map.Entry<PodScopes, String>> most =
        Comparator.comparing(each -> -each.getKey().requirements().size());
    return queues.entrySet().stream()
        .filter(each -> each.getKey().equals(PodScopes.ALL) || areAmong(each.getKey(), pods))
        .min(most.thenComparing(Map.Entry::getValue))
        .map(Map.Entry::getValue);
  }

  private static boolean areAmong(PodScopes scopes, List<ObjectNode> templates) {
    return !templates.isEmpty() && templates.stream().allMatch(scopes::include);
  }

  private static String clusterQueue(LocalQueue queue) {
    return queue.getSpec() == null
        ? ""
        : Objects.requireNonNullElse(queue.getSpec().clusterQueue(), "");
  }

  private List<QuotaQueue> quotaQueues() {
    return caches.clusterQueues().all().stream()
        .filter(queue -> !has(queue, SourceMark.REMOVED))
        .flatMap(
            queue ->
                SourceMark.of(queue).stream()
                    .map(
                        mark ->
                            new QuotaQueue(
                                queue.getMetadata().getName(),
                                mark.quota(),
                                mark.path(),
                                listed(queue))))
        .toList();
  }

  private static List<String> listed(ClusterQueue queue) {
    Map<String, String> annotations =
        Objects.requireNonNullElse(queue.getMetadata().getAnnotations(), Map.of());
    String list = annotations.getOrDefault(SourceMark.LISTED, "");
    return list.isEmpty() ? List.of() : List.of(list.split(",", -1));
  }

  /** Whether an object was made from a quota that is still there. */
  private static boolean isInUse(HasMetadata object) {
    return SourceMark.of(object).isPresent() && !has(object, SourceMark.REMOVED);
  }

  private static boolean has(HasMetadata object, String annotation) {
    return SourceMark.annotationsOf(object).containsKey(annotation);
  }

  private QueueAssignment inNamespace(String namespace, QuotaQueue queue) {
    List<LocalQueue> localQueues =
        caches.localQueues().all().stream()
            .filter(it -> it.getMetadata().getNamespace().equals(namespace))
            .filter(it -> clusterQueue(it).equals(queue.clusterQueue()))
            .filter(it -> !has(it, SourceMark.REMOVED))
            .toList();
    // Nobody judges what the operator writes for a user.
    Optional<String> local =
        localQueues.stream()
            .filter(it -> !AllowedSubjects.of(it.getMetadata().getAnnotations()).isRestricted())
            .map(it -> it.getMetadata().getName())
            .min(Comparator.naturalOrder());
    if (local.isPresent()) {
      return new QueueAssignment.ToLocalQueue(local.get());
    }
    if (!localQueues.isEmpty()) {
      return new QueueAssignment.NotAvailable(
          "not everybody may use LocalQueue %s/%s of quota %s; name it in the job's label"
              .formatted(namespace, localQueues.getFirst().getMetadata().getName(), queue.quota()));
    }
    Optional<ClusterQueue> made = caches.clusterQueues().find(queue.clusterQueue());
    if (made.filter(it -> admits(it, namespace)).isEmpty()) {
      return new QueueAssignment.NotAvailable(
          "quota %s does not list namespace %s".formatted(queue.quota(), namespace));
    }
    return new QueueAssignment.Pending(create(made.get(), namespace));
  }

  private boolean admits(ClusterQueue queue, String namespace) {
    Map<String, String> labels =
        caches
            .namespaces()
            .find(namespace)
            .map(it -> it.getMetadata().getLabels())
            .orElse(Map.of());
    return LabelSelectorMapper.translate(queue.getSpec().namespaceSelector(), "namespaceSelector")
        .value()
        .matches(labels);
  }

  /**
   * Makes a LocalQueue, unless that was tried a moment ago: many jobs ask for the same one. The
   * watch tells of it, and the jobs of the namespace are looked at again.
   *
   * @return why it was refused the last time; empty if it wasn't
   */
  private String create(ClusterQueue queue, String namespace) {
    String clusterQueue = queue.getMetadata().getName();
    String name =
        SourceMark.of(queue)
            .map(mark -> localName(mark, clusterQueue, namespace))
            .orElse(clusterQueue);
    ObjectNode object = JsonNodeFactory.instance.objectNode();
    object.put("apiVersion", ApiVersions.GROUP + "/" + ApiVersions.V1BETA2);
    object.put("kind", "LocalQueue");
    ObjectNode metadata = object.putObject("metadata").put("name", name);
    ObjectNode annotations = metadata.putObject("annotations");
    SourceMark.annotationsOf(queue).forEach(annotations::put);
    annotations.put(SourceMark.ON_DEMAND, "true");
    object.putObject("spec").put("clusterQueue", clusterQueue);
    String path =
        new ObjectPath(object.path("apiVersion").asText(), namespace, "localqueues", name)
            .collection();
    String key = namespace + "/" + name;
    if (creating.add(key)) {
      var unused =
          client
              .send(ApiRequest.create(path, object).by(SourceMark.FIELD_OWNER))
              .whenComplete(
                  (outcome, bug) -> {
                    if (outcome != null) {
                      created(key, outcome);
                    }
                    later.accept(() -> creating.remove(key));
                  });
    }
    return refusals.getOrDefault(key, "");
  }

  private void created(String key, ApiOutcome outcome) {
    refusals.remove(key);
    switch (outcome) {
      case ApiOutcome.Written written ->
          LOG.info("localqueue={} created, reason=\"quota label\"", key);
      case ApiOutcome.Refused refused -> {
        LOG.warn("localqueue={} not created, reason=\"{}\"", key, refused.message());
        refusals.put(key, "LocalQueue %s can't be made: %s".formatted(key, refused.message()));
      }
      case ApiOutcome.Unreachable unreachable ->
          LOG.info("localqueue={} not created yet, reason=\"{}\"", key, unreachable.message());
      case ApiOutcome.Conflict exists -> LOG.debug("localqueue={} exists", key);
      case ApiOutcome.Gone gone -> LOG.debug("localqueue={} has no namespace", key);
    }
  }

  /** The name of the LocalQueue of a quota, beside one of the same name that others made. */
  private String localName(SourceMark mark, String clusterQueue, String namespace) {
    String name = NameAllocator.localName(mark, clusterQueue);
    boolean taken =
        caches
            .localQueues()
            .find(namespace, name)
            .filter(
                it ->
                    SourceMark.of(it)
                        .filter(own -> own.identity().equals(mark.identity()))
                        .isEmpty())
            .isPresent();
    return taken ? NameAllocator.withSuffix(name, KubernetesNames.MAX_NAME, mark) : name;
  }

  private void localQueueChanged(@Nullable LocalQueue before, @Nullable LocalQueue after) {
    boolean same =
        before != null
            && after != null
            && SourceMark.annotationsOf(before).equals(SourceMark.annotationsOf(after))
            && clusterQueue(before).equals(clusterQueue(after));
    if (!same) {
      notifyOf(namespace(Objects.requireNonNull(after == null ? before : after))::equals);
    }
  }

  private static String namespace(HasMetadata object) {
    return object.getMetadata().getNamespace();
  }

  private void clusterQueueChanged(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    boolean made =
        (before != null && SourceMark.of(before).isPresent())
            || (after != null && SourceMark.of(after).isPresent());
    boolean same =
        before != null
            && after != null
            && SourceMark.annotationsOf(before).equals(SourceMark.annotationsOf(after))
            && Objects.equals(
                before.getSpec().namespaceSelector(), after.getSpec().namespaceSelector())
            && listed(before).equals(listed(after));
    if (made && !same) {
      notifyOf(any -> true);
    }
  }

  private void namespaceChanged(@Nullable Namespace before, @Nullable Namespace after) {
    if (after != null
        && before != null
        && !Objects.equals(before.getMetadata().getLabels(), after.getMetadata().getLabels())) {
      notifyOf(after.getMetadata().getName()::equals);
    }
  }

  private void notifyOf(Predicate<String> namespaces) {
    observers.forEach(observer -> observer.accept(namespaces));
  }

  /**
   * Finds the queue of a job that names none: its quota label, else its namespace, gives the quota;
   * an annotation may then choose another queue that lists this quota. A label that names no quota
   * is not replaced by the namespace: the job would be charged to a quota that nobody named.
   */
  static final class QueueResolver {

    private static final String QUEUE_NAME = "queue-name";
    private static final String ANY = "*";

    private QueueResolver() {}

    /**
     * A ClusterQueue that was made from a quota.
     *
     * @param clusterQueue its name
     * @param quota the name of the quota
     * @param path the full name of the quota in its tree; empty if it is in none
     * @param listed the names of other quotas whose jobs may choose it; {@code *} is any
     */
    record QuotaQueue(String clusterQueue, String quota, String path, List<String> listed) {

      QuotaQueue {
        listed = List.copyOf(listed);
      }

      private boolean isNamed(String name) {
        return name.equals(quota) || name.equals(path);
      }

      private boolean lists(QuotaQueue other) {
        return listed.stream().anyMatch(name -> name.equals(ANY) || other.isNamed(name));
      }
    }

    /** The queue of a job. */
    sealed interface Resolution {

      /** Nothing says that the job is to be queued. */
      record Unmapped() implements Resolution {}

      /** The label names a quota that there isn't. */
      record UnknownQuota(String name) implements Resolution {}

      /** The job belongs to the queue of a quota. */
      record Found(QuotaQueue queue) implements Resolution {}
    }

    /**
     * The queue of a job.
     *
     * @param labels those of the job
     * @param annotations those of the job
     * @param namespaceQueue the name of the ClusterQueue of the job's namespace, if it has one
     * @param queues all that were made from quotas
     */
    static Resolution resolve(
        Map<String, String> labels,
        Map<String, String> annotations,
        Optional<String> namespaceQueue,
        List<QuotaQueue> queues) {
      Optional<String> label = KubeQueueKeys.quotaName(labels);
      Optional<QuotaQueue> own =
          label.isPresent()
              ? byQuota(label.get(), queues)
              : namespaceQueue.flatMap(name -> byName(name, queues));
      if (own.isEmpty()) {
        return label
            .<Resolution>map(Resolution.UnknownQuota::new)
            .orElseGet(Resolution.Unmapped::new);
      }
      return new Resolution.Found(
          KubeQueueKeys.annotation(annotations, QUEUE_NAME)
              .flatMap(name -> byName(name, queues))
              .filter(chosen -> chosen.lists(own.get()))
              .orElse(own.get()));
    }

    private static Optional<QuotaQueue> byName(String clusterQueue, List<QuotaQueue> queues) {
      return queues.stream().filter(queue -> queue.clusterQueue().equals(clusterQueue)).findFirst();
    }

    /** Names of quotas are unique in a tree; of several trees the first by name is meant. */
    private static Optional<QuotaQueue> byQuota(String name, List<QuotaQueue> queues) {
      return queues.stream()
          .filter(queue -> queue.isNamed(name))
          .min(Comparator.comparing(QuotaQueue::clusterQueue));
    }
  }
}
