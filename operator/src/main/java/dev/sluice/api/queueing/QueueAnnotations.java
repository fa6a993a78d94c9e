package dev.sluice.api.queueing;

import dev.sluice.api.config.GoDuration;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.QueueRules.QuotaRules;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The annotations by which a queue, a Cohort or a WorkloadPriorityClass says more than its fields
 * do (docs/queueing-policies.md#annotations). A value that can't be read counts as absent, and is
 * reported.
 */
public final class QueueAnnotations {

  /** How a ClusterQueue goes on after a head that doesn't fit. */
  public static final String STRATEGY = "sluice.dev/queueing-strategy";

  /** The pauses of Workloads that were tried in vain. */
  public static final String ATTEMPT_BACKOFF = "sluice.dev/attempt-backoff";

  /** The priority of a ClusterQueue among the heads of a cycle. */
  public static final String QUEUE_PRIORITY = "sluice.dev/queue-priority";

  /** The most Workloads that may have quota reserved at a time. */
  public static final String MAX_WORKLOADS = "sluice.dev/max-concurrent-workloads";

  /** How long an admitted Workload may take until its pods are ready. */
  public static final String START_TIMEOUT = "sluice.dev/start-timeout";

  /** How long a Workload waits after it did not start in time. */
  public static final String START_BACKOFF = "sluice.dev/start-backoff";

  /** How the priority of a Workload grows while it waits. */
  public static final String PRIORITY_AGING = "sluice.dev/priority-aging";

  /** Whether a Workload is admitted only when the pods of all admitted ones are ready. */
  public static final String BLOCK_UNTIL_READY = "sluice.dev/block-until-ready";

  /**
   * For admission checks of a ClusterQueue, by name, the label selector of the Workloads that need
   * them; a check that isn't named is needed by all.
   */
  public static final String CHECK_SELECTORS = "sluice.dev/admission-check-selectors";

  /** The name of the LocalQueue that each namespace gets which a ClusterQueue selects. */
  public static final String LOCAL_QUEUE = "sluice.dev/local-queue";

  /** The ClusterQueue that a LocalQueue was made for. */
  public static final String MADE_FOR = "sluice.dev/made-for";

  /** The factor of nominal quota, borrowing and lending. */
  public static final String OVERSELL_RATE = "sluice.dev/oversell-rate";

  /** Whether labels that say that a Workload is not preemptible count. */
  public static final String PREEMPTIBLE_LABELS = "sluice.dev/preemptible-labels";

  /** Whether guaranteed Workloads are held to the nominal quotas of the cohorts only. */
  public static final String COHORT_GUARANTEE = "sluice.dev/cohort-guarantee";

  /** How long a Workload runs before it may be preempted. */
  public static final String MIN_RUN_TIME = "sluice.dev/min-run-time";

  /** Whether Workloads of a WorkloadPriorityClass preempt others whatever {@link #MIN_RUN_TIME}. */
  public static final String MIN_RUN_TIME_EXEMPT = "sluice.dev/min-run-time-exempt";

  /** How often a Workload may be preempted within a time. */
  public static final String MAX_PREEMPTIONS = "sluice.dev/max-preemptions";

  /** How long a Workload waits for quota before it preempts. */
  public static final String PREEMPTION_DELAY = "sluice.dev/preemption-delay";

  /** How long a target of a preemption may take to save its work. */
  public static final String CHECKPOINT_GRACE = "sluice.dev/checkpoint-grace";

  /**
   * How many blocked Workloads of a StrictFIFO queue get a planned start, before which others run.
   */
  public static final String BACKFILL = "sluice.dev/backfill";

  /** Which bound of its run time a Workload has for {@link #BACKFILL} that has no limit. */
  public static final String BACKFILL_UNKNOWN_RUN_TIME = "sluice.dev/backfill-unknown-run-time";

  /** The highest number of preemptions that {@link #MAX_PREEMPTIONS} can allow. */
  public static final int MOST_PREEMPTIONS = 100;

  /** The pause after a start that took too long, unless an annotation says otherwise. */
  public static final Duration DEFAULT_START_BACKOFF = Duration.ofMinutes(1);

  private static final int LONGEST_NAME = 253;
  private static final Pattern NAME =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  private static final Pattern DEPTH = Pattern.compile("Depth\\(([1-9]\\d{0,2})\\)");
  private static final String POSITIVE_INT = "a whole number from 1 to 2147483647";
  private static final Duration SHORTEST_AGING = Duration.ofSeconds(10);
  private static final String AGING =
      "a duration of at least 10s, a step from 1, and the most that is added, at least the step,"
          + " such as 1h,10,100";

  private final Map<String, String> annotations;
  private final Map<String, String> faults = new LinkedHashMap<>();

  private QueueAnnotations(@Nullable Map<String, String> annotations) {
    this.annotations = annotations == null ? Map.of() : annotations;
  }

  /**
   * What the annotations of a ClusterQueue say.
   *
   * @param strategy the queueing strategy; empty: the one of the field
   * @param startTimeout how long an admitted Workload may take until its pods are ready; empty: as
   *     the configuration says
   * @param startBackoff the pause after a start that took too long
   * @param aging how the priority of Workloads grows while they wait; empty: it doesn't
   * @param faults by annotation, what is wrong with its value and what is allowed
   */
  public record OfClusterQueue(
      Optional<QueueingStrategy> strategy,
      QueueRules rules,
      Optional<Duration> startTimeout,
      Duration startBackoff,
      Optional<PriorityAging> aging,
      Map<String, String> faults) {}

  /**
   * What the annotations of a Cohort say.
   *
   * @param faults by annotation, what is wrong with its value and what is allowed
   */
  public record OfCohort(QuotaRules rules, Map<String, String> faults) {}

  /**
   * What the annotations of a LocalQueue say.
   *
   * @param maxWorkloads the most Workloads that may have quota reserved; empty: no limit
   * @param faults by annotation, what is wrong with its value and what is allowed
   */
  public record OfLocalQueue(OptionalInt maxWorkloads, Map<String, String> faults) {}

  /**
   * What the annotations of a WorkloadPriorityClass say.
   *
   * @param faults by annotation, what is wrong with its value and what is allowed
   */
  public record OfPriorityClass(PreemptionRules rules, Map<String, String> faults) {}

  /** Reads the annotations of a ClusterQueue. */
  public static OfClusterQueue ofClusterQueue(@Nullable Map<String, String> annotations) {
    QueueAnnotations reader = new QueueAnnotations(annotations);
    Optional<QueueingStrategy> strategy = reader.read(STRATEGY, QueueAnnotations::strategy);
    reader.read(LOCAL_QUEUE, QueueAnnotations::name);
    reader.checkRunTimes();
    reader.read(QuotaSchedule.ANNOTATION, QueueAnnotations::schedule);
    AttemptBackoff backoff =
        reader.read(ATTEMPT_BACKOFF, QueueAnnotations::backoff).orElse(AttemptBackoff.DEFAULT);
    int priority = reader.read(QUEUE_PRIORITY, QueueAnnotations::priority).orElse(0);
    QueueRules rules =
        new QueueRules(
            backoff,
            priority,
            reader.queueQuotaRules(),
            reader.read(PREEMPTIBLE_LABELS, QueueAnnotations::flag).orElse(false),
            reader.read(BLOCK_UNTIL_READY, QueueAnnotations::flag).orElse(false),
            reader.backfillRules(),
            reader.cheapestFirst(),
            Optional.empty());
    return new OfClusterQueue(
        strategy,
        rules,
        reader.read(START_TIMEOUT, QueueAnnotations::atLeastOneSecond),
        reader
            .read(START_BACKOFF, QueueAnnotations::atLeastOneSecond)
            .orElse(DEFAULT_START_BACKOFF),
        reader.read(PRIORITY_AGING, QueueAnnotations::aging),
        reader.faults);
  }

  /** The LocalQueue that each namespace gets which a ClusterQueue selects; empty: none. */
  public static Optional<String> localQueue(@Nullable Map<String, String> annotations) {
    return new QueueAnnotations(annotations).read(LOCAL_QUEUE, QueueAnnotations::name);
  }

  /** Reads the annotations of a Cohort. */
  public static OfCohort ofCohort(@Nullable Map<String, String> annotations) {
    QueueAnnotations reader = new QueueAnnotations(annotations);
    return new OfCohort(
        reader.quotaRules().withPreemption(reader.preemptionRules(false)), reader.faults);
  }

  /** Reads the annotations of a WorkloadPriorityClass. */
  public static OfPriorityClass ofPriorityClass(@Nullable Map<String, String> annotations) {
    QueueAnnotations reader = new QueueAnnotations(annotations);
    boolean exempt = reader.read(MIN_RUN_TIME_EXEMPT, QueueAnnotations::flag).orElse(false);
    return new OfPriorityClass(reader.preemptionRules(exempt), reader.faults);
  }

  /** Reads the annotations of a LocalQueue. */
  public static OfLocalQueue ofLocalQueue(@Nullable Map<String, String> annotations) {
    QueueAnnotations reader = new QueueAnnotations(annotations);
    reader.checkRunTimes();
    return new OfLocalQueue(reader.maxWorkloads(), reader.faults);
  }

  /** One sentence per fault, with annotation, value and what is allowed. */
  public static List<String> sentences(
      Map<String, String> faults, @Nullable Map<String, String> annotations) {
    List<String> sentences = new ArrayList<>();
    faults.forEach(
        (annotation, allowed) ->
            sentences.add(
                "metadata.annotations[%s]: \"%s\" must be %s"
                    .formatted(
                        annotation,
                        annotations == null ? "" : annotations.getOrDefault(annotation, ""),
                        allowed)));
    return sentences;
  }

  /** {@link RunTimeAnnotations} reads the values. */
  private void checkRunTimes() {
    read(RunTimeAnnotations.DEFAULT, value -> runTime(value, RunTimeAnnotations.RULE));
    read(RunTimeAnnotations.MAX, QueueAnnotations::limit);
  }

  private QuotaRules quotaRules() {
    return new QuotaRules(
        read(OVERSELL_RATE, QueueAnnotations::rate).orElse(BigDecimal.ONE), maxWorkloads());
  }

  private QuotaRules queueQuotaRules() {
    QuotaRules rules = quotaRules();
    return new QuotaRules(
        rules.oversellRate(),
        rules.maxWorkloads(),
        read(COHORT_GUARANTEE, QueueAnnotations::flag).orElse(false),
        preemptionRules(false));
  }

  private PreemptionRules preemptionRules(boolean exempt) {
    return new PreemptionRules(
        read(MIN_RUN_TIME, QueueAnnotations::durationFromZero),
        read(MAX_PREEMPTIONS, QueueAnnotations::preemptionLimit),
        read(PREEMPTION_DELAY, QueueAnnotations::durationFromZero),
        read(CHECKPOINT_GRACE, QueueAnnotations::durationFromZero),
        exempt,
        Optional.empty());
  }

  private Optional<BackfillRules> backfillRules() {
    int depth = read(BACKFILL, QueueAnnotations::depth).orElse(0);
    UnknownRunTime unknown =
        read(BACKFILL_UNKNOWN_RUN_TIME, QueueAnnotations::unknownRunTime)
            .orElse(UnknownRunTime.REFUSE);
    return depth == 0 ? Optional.empty() : Optional.of(new BackfillRules(depth, unknown));
  }

  private Optional<CheapestFirst> cheapestFirst() {
    boolean cheapest =
        read(CostAnnotations.FLAVOR_ORDER, QueueAnnotations::isCheapest).orElse(false);
    Optional<Duration> delay = read(CostAnnotations.MAX_DELAY, QueueAnnotations::durationFromZero);
    return cheapest ? Optional.of(new CheapestFirst(delay)) : Optional.empty();
  }

  private OptionalInt maxWorkloads() {
    Optional<Integer> most = read(MAX_WORKLOADS, QueueAnnotations::positiveInt);
    return most.isPresent() ? OptionalInt.of(most.get()) : OptionalInt.empty();
  }

  /**
   * The value of an annotation; empty if it is absent or wrong. The reader throws what is allowed.
   */
  private <T> Optional<T> read(String annotation, Function<String, T> reader) {
    String value = annotations.get(annotation);
    if (value == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(reader.apply(value));
    } catch (NotAllowedException e) {
      faults.put(annotation, e.allowed);
      return Optional.empty();
    }
  }

  private static final class NotAllowedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String allowed;

    NotAllowedException(String allowed) {
      super(allowed, null, false, false);
      this.allowed = allowed;
    }
  }

  private static QueueingStrategy strategy(String value) {
    return switch (value) {
      case "StrictPriority" -> QueueingStrategy.STRICT_PRIORITY;
      case "RoundRobin" -> QueueingStrategy.ROUND_ROBIN;
      default -> throw new NotAllowedException("StrictPriority or RoundRobin");
    };
  }

  private static QuotaSchedule schedule(String value) {
    try {
      return QuotaSchedule.parse(value);
    } catch (IllegalArgumentException e) {
      throw new NotAllowedException(Objects.requireNonNullElse(e.getMessage(), QuotaSchedule.RULE));
    }
  }

  private static boolean isCheapest(String value) {
    return switch (value) {
      case "Listed" -> false;
      case "Cheapest" -> true;
      default -> throw new NotAllowedException("Listed or Cheapest");
    };
  }

  private static int depth(String value) {
    if (value.equals("None")) {
      return 0;
    } else if (value.equals("HeadOnly")) {
      return 1;
    }
    Matcher matcher = DEPTH.matcher(value);
    int depth = matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
    if (depth < 1 || depth > BackfillRules.DEEPEST) {
      throw new NotAllowedException(
          "None, HeadOnly or Depth(n) with n from 1 to %d".formatted(BackfillRules.DEEPEST));
    }
    return depth;
  }

  /** The value of an annotation by which a ClusterQueue asks for this. */
  public static String nameOf(UnknownRunTime unknown) {
    return switch (unknown) {
      case REFUSE -> "Refuse";
      case USE_LIMIT -> "UseLimit";
      case USE_LEARNED -> "UseLearned";
    };
  }

  private static UnknownRunTime unknownRunTime(String value) {
    return Arrays.stream(UnknownRunTime.values())
        .filter(unknown -> nameOf(unknown).equals(value))
        .findFirst()
        .orElseThrow(() -> new NotAllowedException("Refuse, UseLimit or UseLearned"));
  }

  private static AttemptBackoff backoff(String value) {
    String allowed = "two durations, the shorter one first and both above 0, such as 1s,20s";
    String[] parts = value.split(",", -1);
    if (parts.length != 2) {
      throw new NotAllowedException(allowed);
    }
    Duration base = duration(parts[0], allowed);
    Duration max = duration(parts[1], allowed);
    if (base.compareTo(max) > 0) {
      throw new NotAllowedException(allowed);
    }
    return new AttemptBackoff(base, max);
  }

  private static PriorityAging aging(String value) {
    String[] parts = value.split(",", 4);
    if (parts.length != 3) {
      throw new NotAllowedException(AGING);
    }
    Duration interval = duration(parts[0], AGING);
    int step = aging(parts[1], 1);
    if (interval.compareTo(SHORTEST_AGING) < 0) {
      throw new NotAllowedException(AGING);
    }
    return new PriorityAging(interval, step, aging(parts[2], step));
  }

  private static int aging(String value, int least) {
    int number = number(value, AGING);
    if (number < least) {
      throw new NotAllowedException(AGING);
    }
    return number;
  }

  private static Duration runTime(String value, String allowed) {
    return RunTimeAnnotations.parse(value).orElseThrow(() -> new NotAllowedException(allowed));
  }

  private static Duration limit(String value) {
    Duration limit = runTime(value, RunTimeAnnotations.LIMIT_RULE);
    if (limit.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new NotAllowedException(RunTimeAnnotations.LIMIT_RULE);
    }
    return limit;
  }

  private static Duration atLeastOneSecond(String value) {
    String allowed = "a duration of at least 1s, such as 5m";
    Duration duration = duration(value, allowed);
    if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new NotAllowedException(allowed);
    }
    return duration;
  }

  private static Duration durationFromZero(String value) {
    return value.equals("0") || value.equals("0s")
        ? Duration.ZERO
        : duration(value, "a duration from 0s to 87600h, such as 30m");
  }

  private static PreemptionLimit preemptionLimit(String value) {
    String allowed =
        "a number of preemptions from 1 to %d and a duration, such as 3/24h"
            .formatted(MOST_PREEMPTIONS);
    String[] parts = value.split("/", -1);
    if (parts.length != 2) {
      throw new NotAllowedException(allowed);
    }
    int preemptions = number(parts[0].strip(), allowed);
    if (preemptions < 1 || preemptions > MOST_PREEMPTIONS) {
      throw new NotAllowedException(allowed);
    }
    return new PreemptionLimit(preemptions, duration(parts[1], allowed));
  }

  private static Duration duration(String value, String allowed) {
    if (value.length() > 40) {
      throw new NotAllowedException(allowed);
    }
    try {
      Duration duration = GoDuration.parse(value.strip());
      if (duration.isPositive() && duration.compareTo(Duration.ofDays(3650)) <= 0) {
        return duration;
      }
    } catch (IllegalArgumentException e) {
      throw new NotAllowedException(allowed);
    }
    throw new NotAllowedException(allowed);
  }

  private static int priority(String value) {
    return number(value, "a whole number from -2147483648 to 2147483647");
  }

  private static int positiveInt(String value) {
    int number = number(value, POSITIVE_INT);
    if (number < 1) {
      throw new NotAllowedException(POSITIVE_INT);
    }
    return number;
  }

  private static int number(String value, String allowed) {
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new NotAllowedException(allowed);
    }
  }

  private static String name(String value) {
    if (value.length() > LONGEST_NAME || !NAME.matcher(value).matches()) {
      throw new NotAllowedException(
          "the name of a LocalQueue: lower case letters, digits, - and ., at most 253");
    }
    return value;
  }

  private static boolean flag(String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new NotAllowedException("true or false");
    };
  }

  private static BigDecimal rate(String value) {
    String allowed = "a decimal number from 1 to 1000, such as 1.5";
    if (!value.matches("\\d{1,4}(\\.\\d{1,6})?")) {
      throw new NotAllowedException(allowed);
    }
    BigDecimal rate = new BigDecimal(value);
    if (rate.compareTo(BigDecimal.ONE) < 0 || rate.compareTo(BigDecimal.valueOf(1000)) > 0) {
      throw new NotAllowedException(allowed);
    }
    return rate;
  }

  /**
   * How the priority of a Workload grows while it waits (docs/queueing-policies.md#ageing): in
   * steps, so that Workloads of the same age have the same priority.
   *
   * @param interval after which a Workload has one step more, above 0
   * @param step what is added to its priority each time, at least 1
   * @param limit the most that is added, at least the step
   */
  public record PriorityAging(Duration interval, int step, int limit) {

    /** What a Workload has that has waited for this long; 0 before the first step. */
    public int boost(Duration waited) {
      return (int) Math.min(limit, Math.min(steps(waited), limit) * step);
    }

    /** When a Workload that waits since {@code begin} has the next step. */
    public Instant next(Instant begin, Instant now) {
      return begin.plus(interval.multipliedBy(steps(Duration.between(begin, now)) + 1));
    }

    private long steps(Duration waited) {
      return Math.max(0, waited.dividedBy(interval));
    }
  }
}
