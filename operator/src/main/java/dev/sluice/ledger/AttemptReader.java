package dev.sluice.ledger;

import dev.sluice.api.Quantities;
import dev.sluice.api.queueing.CheckpointAnnotations;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.Owner;
import dev.sluice.workload.status.PodsReady;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Reads observations from versions of Workloads: a function of the version, so that every process
 * reads the same (docs/ledger.md#how-rows-come-to-be). Whatever a status says gives an observation
 * or none. Thread-safe.
 */
public final class AttemptReader {

  private static final String QUOTA_RESERVED = "QuotaReserved";

  /** How many hexadecimal digits seconds since 1970 have in keys. */
  private static final int SECOND_DIGITS = 10;

  private static final int LONGEST = 253;
  private static final int LONGEST_PATH = 4096;

  private final Function<CachedWorkload, List<PodSetAssignment>> charged;
  private final Predicate<CachedWorkload> parents;
  private final Function<String, String> cohortPaths;
  private final Set<String> labelKeys;
  private final BiFunction<String, FlavorResource, Optional<Baseline>> baselines;

  /**
   * A reader.
   *
   * @param charged what the engine counts of a Workload that has quota: rows count the same
   * @param parents which Workloads have variants that are charged for them
   * @param cohortPaths the cohorts of a ClusterQueue, from the root on, with slashes between them
   * @param labelKeys the labels that rows keep
   * @param baselines what the cost of a ClusterQueue's use is compared with
   */
  public AttemptReader(
      Function<CachedWorkload, List<PodSetAssignment>> charged,
      Predicate<CachedWorkload> parents,
      Function<String, String> cohortPaths,
      Set<String> labelKeys,
      BiFunction<String, FlavorResource, Optional<Baseline>> baselines) {
    this.charged = charged;
    this.parents = parents;
    this.baselines = baselines;
    this.cohortPaths = cohortPaths;
    this.labelKeys = Set.copyOf(labelKeys);
  }

  /** Whether a Workload has quota, or had it when it finished. */
  static boolean holds(CachedWorkload workload) {
    return workload.quotaReserved() && workload.status().admission().isPresent();
  }

  /** Whether a Workload finished before a time. */
  static boolean finishedBefore(CachedWorkload workload, Instant time) {
    return workload.finished()
        && workload
            .status()
            .condition("Finished")
            .filter(finished -> finished.lastTransitionTime().isBefore(time))
            .isPresent();
  }

  /**
   * Names a Workload: the second of its creation and its UID. UIDs come in no order; with keys that
   * begin with a time, what is written at a time is near each other in an index.
   */
  static String key(CachedWorkload workload) {
    return HexFormat.of().toHexDigits(workload.createdAt().getEpochSecond(), SECOND_DIGITS)
        + workload.id().uid();
  }

  /** The UID of a Workload with a key. */
  static String uid(String key) {
    return key.substring(Math.min(key.length(), SECOND_DIGITS));
  }

  /** What a version says. */
  AttemptObservation of(CachedWorkload workload, Instant observedAt) {
    return new AttemptObservation(
        key(workload),
        workload.version(),
        observedAt,
        reserved(workload, observedAt),
        ending(workload, observedAt));
  }

  private Optional<Reservation> reserved(CachedWorkload workload, Instant observedAt) {
    return holds(workload) ? Optional.of(reservation(workload, observedAt)) : Optional.empty();
  }

  /** Whether a version says what was observed of another one. */
  boolean says(CachedWorkload workload, AttemptObservation observation) {
    // the end is compared first: it differs mostly, and what is counted costs more
    return ending(workload, observation.observedAt()).equals(observation.ending())
        && reserved(workload, observation.observedAt()).equals(observation.reservation());
  }

  /** What a version says that has lost the quota of the version before. */
  AttemptObservation released(CachedWorkload before, CachedWorkload after, Instant observedAt) {
    return new AttemptObservation(
        key(after),
        after.version(),
        observedAt,
        Optional.of(reservation(before, observedAt)),
        ending(after, observedAt));
  }

  /** The end of a Workload that was deleted while it had quota. */
  AttemptObservation gone(CachedWorkload last, Instant observedAt) {
    return new AttemptObservation(
        key(last),
        last.version(),
        observedAt,
        Optional.of(reservation(last, observedAt)),
        Optional.of(new Ending(observedAt, Outcome.DELETED, "")));
  }

  /** The end of a Workload that doesn't exist any more. */
  static AttemptObservation gone(String key, long lastVersion, Instant observedAt) {
    return new AttemptObservation(
        key,
        lastVersion,
        observedAt,
        Optional.empty(),
        Optional.of(new Ending(observedAt, Outcome.DELETED, "")));
  }

  private static Optional<Ending> ending(CachedWorkload workload, Instant observedAt) {
    if (workload.finished()) {
      Condition finished = workload.status().condition("Finished").orElseThrow();
      return Optional.of(
          new Ending(
              finished.lastTransitionTime(),
              switch (finished.reason()) {
                case "Succeeded" -> Outcome.SUCCEEDED;
                case "Failed" -> Outcome.FAILED;
                default -> Outcome.STOPPED;
              },
              text(finished.reason(), LONGEST)));
    }
    if (holds(workload)) {
      return Optional.empty();
    }
    Optional<Condition> released =
        workload
            .status()
            .condition(QUOTA_RESERVED)
            .filter(condition -> !condition.status().equals("True"));
    return Optional.of(
        new Ending(
            released.map(Condition::lastTransitionTime).orElse(observedAt),
            Outcome.EVICTED,
            text(
                workload
                    .status()
                    .condition("Evicted")
                    .or(() -> released)
                    .map(Condition::reason)
                    .orElse(""),
                LONGEST)));
  }

  private Reservation reservation(CachedWorkload workload, Instant observedAt) {
    String clusterQueue = workload.status().admission().orElseThrow().clusterQueue();
    Optional<Condition> podsReady = workload.status().condition(PodsReady.TYPE);
    return new Reservation(
        new Holder(
            text(workload.id().namespace(), LONGEST),
            text(workload.id().name(), LONGEST),
            text(workload.spec().queueName(), LONGEST),
            text(clusterQueue, LONGEST),
            text(cohortPaths.apply(clusterQueue), LONGEST_PATH),
            text(workload.owner().map(Owner::kind).orElse(""), LONGEST),
            text(workload.owner().map(Owner::name).orElse(""), LONGEST),
            labels(workload)),
        workload
            .status()
            .condition(QUOTA_RESERVED)
            .map(Condition::lastTransitionTime)
            .orElse(observedAt),
        readyAt(workload, podsReady),
        podsReady
            .filter(condition -> !condition.reason().equals(PodsReady.WAIT_FOR_START))
            .isPresent(),
        CheckpointAnnotations.checkpointedAt(workload.annotations()),
        workload.finished() && !parents.test(workload) ? assigned(workload) : counted(workload));
  }

  /** Without the condition PodsReady, pods count as ready from the admission on. */
  private static Optional<Instant> readyAt(CachedWorkload workload, Optional<Condition> podsReady) {
    Optional<Instant> admitted =
        workload.status().trueCondition("Admitted").map(Condition::lastTransitionTime);
    if (podsReady.isEmpty()) {
      return admitted;
    }
    return podsReady.filter(PodsReady::isStarted).map(Condition::lastTransitionTime);
  }

  /** What the engine counts. */
  private List<Amount> counted(CachedWorkload workload) {
    Map<String, Map<String, Long>> sums = new TreeMap<>();
    for (PodSetAssignment podSet : charged.apply(workload)) {
      podSet
          .usage()
          .forEach(
              (resource, amount) ->
                  add(sums, podSet.flavors().getOrDefault(resource, ""), resource, amount));
    }
    return amounts(workload, sums);
  }

  /**
   * What was assigned: it matters only for an attempt that nobody observed before its end, when its
   * pods are given back already.
   */
  private List<Amount> assigned(CachedWorkload workload) {
    Map<String, Map<String, Long>> sums = new TreeMap<>();
    for (Assignment assignment : workload.assignments()) {
      assignment
          .resourceUsage()
          .forEach(
              (resource, quantity) -> {
                try {
                  add(
                      sums,
                      assignment.flavors().getOrDefault(resource, ""),
                      resource,
                      Quantities.amount(resource, quantity));
                } catch (IllegalArgumentException e) {
                  // the engine counts an invalid quantity as zero, too
                  return;
                }
              });
    }
    return amounts(workload, sums);
  }

  private static void add(
      Map<String, Map<String, Long>> sums, String flavor, String resource, long amount) {
    if (amount != 0) {
      sums.computeIfAbsent(flavor, any -> new TreeMap<>())
          .merge(resource, amount, AttemptReader::sum);
    }
  }

  private static long sum(long a, long b) {
    long sum = a + b;
    return ((a ^ sum) & (b ^ sum)) < 0 ? Long.MAX_VALUE : sum;
  }

  private List<Amount> amounts(CachedWorkload workload, Map<String, Map<String, Long>> sums) {
    String clusterQueue = workload.status().admission().orElseThrow().clusterQueue();
    List<Amount> amounts = new ArrayList<>();
    sums.forEach(
        (flavor, resources) ->
            resources.forEach(
                (resource, amount) ->
                    amounts.add(
                        new Amount(
                            text(flavor, LONGEST),
                            text(resource, LONGEST),
                            amount,
                            baselines.apply(clusterQueue, new FlavorResource(flavor, resource))))));
    return amounts;
  }

  private Map<String, String> labels(CachedWorkload workload) {
    Map<String, String> kept = new HashMap<>(4);
    for (String key : labelKeys) {
      String value = workload.labels().get(key);
      if (value != null) {
        kept.put(key, text(value, LONGEST));
      }
    }
    return kept;
  }

  /** A text that a column can hold, whatever somebody wrote into a status. */
  private static String text(String text, int longest) {
    String cut = text.length() > longest ? text.substring(0, longest) : text;
    return cut.indexOf('\0') < 0 ? cut : cut.replace('\0', ' ');
  }
}
