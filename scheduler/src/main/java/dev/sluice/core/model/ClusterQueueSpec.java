package dev.sluice.core.model;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import java.math.BigDecimal;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The part of a ClusterQueue's spec that the engine needs.
 *
 * @param name name of the ClusterQueue
 * @param cohort name of the cohort; empty when the queue belongs to no cohort
 * @param groups the resource groups, in the order of the spec
 * @param strategy whether a head that doesn't fit blocks the Workloads behind the head
 * @param namespaceSelector the namespaces whose Workloads may use the queue
 * @param stopPolicy whether the queue admits Workloads
 * @param terminating whether the object is being deleted
 * @param preemption which Workloads the queue's Workloads may preempt
 * @param fungibility when the search for a flavor stops
 * @param fairWeight the weight for fair sharing; not negative
 * @param admissionChecks names of the admission checks that every Workload needs
 * @param problems further reasons, found outside the engine, why the queue is inactive
 * @param ignoresUndeclared whether requests for resources that no group covers are ignored;
 *     otherwise such a request keeps the Workload pending
 * @param ordersByUsage whether the LocalQueues are ordered by their usage over time, when the
 *     configuration enables admission fair sharing
 * @param rules rules beyond the fields of the API
 * @param delaysTopologyOf flavors whose places are found later than the quota, because an admission
 *     check must be ready first or another cluster finds them
 */
