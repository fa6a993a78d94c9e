package dev.sluice.ledger;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What one version of a Workload says about its use of quota (docs/ledger.md#how-rows-come-to-be).
 *
 * @param workload names the Workload, as {@link AttemptReader#key} does
 * @param version the resourceVersion; an observation is of use only if it is later than the last
 * @param observedAt when the version was read
 * @param reservation the quota that is reserved, or was until it was released; empty if none is,
 *     and the observer doesn't know which was
 * @param ending how the attempt ended; empty while quota is reserved
 */
record AttemptObservation(
    String workload,
    long version,
    Instant observedAt,
    Optional<Reservation> reservation,
    Optional<Ending> ending) {

  /** What was said before the end. */
  AttemptObservation withoutEnding() {
    return new AttemptObservation(workload, version, observedAt, reservation, Optional.empty());
  }

  /**
   * Reserved quota.
   *
   * @param reservedAt the transition of QuotaReserved to True
   * @param readyAt when the pods were ready, else the admission; empty while they aren't
   * @param wasReady whether the pods were ready, whatever they are now
   * @param checkpointedAt when the job last saved its work, as its owner says
   */
  record Reservation(
      Holder holder,
      Instant reservedAt,
      Optional<Instant> readyAt,
      boolean wasReady,
      Optional<Instant> checkpointedAt,
      List<Amount> amounts) {

    Reservation {
      amounts = List.copyOf(amounts);
    }
  }

  /**
   * Who uses quota.
   *
   * @param cohortPath the cohorts of the ClusterQueue from the root on, with slashes between them
   * @param labels those labels of the Workload that the ledger keeps
   */
  record Holder(
      String namespace,
      String workload,
      String localQueue,
      String clusterQueue,
      String cohortPath,
      String ownerKind,
      String ownerName,
      Map<String, String> labels) {

    Holder {
      labels = Map.copyOf(labels);
    }

    /** The same without what tells the Workloads of a group of sums apart, and without labels. */
    Holder ofGroup() {
      return new Holder(
          namespace, "", localQueue, clusterQueue, cohortPath, ownerKind, "", Map.of());
    }

    /** The same with other labels. */
    Holder with(Map<String, String> others) {
      return new Holder(
          namespace, workload, localQueue, clusterQueue, cohortPath, ownerKind, ownerName, others);
    }
  }

  /**
   * An amount of a resource of a flavor, in the unit of the engine's amounts.
   *
   * @param baseline what its cost is compared with; empty if there is nothing to compare it with
   */
  record Amount(String flavor, String resource, long amount, Optional<Baseline> baseline) {

    /** One that is compared with nothing. */
    Amount(String flavor, String resource, long amount) {
      this(flavor, resource, amount, Optional.empty());
    }
  }

  /**
   * The end of an attempt.
   *
   * @param at when quota was released
   * @param reason the reason of the condition that says so; may be empty
   */
  record Ending(Instant at, Outcome outcome, String reason) {}

  /** How an attempt ended. */
  enum Outcome {
    /** The job succeeded. */
    SUCCEEDED("Succeeded"),
    /** The job failed. */
    FAILED("Failed"),
    /** The Workload lost its quota. */
    EVICTED("Evicted"),
    /** The Workload finished in another way, such as a slice that another one replaced. */
    STOPPED("Stopped"),
    /** The Workload was deleted while it had quota. */
    DELETED("Deleted");

    private final String text;

    Outcome(String text) {
      this.text = text;
    }

    /** The word in rows. */
    String text() {
      return text;
    }

    /** The outcome of a word; STOPPED for one that isn't known. */
    static Outcome of(String text) {
      for (Outcome each : values()) {
        if (each.text.equals(text)) {
          return each;
        }
      }
      return STOPPED;
    }
  }
}
