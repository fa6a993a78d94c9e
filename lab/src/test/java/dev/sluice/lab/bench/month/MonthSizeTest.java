package dev.sluice.lab.bench.month;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MonthSizeTest {

  @Test
  void theWholeMonthHasAThousandQueuesInTreesOfTen() {
    assertThat(MonthSize.WHOLE.jobs()).isEqualTo(1_000_000);
    assertThat(MonthSize.WHOLE.allQueues()).isEqualTo(1_000);
    assertThat(MonthSize.WHOLE.teams() * MonthSize.WHOLE.queues()).isEqualTo(10);
  }

  @Test
  void fewerJobsADayHaveFewerTreesOfTheSameWidth() {
    MonthSize tenth = MonthSize.WHOLE.with(100_000, 30, 7);

    assertThat(tenth).isEqualTo(new MonthSize(7, 30, 100_000, 10, 5, 2, 24, 0.8));
    assertThat(MonthSize.WHOLE.with(33_333, 1, 1).allQueues()).isEqualTo(1_000);
    assertThat(MonthSize.WHOLE.with(1, 30, 1).trees()).isEqualTo(1);
  }

  @Test
  void widerTreesAreFewerSoThatTheNumberOfQueuesStays() {
    MonthSize wide = MonthSize.WHOLE.withQueuesPerTeam(20);

    assertThat(wide.trees()).isEqualTo(10);
    assertThat(wide.allQueues()).isEqualTo(1_000);
    assertThat(MonthSize.WHOLE.withQueuesPerTeam(2)).isEqualTo(MonthSize.WHOLE);
    assertThat(MonthSize.WHOLE.withQueuesPerTeam(10_000).trees()).isEqualTo(1);
  }
}
