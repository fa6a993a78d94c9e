package dev.sluice.visibility.explain;

import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionMode;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionScope;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueuePreemption;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec;
import dev.sluice.api.v1beta2.ClusterQueue.FlavorFungibility;
import dev.sluice.api.v1beta2.ClusterQueue.QueueingStrategy;
import dev.sluice.api.v1beta2.ClusterQueue.StopPolicy;
import dev.sluice.api.v1beta2.FairSharing;
import dev.sluice.api.v1beta2.FairSharing.AdmissionFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueue;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueSpec;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueStatus;
import dev.sluice.core.engine.Engine;
import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.EarlierLocalQueues;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import dev.sluice.queues.mapping.CheckControllerDescription.CheckControllers;
import dev.sluice.queues.mapping.ClusterQueueMapper;
import dev.sluice.queues.mapping.LocalQueueMapper;
import dev.sluice.queues.mapping.ReferenceLookup;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.ResourceContext;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Context of a pending Workload: its ClusterQueue with the cohort hierarchy, its place in the
 * queue, and the Workloads that hold quota. Read once.
 */
final class QueueContext {

  private final QueueObjectReader objects;
  private final String clusterQueue;
  private final GenericKubernetesResource localQueue;
  private final List<CachedWorkload> holding = new ArrayList<>();
  private final List<String> remarks = new ArrayList<>();
  private final Optional<QueueSnapshot.Place> place;
  private boolean strict;

  /**
   * Reads what a pending Workload waits among.
   *
   * @param localQueue its LocalQueue
   */
  QueueContext(
      QueueObjectReader objects,
      GenericKubernetesResource workload,
      GenericKubernetesResource localQueue,
      Instant now) {
    this.objects = objects;
    this.localQueue = localQueue;
    this.clusterQueue = JsonPaths.text(localQueue, "spec", "clusterQueue");
    String namespace = localQueue.getMetadata().getNamespace();
    List<GenericKubernetesResource> clusterQueues =
        objects
            .permitted(
                "ClusterQueue " + clusterQueue + " and who holds its quota can't be read",
                () -> objects.list("clusterqueues"))
            .orElse(List.of());
    Set<String> tree = clusterQueues.isEmpty() ? Set.of() : readTree(clusterQueues);
    List<CachedWorkload> workloads =
        objects
            .permitted(
                "Workloads of other namespaces can't be read, positions count those of namespace "
                    + namespace,
                () -> objects.workloads(Optional.empty()))
            .or(
                () ->
                    objects.permitted(
                        "other Workloads of namespace " + namespace + " can't be read",
                        () -> objects.workloads(Optional.of(namespace))))
            .orElse(List.of());
    workloads.stream()
        .filter(each -> !each.finished())
        .filter(each -> holdsQuotaOf(each, tree))
        .forEach(holding::add);
    place =
        new QueueSnapshot(ownQueue(clusterQueues), localQueues(), workloads, now)
            .place(JsonPaths.uid(workload));
  }

  private static boolean holdsQuotaOf(CachedWorkload workload, Set<String> tree) {
    return workload
        .status()
        .admission()
        .filter(admission -> tree.contains(admission.clusterQueue()))
        .isPresent();
  }

  /** The ClusterQueue; one without spec if it can't be read. */
  private ClusterQueue ownQueue(List<GenericKubernetesResource> clusterQueues) {
    Optional<ClusterQueue> found =
        clusterQueues.stream()
            .filter(queue -> queue.getMetadata().getName().equals(clusterQueue))
            .findFirst()
            .map(queue -> SnapshotObjects.clusterQueue(queue));
    if (found.isPresent()) {
      return found.get();
    }
    ClusterQueue unknown = new ClusterQueue();
    unknown.getMetadata().setName(clusterQueue);
    return unknown;
  }

