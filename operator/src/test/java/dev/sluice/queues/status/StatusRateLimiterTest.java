package dev.sluice.queues.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StatusRateLimiterTest {

  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

  private double share = 1;
  private StatusRateLimiter<Integer> limiter =
      new StatusRateLimiter<>(Duration.ofSeconds(1), 10, () -> share);

  /** The updates of a minute in which so many queues change all the time. */
  private List<Integer> aMinute(int queues) {
    List<Integer> updates = new ArrayList<>();
    for (int millis = 0; millis < 60_000; millis += 50) {
      Instant now = START.plusMillis(millis);
      IntStream.range(0, queues).forEach(queue -> limiter.touch(queue, false, now));
      updates.addAll(limiter.due(now));
    }
    return updates;
  }

  @Test
  void aQueueIsWrittenOnceASecond() {
    assertThat(aMinute(1)).hasSizeBetween(59, 60);
  }

  @Test
  void allQueuesShareTenWritesASecond() {
    List<Integer> updates = aMinute(60);
    assertThat(updates).hasSizeBetween(595, 611);
    assertThat(updates.stream().distinct()).hasSize(60);
  }

  @Test
  void whileTheServerIsSlowTheyShareLess() {
    share = 0.1;
    List<Integer> updates = aMinute(60);
    assertThat(updates).hasSizeBetween(58, 62);
    assertThat(updates.stream().distinct()).hasSizeGreaterThan(50);
  }

  @Test
  void aTurnComesThatTakesLongerThanWhatIsSavedUp() {
    limiter = new StatusRateLimiter<>(Duration.ofSeconds(1), 5, () -> share);
    share = 0.1;
    assertThat(aMinute(60)).hasSizeBetween(28, 32);
  }

  @Test
  void aChangedConditionIsWrittenNevertheless() {
    share = 0.1;
    aMinute(60);
    limiter.touch(1000, true, START.plusSeconds(60));
    assertThat(limiter.due(START.plusSeconds(60))).contains(1000);
  }

  @Test
  void whatAWorkloadThatIsAdmittedAtOnceChangesIsWrittenTogether() {
    limiter.touch(1, false, START);
    assertThat(limiter.due(START)).isEmpty();
    assertThat(limiter.next(START)).contains(START.plusMillis(250));
    limiter.touch(1, false, START.plusMillis(60));

    assertThat(limiter.due(START.plusMillis(250))).containsExactly(1);
    assertThat(limiter.due(START.plusMillis(1250))).isEmpty();
    assertThat(limiter.next(START.plusMillis(1250))).isEmpty();
  }

  @Test
  void aChangedConditionWaitsForNoOtherChange() {
    limiter.touch(1, false, START);
    limiter.touch(1, true, START.plusMillis(10));

    assertThat(limiter.next(START.plusMillis(10))).contains(START.plusMillis(10));
    assertThat(limiter.due(START.plusMillis(10))).containsExactly(1);
  }
}
