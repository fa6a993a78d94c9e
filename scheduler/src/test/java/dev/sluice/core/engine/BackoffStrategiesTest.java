package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Strategies that let a Workload pause after an attempt in vain (docs/queueing-policies.md). */
class BackoffStrategiesTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  @BeforeEach
  void oneFlavor() {
    schedulerFixture.flavor("f");
  }

  private void queue(String name, String cohort, QueueingStrategy strategy, long nominal) {
    schedulerFixture.queue(name, cohort, strategy, QueueRules.DEFAULT, quota("f", nominal));
  }

  @Test
  void aRoundRobinQueueGoesOnToTheNextAndTriesTheFirstAgainAfterAPause() {
    queue("q", "", QueueingStrategy.ROUND_ROBIN, 4);
    schedulerFixture.submit("running", "q", 3, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("big", "q", 4, 9, 1);
    schedulerFixture.submit("small", "q", 1, 0, 2);

    assertThat(schedulerFixture.admitted()).containsExactly("small");

    // quota that is released doesn't end the pause
    schedulerFixture.finish("running");
    schedulerFixture.finish("small");
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.passed(Duration.ofMillis(999));
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.passed(Duration.ofMillis(1000));
    assertThat(schedulerFixture.admitted()).containsExactly("big");
  }

  @Test
  void pausesDoubleUpToTheMaximum() {
    schedulerFixture.queue(
        "q",
        "",
        QueueingStrategy.ROUND_ROBIN,
        QueueRules.DEFAULT.withAttemptBackoff(
            new AttemptBackoff(Duration.ofSeconds(2), Duration.ofSeconds(5))),
        quota("f", 4));
    schedulerFixture.submit("running", "q", 3, 0, 0);
    schedulerFixture.submit("big", "q", 4, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("running");

    // attempts at 0, 2, 6, 11, 16
    for (int second : new int[] {2, 6, 11}) {
      schedulerFixture.passed(Duration.ofSeconds(second));
      assertThat(schedulerFixture.engine.cycle()).as("attempt at %s", second).isTrue();
      assertThat(schedulerFixture.engine.cycle()).isFalse();
    }
    schedulerFixture.finish("running");
    schedulerFixture.passed(Duration.ofMillis(15_999));
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.passed(Duration.ofSeconds(16));
    assertThat(schedulerFixture.admitted()).containsExactly("big");
  }

  @Test
  void aReleaseInAStrictPriorityQueueLetsTheFirstBeTriedBeforeAnyOther() {
    queue("q", "", QueueingStrategy.STRICT_PRIORITY, 4);
    schedulerFixture.submit("running", "q", 3, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("big", "q", 4, 9, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();

    // when a small one comes in the same moment in which quota is released
    schedulerFixture.submit("small", "q", 1, 0, 2);
    schedulerFixture.finish("running");

    assertThat(schedulerFixture.admitted()).containsExactly("big");
  }

  @Test
  void aReleaseInAnotherQueueEndsNoPause() {
    queue("q", "co", QueueingStrategy.STRICT_PRIORITY, 2);
    queue("other", "co", QueueingStrategy.BEST_EFFORT_FIFO, 2);
    schedulerFixture.submit("running", "other", 2, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("big", "q", 4, 0, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.finish("running");

    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.passed(Duration.ofSeconds(1));
    assertThat(schedulerFixture.admitted()).containsExactly("big");
  }

  @Test
  void aReleaseDoesNotEndTheBackoffOfAStart() {
    queue("q", "", QueueingStrategy.STRICT_PRIORITY, 4);
    schedulerFixture.submit("running", "q", 3, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submitResting("late", "q", 1, SchedulerFixture.START.plusSeconds(60));

    schedulerFixture.finish("running");

    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.passed(Duration.ofSeconds(60));
    assertThat(schedulerFixture.admitted()).containsExactly("late");
  }

  @Test
  void aQueueThatGetsAnotherStrategyLooksAtAllAgain() {
    queue("q", "", QueueingStrategy.ROUND_ROBIN, 4);
    schedulerFixture.submit("running", "q", 3, 0, 0);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("big", "q", 4, 0, 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    schedulerFixture.finish("running");
    assertThat(schedulerFixture.admitted()).isEmpty();

    queue("q", "", QueueingStrategy.BEST_EFFORT_FIFO, 4);

    assertThat(schedulerFixture.admitted()).containsExactly("big");
  }

  @Test
  void theHeadOfAQueueOfHigherPriorityComesFirstWhateverItBorrows() {
    queue("low", "co", QueueingStrategy.BEST_EFFORT_FIFO, 2);
    schedulerFixture.queue(
        "high",
        "co",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withPriority(1),
        quota("f", 0));
    schedulerFixture.submit("own", "low", 2, 100, 0);
    schedulerFixture.submit("borrower", "high", 2, 0, 1);

    assertThat(schedulerFixture.admitted()).containsExactly("borrower");
  }

  @Test
  void whoPausesIsToldWhatBringsItBack() {
    queue("q", "", QueueingStrategy.ROUND_ROBIN, 4);
    queue("p", "", QueueingStrategy.STRICT_PRIORITY, 4);
    schedulerFixture.submit("one", "q", 3, 9, 0);
    schedulerFixture.submit("two", "q", 3, 0, 1);
    schedulerFixture.submit("three", "p", 3, 9, 0);
    schedulerFixture.submit("four", "p", 3, 0, 1);
    schedulerFixture.admitted();

    assertThat(schedulerFixture.explanation("two").orElseThrow().detail())
        .endsWith(
            "the queue is RoundRobin: it is tried again after a pause, not when quota is released");
    assertThat(schedulerFixture.explanation("four").orElseThrow().detail())
        .endsWith(
            "the queue is StrictPriority: it is tried again after a pause, or when quota of the"
                + " queue is released");
  }
}
