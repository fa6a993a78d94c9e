package dev.sluice.workload.feed;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.placement.TopologySpreading;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.api.queueing.PreemptibleLabels;
import dev.sluice.api.queueing.QueueAnnotations.PriorityAging;
import dev.sluice.api.queueing.RefusedFlavors;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.QueueRules.CostRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.JobSlice;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologyRequest.PodSetTopology;
import dev.sluice.core.model.TopologyRequest.PodSetTopology.Delay;
import dev.sluice.core.model.TopologyRequest.Spreading;
import dev.sluice.core.model.TopologyRequest.Spreading.Member;
import dev.sluice.kube.json.WeakInterner;
import dev.sluice.workload.feed.AdmittedRequests.ResourceTransformer;
import dev.sluice.workload.feed.TranslationOptions.WorkloadRules;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.CachedWorkload.RequeueState;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.PodTemplateParser.PodRequests;
import dev.sluice.workload.record.RecordSize;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.UnsupportedRequests;
import dev.sluice.workload.status.CheckStates;
import dev.sluice.workload.status.DelayedTopology;
import dev.sluice.workload.status.PodsReady;
import dev.sluice.workload.status.Preemptions;
import dev.sluice.workload.status.StatusPatch;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Translates Workloads into scheduler events (docs/scheduling-semantics.md#what-is-pending). The
 * result depends only on the record, the context and the options. Usable from any thread.
 */
public final class WorkloadTranslator {

  /** How many bytes, about, the pod sets take whose resolved requests are remembered. */
  private static final long REMEMBERED_BYTES = 16L << 20;

  /** How many slices of a job are asked for its history of preemption. */
  private static final int MOST_SLICES = 100;

  /**
   * Reasons of QuotaReserved=False that keep a Workload out of the queue until the life cycle
   * replaces them. So a Workload whose admission gates were removed gets the new reason before it
   * can be admitted.
   */
  private static final Set<String> KEEPS_OUT = Set.of(StatusPatch.ON_HOLD, "AdmissionGated");

  /** A requirement on fields that no node meets. */
  private static final LabelRequirement NO_NODE =
      new LabelRequirement("metadata.name", LabelRequirement.Operator.IN, List.of());

  private final ResourceContext context;
  private final TranslationOptions options;
  private final ResourceTransformer transformer;
  private final Function<CachedWorkload, Set<String>> avoided;
  private final UnsupportedRequests unsupported;
  private final Predicate<CachedWorkload> attended;
  private final WorkloadRules rules;
  private final WeakInterner<RequestShape> shapes = new WeakInterner<>();
  private final Cache<ShapeKey, ResolvedShape> resolvedShapes =
      CacheBuilder.newBuilder()
          .concurrencyLevel(1)
          .maximumWeight(REMEMBERED_BYTES)
          .<ShapeKey, ResolvedShape>weigher((shapeKey, resolvedShape) -> shapeKey.weight())
          .build();

  /** The inputs of a Workload's resolved request. */
  private record ShapeKey(
      List<PodSet> podSets,
      Map<String, Integer> reclaimable,
      NamespaceLimits rules,
      List<Map<String, Long>> overheads,
      List<DeviceCharge> devices,
      Map<String, Set<String>> excluded,
      boolean guaranteed,
      PreemptionRules preemption) {

    private int weight() {
      return (int)
          Math.min(
              Integer.MAX_VALUE,
              RecordSize.bytes(List.of(podSets, reclaimable, overheads, excluded)));
    }
  }

  /** The resolved request, and the reason why it can't be admitted in any case. */
  private record ResolvedShape(RequestShape shape, Optional<String> defect) {}

  /** Creates a translator with these options, which uses the current state of the context. */
  public WorkloadTranslator(ResourceContext context, TranslationOptions translation) {
    this(
        context,
        translation,
        workload -> Set.of(),
        UnsupportedRequests.NONE,
        workload -> true,
        WorkloadRules.NONE);
  }

  /**
   * Creates a translator for a manager whose flavors belong to worker clusters.
   *
   * @param avoided the worker clusters whose flavors a Workload must not get
   * @param unsupported what keeps a Workload waiting because it does not exist here
   * @param attended the Workloads whose pods somebody reports and stops; no other admission waits
   *     for the pods of others, and others are not preempted
   * @param workloadRules what others say about a Workload by annotation
   */
  public WorkloadTranslator(
      ResourceContext context,
      TranslationOptions translation,
      Function<CachedWorkload, Set<String>> avoided,
      UnsupportedRequests unsupported,
      Predicate<CachedWorkload> attended,
      WorkloadRules workloadRules) {
    this.rules = workloadRules;
    this.avoided = avoided;
    this.unsupported = unsupported;
    this.attended = attended;
    this.context = context;
    this.options = translation;
    this.transformer =
        new ResourceTransformer(
            translation.resources().excludeResourcePrefixes(),
            translation.resources().transformations());
  }

  /** Creates a translator where nobody says anything by annotation. */
  public WorkloadTranslator(
      ResourceContext context,
      TranslationOptions translation,
      Function<CachedWorkload, Set<String>> avoided,
      UnsupportedRequests unsupported,
      Predicate<CachedWorkload> attended) {
    this(context, translation, avoided, unsupported, attended, WorkloadRules.NONE);
  }

  /** The scheduler event for a Workload. */
  public SchedulerEvent of(CachedWorkload workload) {
    if (takesNoPart(workload)) {
      return released(workload);
    }
    if (workload.quotaReserved()) {
      return workload
          .status()
          .admission()
          .<SchedulerEvent>map(
              admission -> new SchedulerEvent.WorkloadReserving(reserving(workload, admission)))
          .orElseGet(() -> released(workload));
    }
    return mayQueue(workload) && unresolvedDevices(workload).isEmpty()
        ? new SchedulerEvent.WorkloadPending(pending(workload))
        : released(workload);
  }

  /** Whether the event for a Workload says that it has quota: a part of {@link #of}. */
  boolean isReserving(CachedWorkload workload) {
    return !takesNoPart(workload)
        && workload.quotaReserved()
        && workload.status().admission().isPresent();
  }

  /** What the engine counts of the quota that a Workload has: a part of {@link #of}. */
  public List<PodSetAssignment> charged(CachedWorkload workload) {
    return takesNoPart(workload) || !workload.quotaReserved()
        ? List.of()
        : workload
            .status()
            .admission()
            .map(admission -> podSets(workload, admission))
            .orElse(List.of());
  }

  /** Whether a Workload neither waits nor has quota of its own. */
  private boolean takesNoPart(CachedWorkload workload) {
    return workload.finished()
        || (rules.families().isParent(workload)
            && (!workload.quotaReserved() || rules.families().isChargedFor(workload)));
  }

  /**
   * The event for a Workload that has finished or was deleted, and keeps its quota, because pods of
   * it run: it counts as one that is being evicted.
   *
   * @param outlasts whether they have run for long since: nobody waits for them any more
   */
  SchedulerEvent held(CachedWorkload workload, boolean outlasts) {
    return workload
        .status()
        .admission()
        .map(admission -> reserving(workload, admission).evicting())
        .<SchedulerEvent>map(
            leaving ->
                new SchedulerEvent.WorkloadReserving(outlasts ? leaving.notEvictable() : leaving))
        .orElseGet(() -> released(workload));
  }

  /** What has ended doesn't come back, as little as what was deleted. */
  private static SchedulerEvent released(CachedWorkload workload) {
    return new SchedulerEvent.WorkloadReleased(
        workload.id(), workload.finished() ? Long.MAX_VALUE : workload.version());
  }

  private boolean mayQueue(CachedWorkload workload) {
    return !workload.deleting()
        && (!rules.families().isVariant(workload) || rules.families().mayQueue(workload))
        && workload.spec().active()
        && !workload.spec().queueName().isEmpty()
        && !isGated(workload)
        && !workload.status().isTrue("WaitingForReplacementPods")
        && workload
            .status()
            .condition("QuotaReserved")
            .filter(condition -> KEEPS_OUT.contains(condition.reason()))
            .isEmpty();
  }

  /**
   * Why quota can't count the devices of a Workload yet (docs/devices.md#unresolved); empty if it
   * can, or never will.
   */
  public Optional<String> unresolvedDevices(CachedWorkload workload) {
    if (!options.on(FeatureGate.KUEUE_DRA_INTEGRATION)) {
      return Optional.empty();
    }
    List<String> found = new ArrayList<>(0);
    for (PodSet podSet : workload.spec().podSets()) {
      devices(workload.id().namespace(), podSet)
          .unresolved()
          .forEach(reason -> found.add("pod set " + podSet.name() + ": " + reason));
    }
    return found.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", found));
  }

  /** Whether a Workload may count otherwise when devices do. */
  public boolean mayUseDevices(CachedWorkload workload) {
    return workload.spec().podSets().stream()
        .anyMatch(podSet -> context.mayUseDevices(podSet.template()));
  }

  private DeviceCharge devices(String namespace, PodSet podSet) {
    if (options.on(FeatureGate.KUEUE_DRA_INTEGRATION)) {
      return context.devices(namespace, podSet.template());
    }
    return options.on(FeatureGate.KUEUE_DRA_REJECT_WORKLOADS_WHEN_DRA_DISABLED)
        ? DeviceCharge.uncounted(podSet.template())
        : DeviceCharge.NONE;
  }

  /** The Workloads that count otherwise after this one has changed. */
  List<CachedWorkload> relatives(CachedWorkload workload) {
    return rules.families().relatives(workload);
  }

  private boolean isGated(CachedWorkload workload) {
    return options.on(FeatureGate.ADMISSION_GATED_BY)
        && !first(workload)
            .annotations()
            .getOrDefault(KueueConstants.ADMISSION_GATED_BY, "")
            .isBlank();
  }

  private PendingWorkload pending(CachedWorkload workload) {
    ResolvedShape resolvedShape = resolve(workload);
    return new PendingWorkload(
        workload.id(),
        workload.version(),
        workload.spec().queueName(),
        running(spread(resolvedShape.shape(), workload).withSlice(slice(workload)), workload),
        priority(workload),
        workload.createdAt(),
        queuedAt(workload),
        backOff(workload),
        isFalse(workload, "Requeued")
            || rules.families().isVariant(workload) && isFalse(first(workload), "Requeued")
            || CheckStates.anyRefuses(workload.status().admissionChecks()),
        resolvedShape
            .defect()
            .or(() -> unsupported.of(workload))
            .or(() -> rules.checks().apply(workload, resolvedShape.shape())),
        options.gates().preemptionGates() && !workload.closedGates().isEmpty(),
        attended.test(workload),
        waited(workload));
  }

  /** The parent of a variant; any other Workload itself. */
  private CachedWorkload first(CachedWorkload workload) {
    return rules.families().first(workload);
  }

  /** A variant waits for the end of its parent's back-off, too. */
  private Optional<Instant> backOff(CachedWorkload workload) {
    Optional<Instant> own = workload.status().requeueState().flatMap(RequeueState::requeueAt);
    CachedWorkload first = first(workload);
    return first == workload
        ? own
        : Stream.concat(
                own.stream(),
                first.status().requeueState().flatMap(RequeueState::requeueAt).stream())
            .max(Instant::compareTo);
  }

  private RequestShape running(RequestShape shape, CachedWorkload workload) {
    Optional<Duration> run = rules.run().apply(workload);
    Optional<CostRules> cost = rules.cost().apply(workload);
    return run.isEmpty() && cost.isEmpty() ? shape : shapes.of(shape.running(run).costing(cost));
  }

  private PreemptionRules ofClass(CachedWorkload workload) {
    return rules.preemption().apply(workload).orElse(PreemptionRules.NONE);
  }

  private PreemptionHistory waited(CachedWorkload workload) {
    Instant queuedAt = queuedAt(workload);
    // Evicted says when its job was to stop, Requeued that it has, or when it was let in again
    Instant since =
        Stream.concat(
                workload.status().trueCondition("Evicted").stream(),
                workload.status().condition("Requeued").stream())
            .map(Condition::lastTransitionTime)
            .filter(queuedAt::isBefore)
            .max(Comparator.naturalOrder())
            .orElse(queuedAt);
    List<Instant> preemptedAt =
        rules.preemption().apply(workload).isEmpty() ? List.of() : preemptedAt(slices(workload));
    return history(queuedAt, since, preemptedAt, Optional.empty());
  }

  private PreemptionProtection protection(CachedWorkload workload) {
    Optional<Instant> checkpointedAt =
        CheckpointAnnotations.checkpointedAt(workload.annotations())
            .filter(reservedAt(workload)::isBefore);
    if (rules.preemption().apply(workload).isEmpty()) {
      return checkpointedAt.isEmpty()
          ? PreemptionProtection.NONE
          : new PreemptionProtection(
              PreemptionRules.NONE,
              new PreemptionHistory(Optional.empty(), List.of(), checkpointedAt));
    }
    PreemptionRules ofClass = ofClass(workload);
    List<CachedWorkload> slices = slices(workload);
    PreemptionHistory history =
        history(reservedAt(workload), runsSince(slices), preemptedAt(slices), checkpointedAt);
    return ofClass == PreemptionRules.NONE && history == PreemptionHistory.NONE
        ? PreemptionProtection.NONE
        : new PreemptionProtection(ofClass, history);
  }

  private static PreemptionHistory history(
      Instant usual, Instant since, List<Instant> preemptedAt, Optional<Instant> checkpointedAt) {
    return since.equals(usual) && preemptedAt.isEmpty() && checkpointedAt.isEmpty()
        ? PreemptionHistory.NONE
        : new PreemptionHistory(
            since.equals(usual) ? Optional.empty() : Optional.of(since),
            preemptedAt,
            checkpointedAt);
  }

  /** A Workload and the slices of its own job that it replaced, as far as they are known. */
  private List<CachedWorkload> slices(CachedWorkload workload) {
    List<CachedWorkload> slices = new ArrayList<>(List.of(workload));
    while (slices.size() < MOST_SLICES && slice(slices.getLast()).isPresent()) {
      Optional<CachedWorkload> replaced = rules.replaced().apply(slices.getLast());
      if (replaced.isEmpty()
          || slices.stream().anyMatch(slice -> slice.id().equals(replaced.get().id()))
          || workload.owner().isEmpty()
          || !replaced.get().elastic()
          || !replaced.get().owner().equals(workload.owner())) {
        break;
      }
      slices.add(replaced.get());
    }
    return slices;
  }

  /** All times at which slices were preempted, the earliest first. */
  private static List<Instant> preemptedAt(List<CachedWorkload> slices) {
    return slices.size() == 1
        ? Preemptions.times(slices.getFirst())
        : slices.stream().flatMap(slice -> Preemptions.times(slice).stream()).sorted().toList();
  }

  /**
   * When the run of the first of these slices began: with the first slice that handed its pods over
   * to the next, which then had quota already.
   */
  private Instant runsSince(List<CachedWorkload> slices) {
    Instant since = runsSince(slices.getFirst());
    for (int i = 1; i < slices.size(); i++) {
      Instant handedOver =
          slices
              .get(i)
              .status()
              .condition("Finished")
              .map(Condition::lastTransitionTime)
              .orElse(Instant.MAX);
      if (!slices.get(i).quotaReserved()
          || slices.get(i).status().isTrue("Evicted")
          || handedOver.isBefore(reservedAt(slices.get(i - 1)))) {
        break;
      }
      Instant earlier = runsSince(slices.get(i));
      since = earlier.isBefore(since) ? earlier : since;
    }
    return since;
  }

  /**
   * The run begins with the pods that are ready for the first time: a job whose pods fail and
   * recover gains no new time. Until they are ready, it begins when they have to be at the latest
   * as configured, so that nobody is protected for ever by not getting ready.
   */
  private Instant runsSince(CachedWorkload workload) {
    Instant reservedAt = reservedAt(workload);
    Optional<Condition> ready = workload.status().condition(PodsReady.TYPE);
    // what the job says of its own time-out doesn't protect it for longer
    Duration toStart =
        ready
            .filter(PodsReady::isStarting)
            .flatMap(any -> options.waitForPodsReady())
            .map(WaitForPodsReady::timeout)
            .orElse(Duration.ZERO);
    return ready
        .filter(PodsReady::isStarted)
        .map(Condition::lastTransitionTime)
        .or(
            () ->
                workload
                    .status()
                    .trueCondition("Admitted")
                    .map(admitted -> admitted.lastTransitionTime().plus(toStart)))
        .filter(reservedAt::isBefore)
        .orElse(reservedAt);
  }

  private static Instant reservedAt(CachedWorkload workload) {
    return workload
        .status()
        .trueCondition("QuotaReserved")
        .map(Condition::lastTransitionTime)
        .orElse(workload.createdAt());
  }

  private static boolean isFalse(CachedWorkload workload, String condition) {
    return workload
        .status()
        .condition(condition)
        .filter(found -> found.status().equals("False"))
        .isPresent();
  }

  /** The effective priority (docs/scheduling-semantics.md#what-is-pending). */
  private long priority(CachedWorkload workload) {
    return workload.spec().priority() + (options.priorityBoost() ? boost(first(workload)) : 0L);
  }

  /** What a queue added for age counts there alone, and in no other queue that it moves to. */
  private long boost(CachedWorkload workload) {
    String text = workload.annotations().getOrDefault(KueueConstants.PRIORITY_BOOST, "0");
    try {
      int boost = Integer.parseInt(text);
      return text.equals(workload.annotations().get(KueueConstants.AGED_BY))
          ? Math.min(
              boost, rules.starts().apply(workload).aging().map(PriorityAging::limit).orElse(0))
          : boost;
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** The queue timestamp (docs/scheduling-semantics.md#queue-order). */
  private Instant queuedAt(CachedWorkload workload) {
    Optional<Condition> evicted = workload.status().trueCondition("Evicted");
    String reason = evicted.map(Condition::reason).orElse("");
    if (reason.equals("AdmissionCheck")
        || (reason.equals("PodsReadyTimeout")
            && options.queueByEviction()
            && rules.starts().apply(workload).timeout().isEmpty())) {
      return evicted.map(Condition::lastTransitionTime).orElse(workload.createdAt());
    }
    if (!options.on(FeatureGate.PRIORITY_SORTING_WITHIN_COHORT)) {
      return workload
          .status()
          .trueCondition("Preempted")
          .filter(preempted -> preempted.reason().equals("InCohortReclaimWhileBorrowing"))
          .map(preempted -> preempted.lastTransitionTime().plus(Duration.ofMillis(1)))
          .orElse(workload.createdAt());
    }
    return workload.createdAt();
  }

  private ResolvedShape resolve(CachedWorkload workload) {
    List<PodSet> podSets = workload.spec().podSets();
    NamespaceLimits ofNamespace = context.rules(workload.id().namespace());
    ShapeKey shapeKey =
        new ShapeKey(
            podSets,
            reclaimablePods(workload),
            ofNamespace,
            overheads(podSets),
            podSets.stream().map(podSet -> devices(workload.id().namespace(), podSet)).toList(),
            excluded(workload),
            PreemptibleLabels.isGuaranteed(workload.labels()),
            ofClass(workload));
    ResolvedShape known = resolvedShapes.getIfPresent(shapeKey);
    if (known != null) {
      return known;
    }
    Optional<String> defect =
        ResourceValidation.of(podSets, ofNamespace, shapeKey.devices(), context);
    ResolvedShape resolvedShape = new ResolvedShape(shapes.of(shape(shapeKey)), defect);
    resolvedShapes.put(shapeKey, resolvedShape);
    return resolvedShape;
  }

  /** Of how many Workloads the resolved requests are remembered, at the most. */
  long remembered() {
    return resolvedShapes.size();
  }

  /** The values that flavors must not have, by key of a requirement. */
  private Map<String, Set<String>> excluded(CachedWorkload workload) {
    Set<String> clusters = avoided.apply(workload);
    Set<String> refused = RefusedFlavors.of(workload.annotations()).names();
    Set<String> others = rules.families().excluded(workload);
    return clusters.isEmpty() && refused.isEmpty() && others.isEmpty()
        ? Map.of()
        : Map.of(
            LocalClusterAnnotations.FLAVOR,
            clusters,
            NodeConstraints.FLAVOR,
            refused,
            NodeConstraints.VARIANT,
            others);
  }

  private List<Map<String, Long>> overheads(List<PodSet> podSets) {
    List<Map<String, Long>> result = new ArrayList<>(0);
    for (PodSet podSet : podSets) {
      String runtimeClass = podSet.template().runtimeClassName();
      if (!runtimeClass.isEmpty()) {
        result.add(context.overhead(runtimeClass));
      }
    }
    return result;
  }

  private RequestShape shape(ShapeKey shapeKey) {
    List<PodSetRequest> requests = new ArrayList<>(shapeKey.podSets().size());
    for (int i = 0; i < shapeKey.podSets().size(); i++) {
      PodSet podSet = shapeKey.podSets().get(i);
      DeviceCharge devices = shapeKey.devices().get(i);
      int count = remaining(podSet, shapeKey.reclaimable());
      SortedMap<String, Long> requested =
          PodRequests.of(podSet.template(), shapeKey.rules(), context).perPod();
      SortedMap<String, Long> onNode = new TreeMap<>(requested);
      onNode.keySet().removeAll(devices.replaced().keySet());
      onNode.replaceAll((resource, amount) -> Math.max(0, amount));
      requests.add(
          new PodSetRequest(
              podSet.name(),
              count,
              spare(podSet, count),
              devices.counted(requested, transformer::of),
              outside(shapeKey.excluded(), podSet.template().nodeConstraints()),
              podSet.group(),
              options.on(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)
                  ? podSet.topology()
                  : TopologyRequest.NONE,
              onNode));
    }
    return new RequestShape(requests, shapeKey.guaranteed()).withPreemption(shapeKey.preemption());
  }

  private int spare(PodSet podSet, int count) {
    return options.on(FeatureGate.PARTIAL_ADMISSION)
        ? count - Math.clamp(podSet.minCount().orElse(count), 0, count)
        : 0;
  }

  private static NodeConstraints outside(
      Map<String, Set<String>> excluded, NodeConstraints nodeConstraints) {
    NodeConstraints result = nodeConstraints;
    for (String key :
        List.of(LocalClusterAnnotations.FLAVOR, NodeConstraints.FLAVOR, NodeConstraints.VARIANT)) {
      result = outside(key, excluded.getOrDefault(key, Set.of()), result);
    }
    return result;
  }

  /**
   * Node constraints that exclude some values of a key, such as the flavors of some clusters. A
   * term that requires nothing matches no node; with the requirement it still has to, though it
   * requires something now.
   */
  private static NodeConstraints outside(
      String key, Set<String> values, NodeConstraints nodeConstraints) {
    if (values.isEmpty()) {
      return nodeConstraints;
    }
    LabelRequirement outside =
        new LabelRequirement(
            key, LabelRequirement.Operator.NOT_IN, values.stream().sorted().toList());
    List<List<LabelRequirement>> terms = new ArrayList<>();
    List<List<LabelRequirement>> fields = new ArrayList<>();
    for (int i = 0; i < nodeConstraints.affinityTerms().size(); i++) {
      List<LabelRequirement> term = nodeConstraints.affinityTerms().get(i);
      List<LabelRequirement> own = nodeConstraints.fieldsOf(i);
      terms.add(Stream.concat(term.stream(), Stream.of(outside)).toList());
      fields.add(term.isEmpty() && own.isEmpty() ? List.of(NO_NODE) : own);
    }
    if (terms.isEmpty()) {
      terms.add(List.of(outside));
      fields.add(List.of());
    }
    return new NodeConstraints(
        nodeConstraints.nodeSelector(),
        terms,
        fields,
        nodeConstraints.tolerations(),
        nodeConstraints.preferred());
  }

  private Map<String, Integer> reclaimablePods(CachedWorkload workload) {
    return options.on(FeatureGate.RECLAIMABLE_PODS)
        ? workload.status().reclaimablePods()
        : Map.of();
  }

  private static int remaining(PodSet podSet, Map<String, Integer> reclaimable) {
    return Math.max(0, podSet.count() - reclaimable.getOrDefault(podSet.name(), 0));
  }

  /** The total request of a Workload, by pod set and resource, in amounts. */
  public Map<String, SortedMap<String, Long>> totals(CachedWorkload workload) {
    Map<String, SortedMap<String, Long>> result = new LinkedHashMap<>();
    for (PodSetRequest request : resolve(workload).shape().podSets()) {
      SortedMap<String, Long> total = new TreeMap<>();
      request
          .perPod()
          .forEach(
              (resource, amount) ->
                  total.put(resource, ResourceAmounts.multiply(amount, request.count())));
      result.put(request.name(), total);
    }
    return result;
  }

  private List<PodSetAssignment> podSets(CachedWorkload workload, Admission admission) {
    List<PodSetAssignment> podSets = new ArrayList<>(admission.podSetAssignments().size());
    for (Assignment assignment : admission.podSetAssignments()) {
      podSets.add(assignment(workload, assignment));
    }
    return podSets;
  }

  private ReservingWorkload reserving(CachedWorkload workload, Admission admission) {
    return new ReservingWorkload(
        workload.id(),
        workload.version(),
        workload.spec().queueName(),
        admission.clusterQueue(),
        podSets(workload, admission),
        priority(workload),
        queuedAt(workload),
        workload.status().isTrue("Evicted"),
        workload.admitted(),
        !(options.blocksAdmission() || rules.starts().apply(workload).blocksUntilReady())
            || workload.status().isTrue("PodsReady")
            || !attended.test(workload),
        reservedAt(workload),
        attended.test(workload),
        PreemptibleLabels.isGuaranteed(workload.labels()),
        slice(workload),
        options.on(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)
            ? SecondPasses.of(
                workload,
                () -> spread(resolve(workload).shape(), workload).podSets(),
                options.on(FeatureGate.SKIP_REASSIGNMENT_FOR_POD_OWNED_WORKLOADS))
            : Optional.empty(),
        protection(workload));
  }

  /** What makes a Workload a slice of an elastic job (docs/elastic-jobs.md#slices). */
  private Optional<JobSlice> slice(CachedWorkload workload) {
    Optional<JobSlice> nomination = rules.families().nomination(workload);
    if (nomination.isPresent()) {
      return nomination;
    }
    if (!options.on(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES) || !workload.elastic()) {
      return Optional.empty();
    }
    return Optional.of(
        new JobSlice(
            workload.owner().map(CachedWorkload.Owner::uid).orElse(""),
            workload.id().name(),
            workload.replacedSlice(),
            options.on(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES_FLAVOR_CHANGE_FROM_ZERO)));
  }

  /** The assigned usage without the pods that are reclaimable. */
  private PodSetAssignment assignment(CachedWorkload workload, Assignment assignment) {
    int needed = assignment.count();
    for (PodSet podSet : workload.spec().podSets()) {
      if (podSet.name().equals(assignment.name())) {
        needed = Math.min(needed, remaining(podSet, reclaimablePods(workload)));
      }
    }
    SortedMap<String, Long> usage = new TreeMap<>();
    for (Map.Entry<String, String> used : assignment.resourceUsage().entrySet()) {
      long whole = amount(used.getKey(), used.getValue());
      usage.put(
          used.getKey(), needed < assignment.count() ? whole / assignment.count() * needed : whole);
    }
    return new PodSetAssignment(
        assignment.name(),
        new TreeMap<>(assignment.flavors()),
        usage,
        needed,
        topology(workload, assignment));
  }

  private PodSetTopology topology(CachedWorkload workload, Assignment assignment) {
    Delay delay = DelayedTopology.of(assignment.delayedTopology());
    if (!options.on(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)
        || (assignment.topology().isEmpty() && delay == Delay.NONE)) {
      return PodSetTopology.NONE;
    }
    SortedMap<String, Long> perPod =
        resolve(workload).shape().podSets().stream()
            .filter(request -> request.name().equals(assignment.name()))
            .findFirst()
            .map(PodSetRequest::nodeRequests)
            .orElseGet(TreeMap::new);
    return new PodSetTopology(
        delay,
        assignment.topology(),
        perPod,
        workload.spec().podSets().stream()
            .filter(podSet -> spreads() && podSet.name().equals(assignment.name()))
            .findFirst()
            .map(podSet -> member(workload, podSet)));
  }

  private boolean spreads() {
    return options.on(FeatureGate.TAS_TOPOLOGY_SPREADING)
        && options.on(FeatureGate.TOPOLOGY_AWARE_SCHEDULING);
  }

  /** The same request of pods that are spread, and counted where others are. */
  private RequestShape spread(RequestShape shape, CachedWorkload workload) {
    if (!spreads()) {
      return shape;
    }
    List<PodSetRequest> spread = new ArrayList<>(shape.podSets().size());
    for (int i = 0; i < shape.podSets().size(); i++) {
      PodSetRequest request = shape.podSets().get(i);
      spread.add(
          request.with(
              request.topology().spread(spreading(workload, workload.spec().podSets().get(i)))));
    }
    return shapes.of(shape.withPodSets(spread));
  }

  private Spreading spreading(CachedWorkload workload, PodSet podSet) {
    Member member = member(workload, podSet);
    String job = workload.labels().getOrDefault(KueueConstants.JOB_UID, "");
    return Optional.of(podSet.topologySpreading())
        .filter(text -> !text.isEmpty())
        .flatMap(TopologySpreading::of)
        .map(
            asked ->
                new Spreading(
                    member,
                    asked
                        .selector()
                        .or(
                            () ->
                                job.isEmpty()
                                    ? Optional.empty()
                                    : Optional.of(
                                        new TopologySpreading.WorkloadSelector(
                                            KueueConstants.JOB_UID, List.of(job))))
                        .map(
                            labels ->
                                new LabelRequirement(
                                    labels.key(), LabelRequirement.Operator.IN, labels.values())),
                    asked.rules().stream()
                        .map(
                            rule ->
                                new Spreading.ShareRule(
                                    rule.topologyKey(), rule.maxShare(), rule.required()))
                        .toList()))
        .orElseGet(() -> Spreading.counted(member));
  }

  private Member member(CachedWorkload workload, PodSet podSet) {
    return new Member(
        workload.id().namespace(),
        slice(workload)
            .map(JobSlice::job)
            .filter(job -> !job.isEmpty())
            .orElse(workload.id().uid()),
        podSet.group().isEmpty() ? podSet.name() : podSet.group(),
        new TreeMap<>(workload.labels()));
  }

  /** Treats an invalid quantity as zero; the API server rejects such quantities. */
  private static long amount(String resource, @Nullable String quantity) {
    try {
      return quantity == null ? 0 : Quantities.amount(resource, quantity);
    } catch (IllegalArgumentException e) {
      return 0;
    }
  }
}