  /**
   * Returns the names of all ClusterQueues that share quota with the Workload's own, including
   * itself.
   */
  private Set<String> readTree(List<GenericKubernetesResource> queues) {
    Map<String, String> parents = new HashMap<>();
    for (GenericKubernetesResource cohort :
        objects
            .permitted("Cohorts can't be read", () -> objects.list("cohorts"))
            .orElse(List.of())) {
      parents.put(cohort.getMetadata().getName(), JsonPaths.text(cohort, "spec", "parentName"));
    }
    Set<String> tree = new HashSet<>(Set.of(clusterQueue));
    queues.stream()
        .filter(queue -> queue.getMetadata().getName().equals(clusterQueue))
        .findFirst()
        .ifPresentOrElse(
            own -> {
              readQueue(own);
              String root = root(own, parents);
              queues.stream()
                  .filter(other -> !root.isEmpty() && root(other, parents).equals(root))
                  .forEach(other -> tree.add(other.getMetadata().getName()));
            },
            () -> remarks.add("  ClusterQueue " + clusterQueue + " does not exist"));
    return tree;
  }

  private void readQueue(GenericKubernetesResource queue) {
    strict = JsonPaths.text(queue, "spec", "queueingStrategy").equals("StrictFIFO");
    JsonPaths.conditionLine(queue, "Active", "False")
        .ifPresent(line -> remarks.add("  ClusterQueue " + line));
    for (Map<?, ?> flavor : JsonPaths.maps(queue.get("status", "flavorsReservation"))) {
      for (Map<?, ?> resource : JsonPaths.maps(flavor.get("resources"))) {
        remarks.add(
            "  ClusterQueue %s has reserved %s %s of flavor %s, %s of it borrowed"
                .formatted(
                    clusterQueue,
                    JsonPaths.string(resource.get("total"), "0"),
                    JsonPaths.string(resource.get("name"), ""),
                    JsonPaths.string(flavor.get("name"), ""),
                    JsonPaths.string(resource.get("borrowed"), "0")));
      }
    }
  }

  private static String root(GenericKubernetesResource queue, Map<String, String> parents) {
    String root = JsonPaths.text(queue, "spec", "cohortName");
    Set<String> passed = new HashSet<>();
    while (passed.add(root) && !parents.getOrDefault(root, "").isEmpty()) {
      root = parents.getOrDefault(root, "");
    }
    return root;
  }

  /** The LocalQueues of the ClusterQueue; the Workload's own if no others can be read. */
  private List<LocalQueue> localQueues() {
    List<LocalQueue> result = new ArrayList<>();
    for (GenericKubernetesResource each :
        objects
            .permitted(
                "LocalQueues of other namespaces can't be read", () -> objects.list("localqueues"))
            .orElse(List.of(localQueue))) {
      if (JsonPaths.text(each, "spec", "clusterQueue").equals(clusterQueue)) {
        result.add(SnapshotObjects.localQueue(each));
      }
    }
    return result;
  }

  /** Whether the ClusterQueue uses StrictFIFO. */
  boolean strict() {
    return strict;
  }

  /**
   * The clause that other Workloads are ahead because their LocalQueues used less; empty if none
   * are.
   */
  String earlierLocalQueues() {
    return place.flatMap(QueueSnapshot.Place::earlier).map(this::sentence).orElse("");
  }

  private String sentence(EarlierLocalQueues earlier) {
    return "; LocalQueue %s used more than %s, so that %s first"
        .formatted(
            JsonPaths.fullName(localQueue),
            earlier.others() == 1
                ? "LocalQueue " + earlier.first()
                : earlier.others() + " others that wait",
            earlier.others() == 1 ? "that one comes" : "those come");
  }

  /** The Workloads that hold quota which the ClusterQueue could use. */
  List<CachedWorkload> holding() {
    return holding;
  }

  /** The pending Workloads before the Workload, in queue order. */
  List<CachedWorkload> ahead() {
    return place.map(QueueSnapshot.Place::ahead).orElse(List.of());
  }

