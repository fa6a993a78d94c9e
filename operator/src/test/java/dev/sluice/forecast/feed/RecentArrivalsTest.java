package dev.sluice.forecast.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecentArrivalsTest {

  private final RecentArrivals arrivals = new RecentArrivals();
  private final CachedWorkload workload = RunWorkload.named("any").build();

  private void arrive(String clusterQueue, int count) {
    for (int i = 0; i < count; i++) {
      arrivals.arrived(clusterQueue, workload);
    }
  }

  private int known(String... clusterQueues) {
    return arrivals.of(Set.of(clusterQueues)).size();
  }

  @Test
  void queuesAreAskedForTogether() {
    CachedWorkload other = RunWorkload.named("other").build();
    arrivals.arrived("a", workload);
    arrivals.arrived("b", other);
    arrivals.arrived("c", other);

    assertThat(arrivals.of(Set.of("a", "b", "d"))).isEqualTo(List.of(workload, other));
  }

  @Test
  void queueRemembersItsLast() {
    CachedWorkload first = RunWorkload.named("first").build();
    arrivals.arrived("a", first);
    arrive("a", RecentArrivals.MOST_AT_ONCE);

    assertThat(arrivals.of(Set.of("a"))).hasSize(RecentArrivals.MOST_AT_ONCE).doesNotContain(first);
  }

  @Test
  void lastOnesOfSeveralQueuesAreTold() {
    arrive("a", RecentArrivals.MOST_AT_ONCE);
    arrive("b", 1);

    assertThat(known("a", "b")).isEqualTo(RecentArrivals.MOST_AT_ONCE);
  }

  @Test
  void queueWithoutArrivalsForLongestIsForgotten() {
    int queues = RecentArrivals.MOST / RecentArrivals.MOST_AT_ONCE;
    for (int i = 0; i < queues; i++) {
      arrive("queue-" + i, RecentArrivals.MOST_AT_ONCE);
    }
    arrive("queue-0", 1);
    known("queue-1");
    arrive("another", 1);

    assertThat(known("queue-0")).isEqualTo(RecentArrivals.MOST_AT_ONCE);
    assertThat(known("queue-1")).isZero();
    assertThat(known("queue-2")).isEqualTo(RecentArrivals.MOST_AT_ONCE);
    assertThat(known("another")).isEqualTo(1);
  }
}
