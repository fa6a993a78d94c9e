package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.FlavorProgress;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The owner of what decides which queued Workload is evaluated next: the queues that are active,
 * the Workloads that block their queues or hold claims on quota, the inadmissible classes, and the
 * Workloads that pause. It is told what changes ({@link #released}, {@link #changed}, {@link
 * #activate}) and what a cycle found ({@link #await}), and gives each cycle its {@link #heads}.
 * Confined to the scheduler thread.
 */
public final class WaitingWorkloads {

  /** Why a head waits that was skipped. */
  public static final Explanation QUOTA_RESERVED_BY_OTHERS =
      new Explanation(
          PendingReason.WAITING_FOR_QUOTA,
          List.of(),
          "workloads that come before it need the quota");

  /** What a cycle depends on besides waiting Workloads. */
  public interface CycleContext {

    /** Whether a Workload can't get quota, however much is free. */
    boolean isIneligible(QueueHead head);

    /**
     * Tells which Workloads can't start although quota was released; empty if nobody holds any
     * back.
     *
     * @param roots the roots of the trees of which that is asked
     */
    Optional<HeldBack> heldBack(Collection<QuotaNode> roots);

    /**
     * How long a Workload runs at most, in microseconds; {@link Long#MAX_VALUE} without a limit.
     */
    long longest(QueuedWorkload workload);

    /**
     * Whether it makes no difference in the tree with this root whether Workloads wait in line or
     * are held, as long as they aren't the first of their queue.
     */
    boolean mayReturnLater(QuotaNode rootNode);

    /** Returns a held Workload to its class, unless something else holds it, too. */
    void reconsider(QueueHead queueHead);

    /** Whether heads of the tree with this root may be skipped without an outcome. */
    boolean maySkip(QuotaNode root);

    /** The roots of the trees with queues whose Workloads are assigned to nodes. */
    Set<QuotaNode> topologyTrees();

    /** Those among them from which Workloads of other trees may be preempted. */
    Set<QuotaNode> reachingTrees();

    /** The queue of this name; null if it was deleted. */
    @Nullable ClusterQueueCache queue(String name);
  }

  private final GatedWorkloads gatedWorkloads;
  private final ActiveQueues activeQueues;
  private final InadmissibleIndex inadmissibleIndex;
  private final AttemptPauses attemptPauses = new AttemptPauses();
  private final PreemptionTimers preemptionTimers = new PreemptionTimers();
  private final CheaperWaits cheaperWaits = new CheaperWaits();
  private final RepeatedPreemptions repeatedPreemptions;
  private final PodsReadyGate podsReadyGate;
  private final CycleContext context;
  private Instant now = Instant.EPOCH;
  private long cycle;

  /**
   * No waiting Workloads so far.
   *
   * @param upperBounds bounds what preemption can free in the tree with a root
   * @param forecastOrder the order of the policy where it can be forecast
   * @param blockAdmission whether no Workload is admitted until the pods of all admitted Workloads
   *     are ready
   * @param repeatLimit how often a Workload may preempt the same one
   * @param context what a cycle depends on
   */
  public WaitingWorkloads(
      Function<QuotaNode, PreemptionUpperBound> upperBounds,
      Optional<AdmissionForecast.Order> forecastOrder,
      boolean blockAdmission,
      PreemptionLimit repeatLimit,
      CycleContext context) {
    this.repeatedPreemptions = new RepeatedPreemptions(repeatLimit);
    this.context = context;
    this.inadmissibleIndex =
        new InadmissibleIndex(
            upperBounds, forecastOrder.map(this::afterRepeatedPreemptors), !blockAdmission);
    this.gatedWorkloads =
        new GatedWorkloads(context, this::activateReturned, inadmissibleIndex::lacksStill);
    this.activeQueues = new ActiveQueues(gatedWorkloads::comesFirst);
    this.podsReadyGate = new PodsReadyGate(blockAdmission);
  }

  /**
   * The state as a value; to be called between cycles.
   *
   * @param rebuildDue whether {@link #treesRebuilt} is called before the next cycle: then nothing
   *     is told that this drops
   */
  public WaitingExport export(ExportedNames names, boolean rebuildDue) {
    return new WaitingExport(
        cycle,
        rebuildDue ? activeQueues.export(names).withoutTrees() : activeQueues.export(names),
        rebuildDue ? WaitingExport.InadmissibleExport.NONE : inadmissibleIndex.export(names),
        rebuildDue ? WaitingExport.GatedWorkloadsExport.NONE : gatedWorkloads.export(names),
        attemptPauses.export(),
        podsReadyGate.export(names),
        repeatedPreemptions.export());
  }

  /**
   * Takes a state over, into an object that was told the time and whose pods are not ready, and
   * nothing else.
   */
  public void restore(WaitingExport exported, Instant instant, ExportedNames names) {
    now = instant;
    cycle = exported.cycle();
    activeQueues.restore(exported.activeQueues(), cycle, names);
    inadmissibleIndex.restore(exported.inadmissible(), names);
    gatedWorkloads.restore(exported.gatedWorkloads(), names);
    attemptPauses.restore(exported.attempts(), names);
    repeatedPreemptions.restore(exported.preemptions());
    exported.gate().ifPresent(rejected -> podsReadyGate.restore(rejected, names));
  }

  /** Takes over who waits for a cheaper flavor in a queue. */
  public void restoreWaits(ClusterQueueCache queue) {
    queue
        .pending()
        .inadmissibleClasses()
        .forEach(equivalenceClass -> cheaperWaits.inadmissible(queue, equivalenceClass, cycle));
  }

  // What changes.

  /** Activates a queue whose head may have changed, unless that head blocks the queue. */
  public void activate(ClusterQueueCache queue) {
    boolean leavesPlaces =
        queue.topologyAware() && queue.pending().head() == null && activeQueues.holdsClaim(queue);
    activeQueues.add(queue);
    if (leavesPlaces) {
      // Nodes are there for all trees, and no head of this one takes part in a cycle.
      context.topologyTrees().forEach(activeQueues::activate);
    }
  }

  private void activateReturned(ClusterQueueCache queue) {
    activeQueues.add(queue);
  }

  /** Activates a queue, whether its head blocks it or not: the head may try all flavors again. */
  public void unblock(ClusterQueueCache queue) {
    QueuedWorkload head = blockingHead(queue.name());
    if (head != null
        && head.flavorProgress() instanceof FlavorProgress progress
        && progress.isWithoutSuccess()) {
      head.flavorProgress(null);
    }
    activeQueues.unblock(queue);
  }

  /** Activates the Workloads that hold a claim in the tree with this root. */
  public void activateClaims(QuotaNode root) {
    activeQueues.activate(root);
  }

  /** Activates the claims of each tree in which this holds for any of them. */
  public void activateClaims(Predicate<QueueHead> changed) {
    activeQueues.activate(changed);
  }

  /** Forgets a queue that is deleted. */
  public void remove(ClusterQueueCache queue) {
    activeQueues.remove(queue);
  }

  /** Forgets a Workload that leaves its queue; to be called before it does. */
  public void forget(QueuedWorkload item) {
    attemptPauses.forget(item);
    gatedWorkloads.notReturned(item);
    gatedWorkloads.leavesClass(item);
  }

  /**
   * Sets when a Workload becomes a preemption target, or may preempt: its tree is looked at then.
   *
   * @param atMicros the time, in microseconds since the epoch; {@link Long#MIN_VALUE} if it need
   *     not wait for any
   * @param exemptMicros the same where the preemptor is exempt from {@code minRunTime}
   */
  public void preemptionChangesAt(
      WorkloadId id, String clusterQueue, long atMicros, long exemptMicros) {
    preemptionTimers.set(id.uid(), false, clusterQueue, atMicros, now);
    preemptionTimers.set(id.uid(), true, clusterQueue, exemptMicros, now);
  }

  /** Roots of the trees in which a rule of preemption protects or delays a Workload now. */
  public Set<QuotaNode> preemptionWaits() {
    Set<QuotaNode> roots = new HashSet<>();
    for (String name : preemptionTimers.clusterQueues()) {
      ClusterQueueCache queue = context.queue(name);
      if (queue != null) {
        roots.add(queue.node().root());
      }
    }
    return roots;
  }

  private AdmissionForecast.Order afterRepeatedPreemptors(AdmissionForecast.Order order) {
    return (one, oneLevel, two, twoLevel) -> {
      int byRepeats =
          Boolean.compare(
              repeatedPreemptions.comesFirst(two.id().uid()),
              repeatedPreemptions.comesFirst(one.id().uid()));
      return byRepeats != 0 ? byRepeats : order.compare(one, oneLevel, two, twoLevel);
    };
  }

  /** Who preempted whom lately. */
  public RepeatedPreemptions repeatedPreemptions() {
    return repeatedPreemptions;
  }

  /** Records that a Workload of a queue preempts another one. */
  public void preempts(WorkloadId preemptorId, WorkloadId targetId, ClusterQueueCache queue) {
    repeatedPreemptions.add(preemptorId.uid(), targetId.uid(), queue.name(), now);
  }

  /**
   * Records that the eviction of a Workload could not be written.
   *
   * @return UID and queue of the Workload that it was for; empty if that isn't known
   */
  public Optional<WaitingExport.PreemptionExport> evictionRefused(WorkloadId id) {
    return repeatedPreemptions.refused(id.uid());
  }

  /** Records that a Workload has quota: what it preempted before was not in vain. */
  public void hasQuota(WorkloadId id) {
    repeatedPreemptions.hasQuota(id.uid());
  }

  /**
   * Records that a Workload is gone, or asks for something else, in another queue or with another
   * priority: it doesn't profit from whom it preempted before.
   */
  public void begunAnew(WorkloadId id) {
    repeatedPreemptions.forget(id.uid());
  }

  private void endProtections() {
    Set<String> names = new LinkedHashSet<>(preemptionTimers.due(now));
    names.addAll(repeatedPreemptions.expire(now));
    for (String name : names) {
      ClusterQueueCache queue = context.queue(name);
      if (queue != null) {
        queue.node().reservationsChanged();
        released(queue.node());
      }
    }
  }

  /**
   * Sets the time, and returns Workloads to their queues whose pauses have ended. Where the time of
   * a rule of preemption is over, the tree is looked at.
   */
  public void timePassed(Instant instant) {
    now = instant;
    attemptPauses.end(
        instant,
        name -> {
          ClusterQueueCache queue = context.queue(name);
          if (queue != null) {
            activeQueues.add(queue);
          }
        });
    endProtections();
    requeue(cheaperWaits.due(now, context::queue));
  }

  /**
   * The first time after now at which the passing of time alone returns Workloads to their queues;
   * {@link Instant#MAX} if there is none.
   *
   * @param pauses whether pauses after attempts in vain count
   */
  public Instant nextTimer(boolean pauses) {
    Instant next = cheaperWaits.next(now, context::queue);
    for (Instant each :
        List.of(pauses ? attemptPauses.next() : Instant.MAX, preemptionTimers.next())) {
      next = each.isBefore(next) ? each : next;
    }
    return next;
  }

  /**
   * Records that a run in the tree of a node is expected to end at another time: who waits for a
   * cheaper flavor, or holds a claim on a dearer one, may choose another flavor.
   */
  public void runEndChanged(QuotaNode node) {
    requeue(cheaperWaits.in(node.root(), context::queue));
    if (activeQueues.claimsIn(node.root()).stream()
        .anyMatch(head -> head.queue().spec().rules().cheapest().isPresent())) {
      activeQueues.activate(node);
    }
  }

  private void requeue(List<InadmissibleIndex.InadmissibleQueue> classes) {
    for (InadmissibleIndex.InadmissibleQueue each : classes) {
      inadmissibleIndex.remove(each);
      each.queue().pending().requeue(each.equivalenceClass());
      activeQueues.add(each.queue());
    }
  }

  private boolean quotaChangedSince(ClusterQueueCache queue, long number) {
    return activeQueues.changedSince(queue.node(), number);
  }

  /** Ends the pauses of a queue whose strategy changes. */
  public void strategyChanged(PendingQueue queue) {
    attemptPauses.endAll(queue);
  }

  /** Records that a Workload lost its quota in a queue. */
  public void released(ClusterQueueCache queue) {
    activeQueues.released(queue.node());
    released(queue.node());
    if (queue.queueing().releaseEndsPauses() && attemptPauses.endAll(queue.pending())) {
      activeQueues.add(queue);
    }
  }

  /** Records that quota or places became free in a tree, or more Workloads can be preempted. */
  public void released(QuotaNode node) {
    releasedIn(node);
    context.reachingTrees().forEach(this::releasedIn);
  }

  private void releasedIn(QuotaNode node) {
    inadmissibleIndex.released(node);
    gatedWorkloads.released(node.root());
    activeQueues.markChanged(node);
  }

  /** Records that reservations in a tree changed, without a release. */
  public void changed(QuotaNode node) {
    activeQueues.markChanged(node);
    context.reachingTrees().forEach(activeQueues::markChanged);
  }

  /** Records that an event may change more than Workloads, their reservations and the time. */
  public void eligibilityMayChange() {
    activeQueues.activateSkipped();
  }

  /**
   * Records that all held Workloads are about to be looked at: those that could start before others
   * return first.
   */
  public void reconsidersAll() {
    gatedWorkloads.returnAll();
  }

  /** Records that the trees are rebuilt: their roots, shapes and quotas may be others. */
  public void treesRebuilt() {
    inadmissibleIndex.clear();
    gatedWorkloads.clear();
    activeQueues.markAllChanged();
  }

  /** Records whether pods of an admitted Workload are not ready. */
  public void setAwaitsPods(WorkloadId admitted, boolean awaitsPods) {
    podsReadyGate.setAwaitsPods(admitted, awaitsPods);
  }

  // Cycles.

  /** The heads of the next cycle; none while pods have to become ready first. */
  public CycleHeads heads() {
    if (podsReadyGate.isClosed()) {
      return CycleHeads.none();
    }
    gatedWorkloads.look();
    requeue(cheaperWaits.changed(context::queue, this::quotaChangedSince));
    InadmissibleIndex.Candidates candidates = candidates();
    Map<ClusterQueueCache, QueuedWorkload> evaluated = heads(candidates);
    evaluated.forEach(this::evaluates);
    candidates.plain().forEach(head -> evaluates(head.queue(), head.item()));
    return new CycleHeads(
        evaluated, candidates.plain(), candidates.inVain(), podsReadyGate.admissions());
  }

  private void evaluates(ClusterQueueCache queue, QueuedWorkload head) {
    gatedWorkloads.notReturned(head);
    queue.pending().evaluates(head, cycle);
  }

  /**
   * The Workload that is the head of a queue once some have left it, within a cycle; empty if there
   * is none, or if it can't be told.
   */
  public Optional<QueuedWorkload> successor(ClusterQueueCache queue, Set<QueuedWorkload> leaving) {
    if (queue.pending().isOrderedByUsage()) {
      // What those that leave add to the use of their LocalQueues is known after the cycle.
      return Optional.empty();
    }
    return Optional.ofNullable(
        queue
            .pending()
            .headWithout(
                leaving,
                queue.queueing().headBlocks() ? List.of() : inadmissibleIndex.helped(queue)));
  }

  /** Begins the next cycle; returns its number. */
  public long beginCycle() {
    activeQueues.beginCycle(++cycle);
    return cycle;
  }

  /** Ends the cycle, before its outcomes are applied: heads that it skipped hold a claim now. */
  public void endCycle(CycleHeads heads) {
    activeQueues.endCycle(heads);
  }

  /** Whether the next cycle has nothing to evaluate, as far as is known without running it. */
  public boolean isIdle() {
    return podsReadyGate.isClosed()
        || (activeQueues.isEmpty()
            && !inadmissibleIndex.hasReleases()
            && !gatedWorkloads.hasReleases()
            && !cheaperWaits.anyChanged(context::queue, this::quotaChangedSince));
  }

  /** The inadmissible Workloads that the next cycle evaluates. */
  private InadmissibleIndex.Candidates candidates() {
    Set<QuotaNode> skippedTrees = activeQueues.beginSkipped();
    return inadmissibleIndex.hasReleases() || !skippedTrees.isEmpty()
        ? inadmissibleIndex.candidates(
            new InadmissibleIndex.Surrounding(
                activeQueues.headsByTree(),
                context::isIneligible,
                context::maySkip,
                skippedTrees,
                activeQueues::joinClaims))
        : InadmissibleIndex.Candidates.NONE;
  }

  /**
   * The heads of the active queues, and inadmissible Workloads that fit after a release of quota.
   */
  private Map<ClusterQueueCache, QueuedWorkload> heads(InadmissibleIndex.Candidates candidates) {
    for (InadmissibleIndex.InadmissibleQueue candidate : candidates.classes()) {
      if (candidate.queue().queueing().headBlocks()) {
        inadmissibleIndex.remove(candidate);
        if (activeQueues.isBlockedBy(candidate.queue().name(), candidate.equivalenceClass())) {
          activeQueues.unblock(candidate.queue());
        }
      }
    }
    Map<ClusterQueueCache, QueuedWorkload> heads = new LinkedHashMap<>();
    Map<ClusterQueueCache, QueuedWorkload> behindOthers = new LinkedHashMap<>();
    Set<ClusterQueueCache> others = new HashSet<>(candidates.inVain());
    candidates.plain().forEach(head -> others.add(head.queue()));
    for (ClusterQueueCache queue : activeQueues.drain()) {
      QueuedWorkload head = queue.active() ? queue.pending().head() : null;
      if (head != null && !others.contains(queue)) {
        restartFlavorSearch(queue, head);
        (candidates.leftOut().contains(queue) ? behindOthers : heads).put(queue, head);
      }
    }
    if (heads.isEmpty() && candidates.classes().isEmpty() && others.isEmpty()) {
      heads.putAll(behindOthers);
    } else {
      behindOthers.keySet().forEach(activeQueues::add);
    }
    for (InadmissibleIndex.InadmissibleQueue candidate : candidates.classes()) {
      if (!candidate.queue().queueing().headBlocks()) {
        heads.put(candidate.queue(), candidate.equivalenceClass().head());
        // Workloads behind the candidate are evaluated in a later cycle.
        activeQueues.unblock(candidate.queue());
      }
    }
    addClaimsOnPlaces(heads);
    return heads;
  }

  /**
   * Adds the heads of all trees that hold a claim, if a head of any tree may take places: nodes are
   * there for all trees.
   */
  private void addClaimsOnPlaces(Map<ClusterQueueCache, QueuedWorkload> heads) {
    if (heads.keySet().stream().noneMatch(ClusterQueueCache::topologyAware)) {
      return;
    }
    for (QuotaNode root : context.topologyTrees()) {
      for (ClusterQueueCache queue : activeQueues.takeClaims(root)) {
        QueuedWorkload head = queue.active() ? queue.pending().head() : null;
        if (head != null && !heads.containsKey(queue)) {
          restartFlavorSearch(queue, head);
          heads.put(queue, head);
        }
      }
    }
  }

  /**
   * Clears the search progress of a head that tried all flavors without success, if reservations in
   * its tree have changed since.
   */
  private void restartFlavorSearch(ClusterQueueCache queue, QueuedWorkload head) {
    FlavorProgress progress = head.flavorProgress();
    if (progress != null
        && progress.isWithoutSuccess()
        && activeQueues.changedSince(queue.node(), progress.cycle())) {
      head.flavorProgress(null);
    }
  }

  // What a cycle found.

  /** Makes a Workload wait that the cycle evaluated and didn't admit. */
  public void await(ClusterQueueCache queue, QueuedWorkload item, Waiting waiting) {
    switch (waiting) {
      case Waiting.Blocking _ -> activeQueues.block(queue, item, waiting);
      case Waiting.Claiming _ -> activeQueues.holdClaim(queue, item, waiting);
      case Waiting.AtLimit _ -> activeQueues.blockByLimit(queue, item, waiting);
      case Waiting.Ineligible _ -> hold(queue, item, waiting.explanation());
      case Waiting.Gated _ -> {
        hold(queue, item, waiting.explanation());
        gatedWorkloads.add(queue, item);
      }
      case Waiting.Pausing _ -> {
        hold(queue, item, AttemptPauses.explanation(waiting.explanation(), queue.queueing()));
        attemptPauses.pause(item, queue, now);
      }
      case Waiting.Inadmissible inadmissible -> markInadmissible(queue, item, inadmissible);
      case Waiting.ForPodsReady _ -> {
        podsReadyGate.close(item, waiting.explanation());
        activeQueues.add(queue);
      }
    }
  }

  private void hold(ClusterQueueCache queue, QueuedWorkload item, Explanation explanation) {
    gatedWorkloads.leavesClass(item);
    queue.pending().hold(item, explanation);
    activeQueues.add(queue);
  }

  private void markInadmissible(
      ClusterQueueCache queue, QueuedWorkload item, Waiting.Inadmissible waiting) {
    if (queue.queueing().headBlocks()) {
      activeQueues.block(queue, item, waiting);
    } else {
      queue
          .pending()
          .markInadmissible(item.equivalenceClass(), waiting.explanation(), waiting.shortages());
      cheaperWaits.inadmissible(queue, item.equivalenceClass(), cycle);
      activeQueues.add(queue);
    }
    inadmissibleIndex.add(
        new InadmissibleIndex.InadmissibleQueue(queue, item.equivalenceClass()),
        waiting.shortages(),
        waiting.competing(),
        waiting.preempts());
  }

  /**
   * Records that a head was skipped because of heads before it.
   *
   * @param resumes the flavors after which its search resumes in the next cycle
   * @return whether further cycles repeat the same results, until something in the tree changes
   */
  public boolean skippedAgain(ClusterQueueCache queue, QueuedWorkload head, List<Integer> resumes) {
    return activeQueues.skippedAgain(queue, head, resumes);
  }

  /**
   * Records that a search behind the first flavor ended, because the head waits for preemption or
   * has no targets: the next one starts at the first flavor, and doesn't reserve this quota until
   * it is here again.
   *
   * @return whether further cycles repeat the same results, until something in the tree changes
   */
  public boolean endsSearchAgain(ClusterQueueCache queue, QueuedWorkload head) {
    return activeQueues.endsSearchAgain(queue, head);
  }

  /** Records that the head of a queue was not skipped. */
  public void notSkipped(ClusterQueueCache queue) {
    activeQueues.notSkipped(queue);
  }

  /**
   * Records that a head reserved quota in this cycle and won't in the next one: a head that was
   * skipped because of it may fit then.
   */
  public void reservationDropped(QuotaNode node) {
    activeQueues.reservationDropped(node);
  }

  /**
   * Whether a flavor search that began in an earlier cycle may have another result if it starts
   * again: reservations in the tree changed since then, or were dropped.
   */
  public boolean mayFindOthersThan(QuotaNode node, long began) {
    return activeQueues.mayFindOthersThan(node, began);
  }

  // Questions.

  /**
   * Why a Workload of a queue is pending, if known: what it waits for itself, or what its class
   * waits for.
   */
  public @Nullable Explanation explanation(String clusterQueue, QueuedWorkload item) {
    Explanation rejected = podsReadyGate.reason(item);
    if (rejected != null) {
      return rejected;
    }
    Explanation blocking = activeQueues.blockExplanation(clusterQueue, item);
    return blocking != null ? blocking : item.explanation();
  }

  /** The head that blocks this queue; null if the queue is not blocked. */
  public @Nullable QueuedWorkload blockingHead(String clusterQueue) {
    return activeQueues.blockingHead(clusterQueue);
  }

  /** The heads that hold a claim in the tree with this root. */
  public List<QueueHead> claimsIn(QuotaNode root) {
    return activeQueues.claimsIn(root);
  }

  /** How many Workloads may be admitted while pods have to become ready. */
  public CycleHeads.Admissions admissions() {
    return podsReadyGate.isClosed() ? CycleHeads.Admissions.NONE : podsReadyGate.admissions();
  }

  /** Whether a held Workload is held for its pause. */
  public boolean isPaused(QueuedWorkload item) {
    return attemptPauses.isPaused(item);
  }

  /** Whether no cycle runs until the pods of all admitted Workloads are ready. */
  public boolean waitsForPodsReady() {
    return podsReadyGate.isClosed();
  }
}
