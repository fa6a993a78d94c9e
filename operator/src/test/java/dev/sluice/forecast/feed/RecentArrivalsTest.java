package dev.sluice.forecast.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.forecast.feed.StartEstimator.RecentArrivals;
import dev.sluice.workload.record.CachedWorkload;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecentArrivalsTest {

  private final RecentArrivals arrivals = new RecentArrivals();
  private final CachedWorkload workload = RunWorkload.named("any").build();

  private void arrive(String clusterQueue, int count) {
    arrive(clusterQueue, count, workload);
  }

  private void arrive(String clusterQueue, int count, CachedWorkload each) {
    for (int i = 0; i < count; i++) {
      arrivals.arrived(clusterQueue, each);
    }
  }

  private static RunWorkload sized(int bytes) {
    return RunWorkload.named("sized").of("x".repeat(bytes));
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

  /** One team fills everything, in as many queues as it likes. */
  @Test
  void namespaceThatHasMostForgetsItsOldest() {
    CachedWorkload crowd = RunWorkload.named("crowd").ofNamespace("crowd").build();
    arrive("a", 60);
    int queues = RecentArrivals.MOST / RecentArrivals.MOST_AT_ONCE;
    for (int i = 0; i <= queues; i++) {
      arrive("crowd-" + i, RecentArrivals.MOST_AT_ONCE, crowd);
    }

    assertThat(known("a")).isEqualTo(60);
    assertThat(known("crowd-0")).isZero();
    assertThat(known("crowd-1")).isEqualTo(RecentArrivals.MOST_AT_ONCE - 60);
    assertThat(known("crowd-" + queues)).isEqualTo(RecentArrivals.MOST_AT_ONCE);
  }

  /** Of two that have as much the one whose first came first. */
  @Test
  void ofEqualsTheOldestIsForgotten() {
    arrivals.arrived("first", RunWorkload.named("a").ofNamespace("a").build());
    arrivals.arrived("second", RunWorkload.named("b").ofNamespace("b").build());
    for (int i = 2; i <= RecentArrivals.MOST; i++) {
      arrivals.arrived("others-" + i / 1_000, RunWorkload.named("c").ofNamespace("c" + i).build());
    }

    assertThat(known("first")).isZero();
    assertThat(known("second")).isEqualTo(1);
  }

  /** What is remembered takes a bounded part of the memory, whatever it looks like. */
  @Test
  void largeOneCountsForSeveral() {
    CachedWorkload large = sized(2 * RecentArrivals.COUNTED_BYTES).build();
    arrive("a", RecentArrivals.MOST_AT_ONCE, large);
    arrive("b", RecentArrivals.MOST_AT_ONCE, large);

    assertThat(known("a")).isEqualTo(RecentArrivals.MOST / 3 - RecentArrivals.MOST_AT_ONCE);
    assertThat(known("b")).isEqualTo(RecentArrivals.MOST_AT_ONCE);
  }

  @Test
  void veryLargeOnesAreNotRemembered() {
    int most = RecentArrivals.MOST_OF_ONE * RecentArrivals.COUNTED_BYTES;
    arrivals.arrived("a", sized(most).build());
    arrivals.arrived(
        "a",
        RunWorkload.named("annotation")
            .annotated(RunTimeAnnotations.EXPECTED, "x".repeat(most))
            .build());
    arrivals.arrived("a", RunWorkload.named("containers").containers(200).build());
    assertThat(known("a")).isZero();

    CachedWorkload allowed = RunWorkload.named("fewer").containers(20).build();
    arrivals.arrived("a", allowed);
    assertThat(arrivals.of(Set.of("a"))).isEqualTo(List.of(allowed));
  }

  /** A status may be large, and says nothing of one that arrives like it. */
  @Test
  void statusIsNotRemembered() {
    arrivals.arrived(
        "a", RunWorkload.named("any").condition("Requeued", "True", "Preempted", 1).build());

    assertThat(arrivals.of(Set.of("a"))).isEqualTo(List.of(workload));
  }
}
