package dev.sluice.visibility;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.EarlierLocalQueues;
import dev.sluice.core.engine.SchedulerQueries.Holder;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FlavorAttempt;
import dev.sluice.core.model.FlavorRejection;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.WorkloadId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExplanationTextTest {

  private static final FlavorAttempt SHORT =
      new FlavorAttempt(
          "main",
          "on-demand",
          0,
          List.of(
              new FlavorRejection.InsufficientQuota("cpu", 5000, 2500, 10_000),
              new FlavorRejection.ExceedsMaximum("memory", 8L << 30, 1L << 30)));
  private static final FlavorAttempt TAINTED =
      new FlavorAttempt(
          "main",
          "spot",
          0,
          List.of(new FlavorRejection.UntoleratedTaint(new Taint("spot", "true", "NoSchedule"))));

  @Test
  void theMessageNamesEveryFlavorAndWhatItLacked() {
    assertThat(message(PendingReason.WAITING_FOR_QUOTA, SHORT, TAINTED))
        .isEqualTo(
            "pod set main: flavor on-demand: cpu: 5 requested, 2.5 available of 10, 2.5"
                + " missing, memory: 8Gi requested, more than the maximum of 1Gi; flavor spot:"
                + " taint spot=true:NoSchedule is not tolerated | the preemption policies of this"
                + " ClusterQueue don't cover what is missing");
  }

  @Test
  void theMessageSaysWhatCameOfPreemptionWhereItWasTried() {
    Explanation tried =
        new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(SHORT), "nobody may be evicted");

    assertThat(ExplanationText.message(tried))
        .startsWith("nobody may be evicted | pod set main: flavor on-demand: cpu: 5 requested")
        .doesNotContain("preemption policies");
  }

  @Test
  void theMessageSaysWhichPriceOrDelayKeepsAFlavorFromBeingTaken() {
    FlavorAttempt dear =
        new FlavorAttempt(
            "main",
            "a",
            0,
            List.of(
                new FlavorRejection.DearerThanMax(new BigDecimal("4.00"), new BigDecimal("3.5"))));
    FlavorAttempt patient =
        new FlavorAttempt(
            "main",
            "safe",
            0,
            List.of(
                new FlavorRejection.WaitsForCheaper(
                    "spot",
                    Instant.parse("2026-01-01T01:01:01Z"),
                    Instant.parse("2026-01-01T02:00:00Z"))));

    assertThat(message(PendingReason.NO_MATCHING_FLAVOR, dear, patient))
        .contains("flavor a: costs 4 an hour, more than the 3.5 of sluice.dev/max-price")
        .contains(
            "flavor safe: fits, but flavor spot is cheaper and expected to be free at"
                + " 2026-01-01T01:01:01Z; it waits for that until 2026-01-01T02:00:00Z at the"
                + " latest (sluice.dev/max-delay-for-cheaper)");
  }

  @Test
  void theMessageSaysSoWhereNoFlavorCouldBeTried() {
    FlavorAttempt uncovered =
        new FlavorAttempt("main", "", 0, List.of(new FlavorRejection.ResourceNotCovered("gpu", 2)));

    assertThat(message(PendingReason.NO_MATCHING_FLAVOR, uncovered))
        .isEqualTo("pod set main: the ClusterQueue has no quota for gpu, 2 requested");
  }

  @Test
  void theMessageIsNeverEmptyNorTooLong() {
    Explanation bare = new Explanation(PendingReason.SUSPENDED, List.of(), "");
    Explanation told = new Explanation(PendingReason.MISCONFIGURED, List.of(), "y".repeat(40_000));

    assertThat(ExplanationText.message(bare)).isEqualTo("Suspended");
    assertThat(ExplanationText.message(told)).hasSize(32768);
  }

  /** Changes of 0.20, section 7: event Admitted has the time since the reservation. */
  @Test
  void theReservationTellsTheFlavorsThatWereConsidered() {
    FlavorAttempt borrowed = new FlavorAttempt("workers", "spot", 1, List.of());
    FlavorAttempt plain = new FlavorAttempt("driver", "spot", 0, List.of());

    assertThat(
            ExplanationText.quotaReserved(
                "cq", Duration.ofMillis(2900), List.of(TAINTED, plain, borrowed)))
        .isEqualTo(
            "Quota reserved in ClusterQueue cq, wait time since queued was 2s; Flavors considered:"
                + " main: spot(NoFit;taint spot=true:NoSchedule is not tolerated) | workers:"
                + " spot(Fit;borrow=1)");
    assertThat(ExplanationText.quotaReserved("cq", Duration.ZERO, List.of(plain)))
        .isEqualTo("Quota reserved in ClusterQueue cq, wait time since queued was 0s");
    assertThat(ExplanationText.admitted("cq", Duration.ofSeconds(1)))
        .isEqualTo("Admitted by ClusterQueue cq, wait time since reservation was 1s");
  }

  @Test
  void atLengthItTellsPositionObstaclesAndHolders() {
    PendingReport waiting =
        new PendingReport(
            new PendingPosition(
                new WorkloadId("u", "team", "wl"), "lq", 50, Instant.EPOCH, 3, 1, true),
            "cq",
            Optional.of(new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(SHORT), "")),
            List.of(
                new Holder(
                    new WorkloadId("v", "other", "big"),
                    "cq2",
                    new FlavorResource("on-demand", "cpu"),
                    7500)));

    assertThat(ExplanationText.lines(waiting))
        .containsExactly(
            "position 4 in ClusterQueue cq, 2 in LocalQueue lq (1 is next), priority 50",
            "WaitingForQuota",
            "inadmissible: it is evaluated again when quota that it lacks is released or changed",
            "pod set main, flavor on-demand: cpu: 5 requested, 2.5 available of 10, 2.5"
                + " missing, memory: 8Gi requested, more than the maximum of 1Gi",
            "the preemption policies of this ClusterQueue don't cover what is missing",
            "other/big in ClusterQueue cq2 holds 7500m cpu of flavor on-demand");
  }

  @Test
  void itTellsWhoseTurnItIsWhereLocalQueuesTakeTurns() {
    PendingPosition position =
        new PendingPosition(
            new WorkloadId("u", "team", "wl"), "busy", 0, Instant.EPOCH, 3, 0, false);
    LocalQueueId idle = new LocalQueueId("team", "idle");

    assertThat(ExplanationText.lines(waiting(position, new EarlierLocalQueues(3.25, idle, 0.5, 1))))
        .contains(
            "LocalQueue busy used more than another one: 3.250, against 0.500 of LocalQueue"
                + " team/idle, which comes first");
    assertThat(
            ExplanationText.lines(
                waiting(position, new EarlierLocalQueues(Double.POSITIVE_INFINITY, idle, 0, 2))))
        .contains(
            "LocalQueue busy used more than 2 others: without bounds, against 0.000 of LocalQueue"
                + " team/idle, which comes first");
  }

  private static PendingReport waiting(
      PendingPosition position, EarlierLocalQueues earlierLocalQueues) {
    return new PendingReport(
        position, "cq", Optional.empty(), List.of(), Optional.of(earlierLocalQueues));
  }

  private static String message(PendingReason reason, FlavorAttempt... attempts) {
    return ExplanationText.message(new Explanation(reason, List.of(attempts), ""));
  }
}
