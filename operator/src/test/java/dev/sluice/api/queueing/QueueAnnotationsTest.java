package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Annotations of queues as people write them: all that is right, and what is said of the rest. */
class QueueAnnotationsTest {

  @Test
  void aQueueWithoutAnnotationsHasNoRulesOfItsOwn() {
    var none = QueueAnnotations.ofClusterQueue(null);

    assertThat(none.rules()).isEqualTo(QueueRules.DEFAULT);
    assertThat(none.strategy()).isEmpty();
    assertThat(none.startTimeout()).isEmpty();
    assertThat(none.faults()).isEmpty();
  }

  @Test
  void allAreRead() {
    var all =
        QueueAnnotations.ofClusterQueue(
            Map.of(
                QueueAnnotations.STRATEGY, "RoundRobin",
                QueueAnnotations.ATTEMPT_BACKOFF, "500ms,1m",
                QueueAnnotations.QUEUE_PRIORITY, "-3",
                QueueAnnotations.MAX_WORKLOADS, "7",
                QueueAnnotations.OVERSELL_RATE, "1.50",
                QueueAnnotations.PREEMPTIBLE_LABELS, "true",
                QueueAnnotations.COHORT_GUARANTEE, "true",
                QueueAnnotations.BLOCK_UNTIL_READY, "true",
                QueueAnnotations.START_TIMEOUT, "10m",
                QueueAnnotations.START_BACKOFF, "90s"));

    assertThat(all.faults()).isEmpty();
    assertThat(all.strategy()).contains(QueueingStrategy.ROUND_ROBIN);
    assertThat(all.rules().attemptBackoff())
        .isEqualTo(new AttemptBackoff(Duration.ofMillis(500), Duration.ofMinutes(1)));
    assertThat(all.rules().priority()).isEqualTo(-3);
    assertThat(all.rules().quota().maxWorkloads()).isEqualTo(OptionalInt.of(7));
    assertThat(all.rules().quota().oversellRate()).isEqualByComparingTo("1.5");
    assertThat(all.rules().countsPreemptible()).isTrue();
    assertThat(all.rules().quota().cohortGuarantee()).isTrue();
    assertThat(all.rules().blocksUntilReady()).isTrue();
    assertThat(all.startTimeout()).contains(Duration.ofMinutes(10));
    assertThat(all.startBackoff()).isEqualTo(Duration.ofSeconds(90));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sluice.dev/queueing-strategy | round-robin | StrictPriority or RoundRobin",
        "sluice.dev/backfill | Depth(0) | None, HeadOnly or Depth(n) with n from 1 to 100",
        "sluice.dev/backfill | Depth(101) | None, HeadOnly or Depth(n) with n from 1 to 100",
        "sluice.dev/backfill | Depth(99999999999) | None, HeadOnly or Depth(n) with n from 1 to"
            + " 100",
        "sluice.dev/backfill | headOnly | None, HeadOnly or Depth(n) with n from 1 to 100",
        "sluice.dev/backfill-unknown-run-time | Guess | Refuse, UseLimit or UseLearned",
        "sluice.dev/attempt-backoff | 1s | two durations, the shorter one first and both above 0,"
            + " such as 1s,20s",
        "sluice.dev/attempt-backoff | 20s,1s | two durations, the shorter one first and both above"
            + " 0, such as 1s,20s",
        "sluice.dev/attempt-backoff | 0s,1s | two durations, the shorter one first and both above"
            + " 0, such as 1s,20s",
        "sluice.dev/priority-aging | 9s,10,100 | a duration of at least 10s, a step from 1, and the"
            + " most that is added, at least the step, such as 1h,10,100",
        "sluice.dev/priority-aging | 1h,10 | a duration of at least 10s, a step from 1, and the"
            + " most that is added, at least the step, such as 1h,10,100",
        "sluice.dev/priority-aging | 1h,0,1 | a duration of at least 10s, a step from 1, and the"
            + " most that is added, at least the step, such as 1h,10,100",
        "sluice.dev/priority-aging | 1h,10,9 | a duration of at least 10s, a step from 1, and the"
            + " most that is added, at least the step, such as 1h,10,100",
        "sluice.dev/priority-aging | 1h,1,2,3 | a duration of at least 10s, a step from 1, and the"
            + " most that is added, at least the step, such as 1h,10,100",
        "sluice.dev/queue-priority | 2147483648 | a whole number from -2147483648 to 2147483647",
        "sluice.dev/max-concurrent-workloads | 0 | a whole number from 1 to 2147483647",
        "sluice.dev/max-concurrent-workloads | many | a whole number from 1 to 2147483647",
        "sluice.dev/start-timeout | 5 | a duration of at least 1s, such as 5m",
        "sluice.dev/start-timeout | -5m | a duration of at least 1s, such as 5m",
        "sluice.dev/start-backoff | 999ms | a duration of at least 1s, such as 5m",
        "sluice.dev/start-backoff | 999999999999h | a duration of at least 1s, such as 5m",
        "sluice.dev/block-until-ready | yes | true or false",
        "sluice.dev/preemptible-labels | True | true or false",
        "sluice.dev/oversell-rate | 0.9 | a decimal number from 1 to 1000, such as 1.5",
        "sluice.dev/oversell-rate | 1e9 | a decimal number from 1 to 1000, such as 1.5",
        "sluice.dev/default-run-time | 0s | a duration above 0 and of at most 87600h, such as 90m",
        "sluice.dev/default-run-time | 87600h1s | a duration above 0 and of at most 87600h, such as"
            + " 90m",
        "sluice.dev/max-run-time | 999ms | a duration of at least 1s and of at most 87600h, such as"
            + " 8h",
        "sluice.dev/max-run-time | long | a duration of at least 1s and of at most 87600h, such as"
            + " 8h",
        "sluice.dev/min-run-time | -1s | a duration from 0s to 87600h, such as 30m",
        "sluice.dev/min-run-time | 87601h | a duration from 0s to 87600h, such as 30m",
        "sluice.dev/preemption-delay | soon | a duration from 0s to 87600h, such as 30m",
        "sluice.dev/checkpoint-grace | -1s | a duration from 0s to 87600h, such as 30m",
        "sluice.dev/max-preemptions | 3 | a number of preemptions from 1 to 100 and a duration,"
            + " such as 3/24h",
        "sluice.dev/max-preemptions | 0/24h | a number of preemptions from 1 to 100 and a duration,"
            + " such as 3/24h",
        "sluice.dev/max-preemptions | 101/1h | a number of preemptions from 1 to 100 and a"
            + " duration, such as 3/24h",
        "sluice.dev/max-preemptions | 3/0s | a number of preemptions from 1 to 100 and a duration,"
            + " such as 3/24h",
        "sluice.dev/oversell-rate | 1000.1 | a decimal number from 1 to 1000, such as 1.5"
      })
  void aWrongValueCountsAsAbsentAndIsReported(String annotation, String value, String allowed) {
    Map<String, String> annotations = Map.of(annotation, value);

    var read = QueueAnnotations.ofClusterQueue(annotations);

    assertThat(read.rules()).isEqualTo(QueueRules.DEFAULT);
    assertThat(read.strategy()).isEmpty();
    assertThat(read.startTimeout()).isEmpty();
    assertThat(read.faults()).containsExactly(Map.entry(annotation, allowed));
    assertThat(QueueAnnotations.sentences(read.faults(), annotations))
        .containsExactly(
            "metadata.annotations[%s]: \"%s\" must be %s".formatted(annotation, value, allowed));
  }

  @Test
  void rulesOfPreemptionAreReadOfQueuesCohortsAndPriorityClasses() {
    Map<String, String> annotations =
        Map.of(
            QueueAnnotations.MIN_RUN_TIME, "30m",
            QueueAnnotations.MAX_PREEMPTIONS, "3/24h",
            QueueAnnotations.PREEMPTION_DELAY, "0s",
            QueueAnnotations.CHECKPOINT_GRACE, "2m",
            QueueAnnotations.MIN_RUN_TIME_EXEMPT, "true");
    PreemptionRules rules =
        new PreemptionRules(
            Optional.of(Duration.ofMinutes(30)),
            Optional.of(new PreemptionLimit(3, Duration.ofHours(24))),
            Optional.of(Duration.ZERO),
            Optional.of(Duration.ofMinutes(2)),
            false,
            Optional.empty());

    assertThat(QueueAnnotations.ofClusterQueue(annotations).rules().quota().preemption())
        .isEqualTo(rules);
    assertThat(QueueAnnotations.ofCohort(annotations).rules().preemption()).isEqualTo(rules);
    assertThat(QueueAnnotations.ofPriorityClass(annotations).rules())
        .isEqualTo(
            new PreemptionRules(
                rules.minRunTime(),
                rules.maxPreemptions(),
                rules.delay(),
                rules.checkpointGrace(),
                true,
                Optional.empty()));
    assertThat(
            QueueAnnotations.ofPriorityClass(Map.of(QueueAnnotations.MIN_RUN_TIME_EXEMPT, "yes"))
                .faults())
        .containsExactly(Map.entry(QueueAnnotations.MIN_RUN_TIME_EXEMPT, "true or false"));
  }

  @Test
  void cohortsAndLocalQueuesReadOnlyTheirOwn() {
    Map<String, String> annotations =
        Map.of(QueueAnnotations.MAX_WORKLOADS, "x", QueueAnnotations.OVERSELL_RATE, "x");

    assertThat(QueueAnnotations.ofCohort(annotations).faults()).hasSize(2);
    assertThat(QueueAnnotations.ofLocalQueue(annotations).faults())
        .containsOnlyKeys(QueueAnnotations.MAX_WORKLOADS);
    Map<String, String> runTimes =
        Map.of(RunTimeAnnotations.DEFAULT, "x", RunTimeAnnotations.MAX, "x");
    assertThat(QueueAnnotations.ofLocalQueue(runTimes).faults()).hasSize(2);
    assertThat(QueueAnnotations.ofCohort(runTimes).faults()).isEmpty();
  }

  @Test
  void theFirstLabelThatIsPresentSaysWhetherAJobIsGuaranteed() {
    String first = PreemptibleLabels.KEYS.getFirst();
    String second = PreemptibleLabels.KEYS.getLast();

    assertThat(PreemptibleLabels.isGuaranteed(Map.of())).isFalse();
    assertThat(PreemptibleLabels.isGuaranteed(Map.of(first, "false"))).isTrue();
    assertThat(PreemptibleLabels.isGuaranteed(Map.of(second, "false"))).isTrue();
    assertThat(PreemptibleLabels.isGuaranteed(Map.of(first, "true", second, "false"))).isFalse();
    assertThat(PreemptibleLabels.isGuaranteed(Map.of(first, "no"))).isFalse();
  }
}
