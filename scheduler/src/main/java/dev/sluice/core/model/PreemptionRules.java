package dev.sluice.core.model;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Rules of preemption beyond the fields of the API, of a WorkloadPriorityClass, a ClusterQueue or a
 * Cohort (docs/preemption.md#rules-that-protect). Each rule is taken from the nearest of them that
 * has it.
 *
 * @param minRunTime how long a Workload runs before it may be a target
 * @param maxPreemptions how often a Workload may be preempted
 * @param delay how long a Workload waits for quota before it preempts
 * @param checkpointGrace how long a target may take to save its work before it is evicted
 * @param exempt whether Workloads preempt others whatever their {@code minRunTime}; of priority
 *     classes only
 * @param traits what PreemptionConfigs compare of a Workload of the class; empty while no
 *     ClusterQueue names one
 */
public record PreemptionRules(
    Optional<Duration> minRunTime,
    Optional<PreemptionLimit> maxPreemptions,
    Optional<Duration> delay,
    Optional<Duration> checkpointGrace,
    boolean exempt,
    Optional<PreemptionTraits> traits) {

  /** No rules beyond the fields. */
  public static final PreemptionRules NONE =
      new PreemptionRules(Optional.empty(), Optional.empty(), Optional.empty(), false);

  /** Rules without a grace for checkpoints. */
  public PreemptionRules(
      Optional<Duration> minRunTime,
      Optional<PreemptionLimit> maxPreemptions,
      Optional<Duration> delay,
      boolean exempt) {
    this(minRunTime, maxPreemptions, delay, Optional.empty(), exempt, Optional.empty());
  }

  /** The same rules, with so much time for checkpoints. */
  public PreemptionRules withCheckpointGrace(Optional<Duration> grace) {
    return new PreemptionRules(minRunTime, maxPreemptions, delay, grace, exempt, traits);
  }

  /** The same rules, of a Workload with these traits. */
  public PreemptionRules withTraits(PreemptionTraits newTraits) {
    return new PreemptionRules(
        minRunTime, maxPreemptions, delay, checkpointGrace, exempt, Optional.of(newTraits));
  }

  /** A Workload that was preempted so often within the window is no target. */
  public record PreemptionLimit(int preemptions, Duration window) {}

  /** These rules, and where they say nothing those of a more distant object. */
  public PreemptionRules or(PreemptionRules fartherRules) {
    if (fartherRules.isNone()) {
      return this;
    }
    return isNone() && !exempt && traits.isEmpty()
        ? fartherRules
        : new PreemptionRules(
            minRunTime.or(fartherRules::minRunTime),
            maxPreemptions.or(fartherRules::maxPreemptions),
            delay.or(fartherRules::delay),
            checkpointGrace.or(fartherRules::checkpointGrace),
            exempt,
            traits);
  }

  /** Whether there is no rule, for targets and for preemptors. */
  public boolean isNone() {
    return minRunTime.isEmpty()
        && maxPreemptions.isEmpty()
        && delay.isEmpty()
        && checkpointGrace.isEmpty();
  }

  /**
   * What PreemptionConfigs compare of a Workload.
   *
   * @param labels its labels, as far as some PreemptionConfig in use asks for them
   * @param priorityClass the name of its priority class; empty without one
   * @param basePriority its priority without what a booster adds
   * @param localQueue its LocalQueue, in which some rules look alone; empty if it isn't known
   */
  public record PreemptionTraits(
      Map<String, String> labels,
      Optional<String> priorityClass,
      long basePriority,
      Optional<LocalQueueId> localQueue) {

    /** No labels, no priority class, priority 0, no LocalQueue. */
    public static final PreemptionTraits NONE =
        new PreemptionTraits(Map.of(), Optional.empty(), 0, Optional.empty());

    public PreemptionTraits {
      labels = Map.copyOf(labels);
    }
  }

  /**
   * The rules of a PreemptionConfig: further candidates beyond those of the ClusterQueue's policies
   * (docs/preemption-config.md).
   *
   * @param rules the rules; without any, nothing is added
   */
  public record PreemptionConfig(List<PreemptionRule> rules) {

    public PreemptionConfig {
      rules = List.copyOf(rules);
    }

    /** Whether candidates may be in other cohort trees. */
    public boolean reaches() {
      return rules.stream()
          .flatMap(rule -> rule.candidates().stream())
          .anyMatch(candidates -> candidates.scope() == Scope.ANY_CLUSTER_QUEUE);
    }

    /** When a rule counts: each later one is tried only when the earlier ones weren't enough. */
    public enum Trigger {
      ALWAYS,
      INSUFFICIENT_QUOTA,
      QUOTA_FEASIBLE_AND_INSUFFICIENT_TOPOLOGY
    }

    /** Where candidates are, as seen from the preemptor; all but the first contain its queue. */
    public enum Scope {
      WITHIN_LOCAL_QUEUE,
      WITHIN_CLUSTER_QUEUE,
      WITHIN_PARENT_COHORT,
      WITHIN_COHORT_TREE,
      ANY_CLUSTER_QUEUE
    }

    /** How a number of the candidate has to compare with that of the preemptor. */
    public enum Comparison {
      LESS_THAN,
      GREATER_THAN,
      LESS_THAN_OR_EQUAL,
      GREATER_THAN_OR_EQUAL;

      /** Whether "candidate comparison preemptor" is true. */
      public boolean holds(long candidate, long preemptor) {
        return switch (this) {
          case LESS_THAN -> candidate < preemptor;
          case GREATER_THAN -> candidate > preemptor;
          case LESS_THAN_OR_EQUAL -> candidate <= preemptor;
          case GREATER_THAN_OR_EQUAL -> candidate >= preemptor;
        };
      }
    }

    /**
     * A rule.
     *
     * @param preemptorSelector which preemptors it is for, by their labels
     * @param preemptorClassNames which it is for, by their priority classes
     * @param trigger when it counts
     * @param candidates whom such a preemptor may preempt: those of any selector
     */
    public record PreemptionRule(
        LabelSelector preemptorSelector,
        ClassNames preemptorClassNames,
        Trigger trigger,
        List<CandidateSelector> candidates) {

      public PreemptionRule {
        candidates = List.copyOf(candidates);
      }

      /** Whether the rule is for this preemptor. */
      public boolean isFor(PreemptionTraits traits) {
        return preemptorSelector.matches(traits.labels())
            && preemptorClassNames.match(traits.priorityClass());
      }
    }

    /**
     * Names of priority classes.
     *
     * @param among the names of which it has to be one; empty: any will do
     * @param notAmong the names of which it may be none
     */
    public record ClassNames(Set<String> among, Set<String> notAmong) {

      /** Any class will do, and none. */
      public static final ClassNames ANY = new ClassNames(Set.of(), Set.of());

      public ClassNames {
        among = Set.copyOf(among);
        notAmong = Set.copyOf(notAmong);
      }

      /** Whether a priority class matches; without one, only the names not allowed count. */
      public boolean match(Optional<String> priorityClass) {
        return (among.isEmpty() || priorityClass.filter(among::contains).isPresent())
            && priorityClass.filter(notAmong::contains).isEmpty();
      }
    }

    /**
     * Candidates.
     *
     * @param scope where they are
     * @param clusterQueues the names of their ClusterQueues; empty: any will do
     * @param labels the selector of their labels
     * @param numericLabels what numbers in their labels have to be
     * @param priority what their priority has to be; empty: any will do
     */
    public record CandidateSelector(
        Scope scope,
        Optional<Set<String>> clusterQueues,
        LabelSelector labels,
        List<NumericLabel> numericLabels,
        Optional<CandidatePriority> priority) {

      public CandidateSelector {
        clusterQueues = clusterQueues.map(Set::copyOf);
        numericLabels = List.copyOf(numericLabels);
      }

      /**
       * Whether a Workload within the scope is a candidate.
       *
       * @param clusterQueue the name of its ClusterQueue
       * @param priority its effective priority
       * @param preemptorPriority the preemptor's effective priority
       */
      public boolean selects(
          String clusterQueue,
          PreemptionTraits candidateTraits,
          long candidatePriority,
          PreemptionTraits preemptorTraits,
          long preemptorPriority) {
        return (clusterQueues.isEmpty() || clusterQueues.get().contains(clusterQueue))
            && labels.matches(candidateTraits.labels())
            && numericLabels.stream()
                .allMatch(label -> label.holds(candidateTraits.labels(), preemptorTraits.labels()))
            && (priority.isEmpty()
                || priority
                    .get()
                    .holds(candidateTraits, candidatePriority, preemptorTraits, preemptorPriority));
      }
    }

    /**
     * What a number in a label has to be.
     *
     * @param key the label
     * @param fallback the number of Workloads without the label, or with no number in it; empty:
     *     they are no candidates
     * @param comparison how it has to compare with that of the preemptor; empty: it needn't
     * @param least the smallest number; empty: any
     * @param most the largest number; empty: any
     */
    public record NumericLabel(
        String key,
        OptionalLong fallback,
        Optional<Comparison> comparison,
        OptionalLong least,
        OptionalLong most) {

      /** Whether the labels of a candidate are as the rule wants them. */
      public boolean holds(Map<String, String> candidate, Map<String, String> preemptor) {
        OptionalLong number = number(candidate);
        if (number.isEmpty()
            || (least.isPresent() && number.getAsLong() < least.getAsLong())
            || (most.isPresent() && number.getAsLong() > most.getAsLong())) {
          return false;
        }
        if (comparison.isEmpty()) {
          return true;
        }
        OptionalLong other = number(preemptor);
        return other.isPresent() && comparison.get().holds(number.getAsLong(), other.getAsLong());
      }

      private OptionalLong number(Map<String, String> labels) {
        String text = labels.get(key);
        if (text == null) {
          return fallback;
        }
        try {
          return OptionalLong.of(Long.parseLong(text));
        } catch (NumberFormatException noNumber) {
          return fallback;
        }
      }
    }

    /**
     * What the priority of a candidate has to be.
     *
     * @param boosted whether effective priorities are compared, instead of those of the classes
     * @param comparison how it has to compare with the preemptor's; empty: it needn't
     * @param classNames which priority classes it may have
     */
    public record CandidatePriority(
        boolean boosted, Optional<Comparison> comparison, ClassNames classNames) {

      boolean holds(
          PreemptionTraits candidateTraits,
          long candidatePriority,
          PreemptionTraits preemptorTraits,
          long preemptorPriority) {
        return classNames.match(candidateTraits.priorityClass())
            && (comparison.isEmpty()
                || (boosted
                    ? comparison.get().holds(candidatePriority, preemptorPriority)
                    : comparison
                        .get()
                        .holds(candidateTraits.basePriority(), preemptorTraits.basePriority())));
      }
    }
  }
}