  /** The Workload's position and a description of its ClusterQueue. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    String name = localQueue.getMetadata().getName();
    lines.add(
        place
            .map(
                it ->
                    "  position %d of %d in LocalQueue %s (1 is next), by priority and age"
                        .formatted(it.inLocalQueue() + 1, it.ofLocalQueue(), name))
            .orElse("  not in line at the moment"));
    place
        .flatMap(QueueSnapshot.Place::earlier)
        .ifPresent(
            earlier ->
                lines.add(
                    "  used over time, by weight: %s %s, %s %s"
                        .formatted(
                            earlier.first(),
                            ExplanationText.used(earlier.usedByFirst()),
                            JsonPaths.fullName(localQueue),
                            ExplanationText.used(earlier.used()))));
    lines.addAll(remarks);
    return lines;
  }

  /**
   * Queues with what {@link QueueSnapshot} needs of them. The fields are taken one by one: a mapper
   * of whole objects would look at all their types first, and a person waits.
   */
  private static final class SnapshotObjects {

    private SnapshotObjects() {}

    static ClusterQueue clusterQueue(GenericKubernetesResource object) {
      ClusterQueue queue = new ClusterQueue();
      queue.getMetadata().setName(object.getMetadata().getName());
      AdmissionMode mode =
          constant(
              object.get("spec", "admissionScope", "admissionMode"),
              AdmissionMode.NO_ADMISSION_FAIR_SHARING);
      queue.setSpec(
          new ClusterQueueSpec(
              null,
              new AdmissionScope(mode),
              null,
              null,
              null,
              FlavorFungibility.DEFAULT,
              null,
              ClusterQueuePreemption.DEFAULT,
              constant(object.get("spec", "queueingStrategy"), QueueingStrategy.BEST_EFFORT_FIFO),
              List.of(),
              constant(object.get("spec", "stopPolicy"), StopPolicy.NONE)));
      return queue;
    }

    static LocalQueue localQueue(GenericKubernetesResource object) {
      LocalQueue queue = new LocalQueue();
      queue.getMetadata().setNamespace(object.getMetadata().getNamespace());
      queue.getMetadata().setName(object.getMetadata().getName());
      Object weight = object.get("spec", "fairSharing", "weight");
      queue.setSpec(
          new LocalQueueSpec(
              JsonPaths.text(object, "spec", "clusterQueue"),
              weight == null ? null : new FairSharing(new Quantity(weight.toString())),
              constant(object.get("spec", "stopPolicy"), StopPolicy.NONE)));
      if (object.get("status", "fairSharing", "admissionFairSharingStatus")
          instanceof Map<?, ?> past) {
        queue.setStatus(
            new LocalQueueStatus(
                null,
                List.of(),
                new LocalQueueFairSharingStatus(0L, past(past)),
                List.of(),
                List.of(),
                null,
                null));
      }
      return queue;
    }

    private static AdmissionFairSharingStatus past(Map<?, ?> status) {
      Map<String, Quantity> consumed = new HashMap<>();
      if (status.get("consumedResources") instanceof Map<?, ?> amounts) {
        amounts.forEach(
            (resource, amount) ->
                consumed.put(resource.toString(), new Quantity(String.valueOf(amount))));
      }
      return new AdmissionFairSharingStatus(
          consumed, JsonPaths.string(status.get("lastUpdate"), ""));
    }

    /** The constant of this name in the API; the default if the name is absent or unknown. */
    private static <E extends Enum<E>> E constant(@Nullable Object name, E otherwise) {
      try {
        return name == null
            ? otherwise
            : JsonMappers.JSON.convertValue(name, otherwise.getDeclaringClass());
      } catch (IllegalArgumentException unknown) {
        return otherwise;
      }
    }
  }

  /**
   * The order of the pending Workloads of one ClusterQueue, from the objects of the API server: an
   * engine that holds them and decides nothing is asked. The operator's configuration is unknown;
   * its defaults are used, and each resource has weight 1 in the usage of LocalQueues.
   */
  private static final class QueueSnapshot {

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
}