public record ClusterQueueSpec(
    String name,
    String cohort,
    List<ResourceGroup> groups,
    QueueingStrategy strategy,
    LabelSelector namespaceSelector,
    StopPolicy stopPolicy,
    boolean terminating,
    PreemptionPolicies preemption,
    FlavorFungibility fungibility,
    BigDecimal fairWeight,
    List<String> admissionChecks,
    List<InactiveReason> problems,
    boolean ignoresUndeclared,
    boolean ordersByUsage,
    QueueRules rules,
    Set<String> delaysTopologyOf) {

  public ClusterQueueSpec {
    groups = List.copyOf(groups);
    fairWeight = fairWeight.stripTrailingZeros();
    admissionChecks = List.copyOf(admissionChecks);
    problems = List.copyOf(problems);
    delaysTopologyOf = Set.copyOf(delaysTopologyOf);
  }

  /** A queue of weight 1 that rejects requests for resources that no group covers. */
  public ClusterQueueSpec(
      String name,
      String cohort,
      List<ResourceGroup> groups,
      QueueingStrategy strategy,
      LabelSelector namespaceSelector,
      StopPolicy stopPolicy,
      boolean terminating,
      PreemptionPolicies preemption,
      FlavorFungibility fungibility,
      List<String> admissionChecks,
      List<InactiveReason> problems) {
    this(
        name,
        cohort,
        groups,
        strategy,
        namespaceSelector,
        stopPolicy,
        terminating,
        preemption,
        fungibility,
        BigDecimal.ONE,
        admissionChecks,
        problems,
        false);
  }

  /** A queue whose LocalQueues are not ordered by usage. */
  public ClusterQueueSpec(
      String name,
      String cohort,
      List<ResourceGroup> groups,
      QueueingStrategy strategy,
      LabelSelector namespaceSelector,
      StopPolicy stopPolicy,
      boolean terminating,
      PreemptionPolicies preemption,
      FlavorFungibility fungibility,
      BigDecimal fairWeight,
      List<String> admissionChecks,
      List<InactiveReason> problems,
      boolean ignoresUndeclared) {
    this(
        name,
        cohort,
        groups,
        strategy,
        namespaceSelector,
        stopPolicy,
        terminating,
        preemption,
        fungibility,
        fairWeight,
        admissionChecks,
        problems,
        ignoresUndeclared,
        false,
        QueueRules.DEFAULT,
        Set.of());
  }

  /** The same queue, with requests for uncovered resources ignored. */
  public ClusterQueueSpec ignoringUndeclared() {
    return changed(copy -> copy.ignoresUndeclared = true);
  }

  /** The same queue, with its LocalQueues ordered by usage. */
  public ClusterQueueSpec orderedByUsage() {
    return changed(copy -> copy.ordersByUsage = true);
  }

  /** The same queue, with the places in nodes of these flavors found later than the quota. */
  public ClusterQueueSpec delayingTopologyOf(Set<String> flavors) {
    return changed(copy -> copy.delaysTopologyOf = flavors);
  }

  /** The same queue, with other quotas. */
  public ClusterQueueSpec with(List<ResourceGroup> otherGroups) {
    return changed(copy -> copy.groups = otherGroups);
  }

  /** The same queue, with other policies for the search of a flavor. */
  public ClusterQueueSpec with(FlavorFungibility otherFungibility) {
    return changed(copy -> copy.fungibility = otherFungibility);
  }

  /** The same queue with another strategy and other rules. */
  public ClusterQueueSpec with(QueueingStrategy otherStrategy, QueueRules otherRules) {
    return changed(
        copy -> {
          copy.strategy = otherStrategy;
          copy.rules = otherRules;
        });
  }

  private ClusterQueueSpec changed(Consumer<Copy> change) {
    Copy copy = new Copy();
    change.accept(copy);
    return copy.spec();
  }

  /** What may differ in a queue that is the same otherwise. */
  private final class Copy {

    private List<ResourceGroup> groups = ClusterQueueSpec.this.groups;
    private QueueingStrategy strategy = ClusterQueueSpec.this.strategy;
    private FlavorFungibility fungibility = ClusterQueueSpec.this.fungibility;
    private boolean ignoresUndeclared = ClusterQueueSpec.this.ignoresUndeclared;
    private boolean ordersByUsage = ClusterQueueSpec.this.ordersByUsage;
    private QueueRules rules = ClusterQueueSpec.this.rules;
    private Set<String> delaysTopologyOf = ClusterQueueSpec.this.delaysTopologyOf;

    private ClusterQueueSpec spec() {
      return new ClusterQueueSpec(
          name,
          cohort,
          groups,
          strategy,
          namespaceSelector,
          stopPolicy,
          terminating,
          preemption,
          fungibility,
          fairWeight,
          admissionChecks,
          problems,
          ignoresUndeclared,
          ordersByUsage,
          rules,
          delaysTopologyOf);
    }
  }

  /**
   * What happens to a head that doesn't fit, and to the Workloads behind it: STRICT_FIFO blocks
   * them, all others evaluate them. BEST_EFFORT_FIFO evaluates the head again when a release of
   * quota may help it, ROUND_ROBIN only after a pause, STRICT_PRIORITY after a pause or a release
   * in the queue.
   */
  public enum QueueingStrategy {
    STRICT_FIFO,
    BEST_EFFORT_FIFO,
    ROUND_ROBIN,
    STRICT_PRIORITY
  }

  /**
   * Whether a queue admits: NONE admits, HOLD doesn't admit, HOLD_AND_DRAIN also evicts the
   * admitted Workloads.
   */
  public enum StopPolicy {
    NONE,
    HOLD,
    HOLD_AND_DRAIN
  }

  /**
   * Why a queue is inactive.
   *
   * @param reason the API's reason (such as FlavorNotFound)
   * @param message one sentence that describes the problem
   */
  public record InactiveReason(String reason, String message) {}

  /**
   * When the search for a flavor goes on to the next flavor (API: {@code spec.flavorFungibility}).
   *
   * @param scanProgress whether a search of a later cycle goes on where an earlier one stopped
   */
  public record FlavorFungibility(
      boolean tryNextWhenBorrowing,
      boolean tryNextWhenPreempting,
      boolean preferPreemption,
      ScanProgress scanProgress) {

    /**
     * The API's defaults: stop at a flavor where borrowing is enough, go on where preemption would
     * be needed.
     */
    public static final FlavorFungibility DEFAULT = new FlavorFungibility(false, true, false);

    /** Searches that go on, also after a change of quota. */
    public FlavorFungibility(
        boolean tryNextWhenBorrowing, boolean tryNextWhenPreempting, boolean preferPreemption) {
      this(tryNextWhenBorrowing, tryNextWhenPreempting, preferPreemption, ScanProgress.PRESERVED);
    }

    /** The same policies, with other searches in later cycles. */
    public FlavorFungibility scanning(ScanProgress otherProgress) {
      return new FlavorFungibility(
          tryNextWhenBorrowing, tryNextWhenPreempting, preferPreemption, otherProgress);
    }
  }

  /**
   * How long the progress of a search for a flavor holds: PRESERVED from one cycle to the next and
   * else until the quota of the queue changes, UNTIL_QUOTA_CHANGES no longer than that (gate
   * FlavorFungibilityPreserveScanProgress off), NONE not at all: each search begins at the first
   * flavor (gate FlavorFungibility off).
   */
  public enum ScanProgress {
    PRESERVED,
    UNTIL_QUOTA_CHANGES,
    NONE
  }

  /**
   * What the feature gates make of the policies for the search of a flavor.
   *
   * @param honoured whether the policies of a ClusterQueue are followed (gate FlavorFungibility);
   *     else the best mode is taken, the first flavor that fits wins, and each search begins at the
   *     first flavor
   * @param preserved whether the progress of a search outlasts a change of quota from one cycle to
   *     the next (gate FlavorFungibilityPreserveScanProgress)
   */
  public record FungibilityGates(boolean honoured, boolean preserved) {

    /** The defaults of the gates. */
    public static final FungibilityGates DEFAULT = new FungibilityGates(true, true);

    /** The policies that hold where a ClusterQueue has these. */
    public FlavorFungibility applied(FlavorFungibility fungibility) {
      if (!honoured) {
        return FlavorFungibility.DEFAULT.scanning(ScanProgress.NONE);
      }
      return preserved ? fungibility : fungibility.scanning(ScanProgress.UNTIL_QUOTA_CHANGES);
    }
  }

  /** Which Workloads a ClusterQueue's Workloads may preempt (API: {@code spec.preemption}). */
  public record PreemptionPolicies(
      WithinClusterQueue withinClusterQueue,
      ReclaimWithinCohort reclaimWithinCohort,
      boolean borrowWithinCohort,
      OptionalInt borrowMaxPriorityThreshold) {

    /** No preemption: the default. */
    public static final PreemptionPolicies NEVER =
        new PreemptionPolicies(
            WithinClusterQueue.NEVER, ReclaimWithinCohort.NEVER, false, OptionalInt.empty());

    /** Targets in the same ClusterQueue. */
    public enum WithinClusterQueue {
      NEVER,
      LOWER_PRIORITY,
      LOWER_OR_NEWER_EQUAL_PRIORITY
    }

    /** Targets in other ClusterQueues of the cohort that borrow. */
    public enum ReclaimWithinCohort {
      NEVER,
      LOWER_PRIORITY,
      ANY
    }
  }
}
