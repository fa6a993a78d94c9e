package dev.sluice.core.scheduling.preemption;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Cursor;
import dev.sluice.core.scheduling.preemption.CandidateQueue.Kind;
import dev.sluice.core.waiting.PreemptionUpperBound;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Classical preemption: by priority and borrowing
 * (docs/scheduling-semantics.md#classical-preemption). Candidates are taken one by one until the
 * preemptor fits; then candidates that turn out not to be needed are dropped.
 */
public final class ClassicalPreemption implements PreemptionStrategy {

  private final Function<QuotaNode, @Nullable ClusterQueueCache> queues;
  private final BorrowingQueues borrowingQueues;

  /**
   * Creates the strategy.
   *
   * @param queues the queue at a node of the quota tree; null if the queue was deleted
   * @param ofAllTrees the queues of all trees
   */
  public ClassicalPreemption(
      Function<QuotaNode, @Nullable ClusterQueueCache> queues,
      Supplier<Stream<ClusterQueueCache>> ofAllTrees) {
    this.queues = queues;
    this.borrowingQueues = new BorrowingQueues(queues, ofAllTrees);
  }

  @Override
  public Optional<Found> find(PreemptionRequest preemptionRequest) {
    return find(preemptionRequest, false);
  }

  @Override
  public Optional<Found> findAsReserved(PreemptionRequest preemptionRequest) {
    return find(preemptionRequest, true);
  }

  private Optional<Found> find(PreemptionRequest preemptionRequest, boolean asReserved) {
    Optional<PreemptionConfig> config = preemptionRequest.queue().spec().rules().preemptionConfig();
    if (config.isPresent()) {
      return new ConfiguredPreemption(borrowingQueues, preemptionRequest, config.get()).find();
    }
    PreemptionPolicies policies = preemptionRequest.queue().spec().preemption();
    if (policies.withinClusterQueue() == WithinClusterQueue.NEVER
        && policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER) {
      return Optional.empty();
    }
    List<CandidateQueue> candidateQueues =
        CandidateQueues.of(borrowingQueues, preemptionRequest, asReserved);
    for (boolean borrowing : attempts(preemptionRequest, candidateQueues)) {
      Optional<Found> found = attempt(preemptionRequest, candidateQueues, borrowing);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  /**
   * The other pairs of a request matter to the search in two places: the fit after each removal,
   * and the hierarchical advantage. Where another pair is available, and fits the quota of the
   * queue and of every cohort above it, it fits after any removal, too, with or without borrowing,
   * and holds no level back from the advantage. Candidates are found by the needed pairs only.
   */
  @Override
  public boolean isDecidedBy(PreemptionRequest preemptionRequest, int pair) {
    if (preemptionRequest.queue().spec().rules().preemptionConfig().isPresent()) {
      return false;
    }
    QuotaNode queue = preemptionRequest.queue().node();
    for (int i = 0; i < preemptionRequest.pairs().length; i++) {
      int other = preemptionRequest.pairs()[i];
      long amount = preemptionRequest.amounts()[i];
      if (other != pair
          && (amount > queue.available(other) || !isHeldByAll(queue, other, amount))) {
        return false;
      }
    }
    return preemptionRequest.needed().length == 1 && preemptionRequest.needed()[0] == pair;
  }

  private static boolean isHeldByAll(QuotaNode queue, int pair, long amount) {
    long remaining = amount;
    for (QuotaNode node = queue; node != null; node = node.parent()) {
      if (ResourceAmounts.add(node.usage(pair), remaining) > node.subtreeQuota(pair)) {
        return false;
      }
      remaining -= Math.min(remaining, node.localAvailable(pair));
    }
    return true;
  }

  @Override
  public boolean meetsNotEvictable(PreemptionRequest preemptionRequest) {
    return CandidateQueues.meetNotEvictable(borrowingQueues, preemptionRequest)
        || ConfiguredPreemption.meetsNotEvictable(borrowingQueues, preemptionRequest);
  }

  @Override
  public Protected protectedFrom(PreemptionRequest preemptionRequest) {
    return CandidateQueues.protectedFrom(borrowingQueues, preemptionRequest)
        .and(ConfiguredPreemption.protectedFrom(borrowingQueues, preemptionRequest));
  }

  @Override
  public PreemptionUpperBound upperBound(QuotaNode root) {
    return new ClassicalUpperBound(root, this, queues);
  }

  /** Whether the preemptor may borrow, attempt by attempt. */
  static boolean[] attempts(
      PreemptionRequest preemptionRequest, List<CandidateQueue> candidateQueues) {
    boolean hierarchical = any(preemptionRequest, candidateQueues, Kind.HIERARCHICAL);
    boolean others = hierarchical || any(preemptionRequest, candidateQueues, Kind.OTHER);
    boolean mayBorrow = preemptionRequest.queue().spec().preemption().borrowWithinCohort();
    if (!others || (!mayBorrow && !preemptionRequest.isBelowNominal())) {
      return new boolean[] {true};
    }
    return !mayBorrow && !hierarchical ? new boolean[] {false, true} : new boolean[] {true, false};
  }

  private static boolean any(
      PreemptionRequest preemptionRequest, List<CandidateQueue> candidateQueues, Kind kind) {
    for (CandidateQueue candidateQueue : candidateQueues) {
      if (candidateQueue.kind() == kind && candidateQueue.hasCandidates(preemptionRequest)) {
        return true;
      }
    }
    return false;
  }

  private static Optional<Found> attempt(
      PreemptionRequest preemptionRequest,
      List<CandidateQueue> candidateQueues,
      boolean borrowing) {
    if (!borrowing && !ClassicalUpperBound.staysWithinNominal(preemptionRequest)) {
      return Optional.empty();
    }
    PreemptionCandidates preemptionCandidates =
        new PreemptionCandidates(preemptionRequest, candidateQueues, borrowing);
    List<PreemptionTarget> targets = new ArrayList<>();
    Found found = null;
    for (PreemptionCandidates.Candidate next = preemptionCandidates.next();
        next != null;
        next = preemptionCandidates.next()) {
      CandidateQueue candidateQueue = next.candidateQueue();
      if (candidateQueue.kind() != Kind.OWN) {
        if (!candidateQueue.stillBorrows(preemptionRequest)) {
          preemptionCandidates.drop();
          continue;
        }
      }
      PreemptionTarget preemptionTarget =
          new PreemptionTarget(
              next.quotaHolder(),
              candidateQueue.queue(),
              candidateQueue.reason(preemptionRequest, next.quotaHolder()));
      preemptionTarget.removeUsage();
      targets.add(preemptionTarget);
      if (preemptionRequest.fits(borrowing)) {
        FillBack.apply(preemptionRequest, targets, borrowing);
        found = new Found(targets, preemptionRequest.borrowLevel());
        break;
      }
    }
    for (PreemptionTarget preemptionTarget : targets.reversed()) {
      preemptionTarget.restoreUsage();
    }
    return Optional.ofNullable(found);
  }

  /**
   * The candidates of several queues in the order in which they are taken: those being evicted
   * first; within both groups those under hierarchical advantage, then those of other queues, then
   * those of the preemptor's queue; each list in the order of the request. Where that is the one in
   * which queues keep their holders, the sorted candidates of the queues are merged lazily: the
   * holders of a queue are not iterated over before the first of them comes before the candidates
   * of all other queues.
   */
  private static final class PreemptionCandidates {

    /** A candidate and its queue. */
    record Candidate(QuotaHolder quotaHolder, CandidateQueue candidateQueue) {}

    /** The candidates of one queue. */
    private static final class Lane {
      private final int queue;

      /** The current candidate; without a cursor, the first holder, which may be no candidate. */
      private QuotaHolder first;

      private @Nullable Cursor cursor;

      Lane(int queue, QuotaHolder first, @Nullable Cursor cursor) {
        this.queue = queue;
        this.first = first;
        this.cursor = cursor;
      }
    }

    private static final Kind[] KINDS = Kind.values();

    private final PreemptionRequest preemptionRequest;
    private final boolean borrowing;
    private final List<CandidateQueue> candidateQueues;
    private final boolean[] dropped;
    private final PriorityQueue<Lane> merged;
    private int phase = -1;
    private @Nullable Lane current;

    /**
     * @param borrowing whether the preemptor borrows: candidates that it may take only without
     *     borrowing are left out
     */
    PreemptionCandidates(
        PreemptionRequest preemptionRequest,
        List<CandidateQueue> candidateQueues,
        boolean borrowing) {
      this.preemptionRequest = preemptionRequest;
      this.borrowing = borrowing;
      this.candidateQueues = candidateQueues;
      this.merged =
          new PriorityQueue<>(Comparator.comparing(lane -> lane.first, preemptionRequest.order()));
      this.dropped = new boolean[candidateQueues.size()];
    }

    /** The next candidate; null at the end. */
    @Nullable Candidate next() {
      Lane last = current;
      current = null;
      if (last != null && last.cursor != null) {
        last.cursor.advance();
        add(last, last.cursor);
      }
      while (true) {
        Lane lane = merged.poll();
        if (lane == null) {
          if (!nextPhase()) {
            return null;
          }
        } else if (lane.cursor == null) {
          open(lane);
        } else {
          current = lane;
          return new Candidate(lane.first, candidateQueues.get(lane.queue));
        }
      }
    }

    /**
     * Skips the remaining candidates of the last candidate's queue, which doesn't borrow any more.
     */
    void drop() {
      if (current != null) {
        dropped[current.queue] = true;
        current = null;
      }
    }

    private void open(Lane lane) {
      Cursor cursor =
          candidateQueues.get(lane.queue).candidates(preemptionRequest, isEvicted(), borrowing);
      lane.cursor = cursor;
      add(lane, cursor);
    }

    private void add(Lane lane, Cursor cursor) {
      QuotaHolder first = cursor.current();
      if (first != null) {
        lane.first = first;
        merged.add(lane);
      }
    }

    private boolean isEvicted() {
      return phase < KINDS.length;
    }

    private boolean nextPhase() {
      phase++;
      if (phase >= 2 * KINDS.length) {
        return false;
      }
      boolean evicted = isEvicted();
      Kind kind = KINDS[phase % KINDS.length];
      for (int i = 0; i < dropped.length; i++) {
        CandidateQueue candidateQueue = candidateQueues.get(i);
        if (!dropped[i]
            && candidateQueue.kind() == kind
            && candidateQueue.mayHaveCandidates(preemptionRequest, evicted, borrowing)) {
          QuotaHolder first =
              preemptionRequest.byWork().isPresent()
                  ? null
                  : candidateQueue.queue().holders().firstOfOnlyGroup(evicted);
          if (first != null) {
            merged.add(new Lane(i, first, null));
          } else {
            Cursor cursor = candidateQueue.candidates(preemptionRequest, evicted, borrowing);
            if (cursor.current() != null) {
              merged.add(new Lane(i, cursor.current(), cursor));
            }
          }
        }
      }
      return true;
    }
  }
}
