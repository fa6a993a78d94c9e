package dev.sluice.core.model;

import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * Rules of a ClusterQueue beyond the fields of its API (docs/queueing-policies.md).
 *
 * @param attemptBackoff the pauses of Workloads that were tried in vain, for strategies that back
 *     off
 * @param priority the first key among the heads of a cycle: higher first
 * @param quota how much of the quota, and by how many Workloads, may be used
 * @param countsPreemptible whether Workloads that are marked as not preemptible are guaranteed
 * @param blocksUntilReady whether a Workload is admitted only when the pods of all admitted ones
 *     are ready
 * @param backfill whether Workloads may start before a head that doesn't fit; empty: none may
 * @param cheapest how flavors are tried in the order of cost; empty: they are tried as listed
 * @param preemptionConfig whom Workloads may preempt beyond the policies; empty: nobody
 */
public record QueueRules(
    AttemptBackoff attemptBackoff,
    int priority,
    QuotaRules quota,
    boolean countsPreemptible,
    boolean blocksUntilReady,
    Optional<BackfillRules> backfill,
    Optional<CheapestFirst> cheapest,
    Optional<PreemptionConfig> preemptionConfig) {

  /** Rules of a queue that tries its flavors as listed. */
  public QueueRules(
      AttemptBackoff attemptBackoff,
      int priority,
      QuotaRules quota,
      boolean countsPreemptible,
      boolean blocksUntilReady,
      Optional<BackfillRules> backfill) {
    this(
        attemptBackoff,
        priority,
        quota,
        countsPreemptible,
        blocksUntilReady,
        backfill,
        Optional.empty(),
        Optional.empty());
  }

  /** No rules beyond the fields. */
  public static final QueueRules DEFAULT =
      new QueueRules(AttemptBackoff.DEFAULT, 0, QuotaRules.DEFAULT, false, false, Optional.empty());

  /** The same rules with another back-off. */
  public QueueRules withAttemptBackoff(AttemptBackoff other) {
    return changed(copy -> copy.attemptBackoff = other);
  }

  /** The same rules with another priority of the queue. */
  public QueueRules withPriority(int other) {
    return changed(copy -> copy.priority = other);
  }

  /** The same rules with other rules for quota. */
  public QueueRules withQuota(QuotaRules other) {
    return changed(copy -> copy.quota = other);
  }

  /** The same rules, where Workloads that are marked as not preemptible are guaranteed. */
  public QueueRules countingPreemptible() {
    return changed(copy -> copy.countsPreemptible = true);
  }

  /** The same rules, where admission waits until pods are ready. */
  public QueueRules blockingUntilReady() {
    return changed(copy -> copy.blocksUntilReady = true);
  }

  /** The same rules, where Workloads may start before a head that doesn't fit. */
  public QueueRules withBackfill(Optional<BackfillRules> other) {
    return changed(copy -> copy.backfill = other);
  }

  /** The same rules, where flavors are tried in the order of cost. */
  public QueueRules withCheapest(Optional<CheapestFirst> other) {
    return changed(copy -> copy.cheapest = other);
  }

  /** The same rules, with whom Workloads may preempt beyond the policies. */
  public QueueRules withPreemptionConfig(Optional<PreemptionConfig> other) {
    return changed(copy -> copy.preemptionConfig = other);
  }

  private QueueRules changed(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.rules();
  }

  /** Rules, one of which is about to differ. */
  private static final class Copy {

    private AttemptBackoff attemptBackoff;
    private int priority;
    private QuotaRules quota;
    private boolean countsPreemptible;
    private boolean blocksUntilReady;
    private Optional<BackfillRules> backfill;
    private Optional<CheapestFirst> cheapest;
    private Optional<PreemptionConfig> preemptionConfig;

    Copy(QueueRules rules) {
      attemptBackoff = rules.attemptBackoff;
      priority = rules.priority;
      quota = rules.quota;
      countsPreemptible = rules.countsPreemptible;
      blocksUntilReady = rules.blocksUntilReady;
      backfill = rules.backfill;
      cheapest = rules.cheapest;
      preemptionConfig = rules.preemptionConfig;
    }

    QueueRules rules() {
      return new QueueRules(
          attemptBackoff,
          priority,
          quota,
          countsPreemptible,
          blocksUntilReady,
          backfill,
          cheapest,
          preemptionConfig);
    }
  }

  /**
   * How long a Workload stays out of its queue after an attempt in vain: the base after the first
   * one, twice as long after each further one, up to the maximum.
   *
   * @param base the pause after the first attempt
   * @param max the longest pause; at least the base
   */
  public record AttemptBackoff(Duration base, Duration max) {

    /** One second, doubling up to twenty. */
    public static final AttemptBackoff DEFAULT =
        new AttemptBackoff(Duration.ofSeconds(1), Duration.ofSeconds(20));

    /** The pause after so many attempts in vain; at least one. */
    public Duration after(int attempts) {
      Duration pause = base;
      for (int i = 1; i < attempts && pause.compareTo(max) < 0; i++) {
        pause = pause.plus(pause);
      }
      return pause.compareTo(max) < 0 ? pause : max;
    }
  }

  /**
   * What a job says about costs, and what has to be known of it where costs count
   * (docs/prices.md#flavors-by-cost).
   *
   * @param run how long one run of it is expected to take on a flavor of speed 1; empty if nobody
   *     knows, or no queue asks
   * @param maxPrice the most that the whole Workload may cost for an hour; empty: any price will do
   * @param maxDelay for how long it waits for a cheaper flavor; empty: as its ClusterQueue says
   */
  public record CostRules(
      Optional<Duration> run, Optional<BigDecimal> maxPrice, Optional<Duration> maxDelay) {

    /** Nothing is said, and nothing has to be known. */
    public static final CostRules NONE =
        new CostRules(Optional.empty(), Optional.empty(), Optional.empty());

    /**
     * Rules of a ClusterQueue that tries its flavors in the order of cost.
     *
     * @param maxDelay for how long its Workloads wait for a cheaper flavor; empty: they don't
     */
    public record CheapestFirst(Optional<Duration> maxDelay) {

      /** For how long a Workload waits that has rules of its own; zero: it doesn't. */
      public Duration delay(Optional<CostRules> own) {
        return own.flatMap(CostRules::maxDelay).or(() -> maxDelay).orElse(Duration.ZERO);
      }
    }
  }

  /**
   * Rules for the quota of a ClusterQueue or a Cohort beyond the fields of its API
   * (docs/queueing-policies.md).
   *
   * @param oversellRate the factor of nominal quota, borrowing and lending; at least 1
   * @param maxWorkloads the most Workloads that may have quota reserved, in the queue or below the
   *     cohort; empty: no limit
   * @param cohortGuarantee whether guaranteed Workloads of a ClusterQueue in a cohort are held to
   *     the nominal quotas of the cohorts only, and not to the queue's own
   * @param preemption rules for the preemption of Workloads that hold quota here or below
   */
  public record QuotaRules(
      BigDecimal oversellRate,
      OptionalInt maxWorkloads,
      boolean cohortGuarantee,
      PreemptionRules preemption) {

    /** No rules beyond the fields. */
    public static final QuotaRules DEFAULT = new QuotaRules(BigDecimal.ONE, OptionalInt.empty());

    public QuotaRules {
      oversellRate = oversellRate.stripTrailingZeros();
    }

    /** Rules where guaranteed Workloads are held to nominal quota on the whole path. */
    public QuotaRules(BigDecimal oversellRate, OptionalInt maxWorkloads) {
      this(oversellRate, maxWorkloads, false);
    }

    /** Rules without any for preemption. */
    public QuotaRules(BigDecimal oversellRate, OptionalInt maxWorkloads, boolean cohortGuarantee) {
      this(oversellRate, maxWorkloads, cohortGuarantee, PreemptionRules.NONE);
    }

    /** The same rules with others for preemption. */
    public QuotaRules withPreemption(PreemptionRules other) {
      return new QuotaRules(oversellRate, maxWorkloads, cohortGuarantee, other);
    }
  }
}
