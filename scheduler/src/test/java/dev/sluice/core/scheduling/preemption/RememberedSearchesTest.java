package dev.sluice.core.scheduling.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.PlainQueues;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.scheduling.preemption.FairPreemption.RememberedSearches;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Two queues of one cohort; searches of one of them are counted. */
class RememberedSearchesTest {

  private final FlavorResourceIndex pairs = new FlavorResourceIndex();
  private final int cpu = pairs.number("f", "cpu");
  private final PlainQueues queues = new PlainQueues(pairs);
  private final QuotaHolders othersHolders = new QuotaHolders();
  private final ClusterQueueCache queue = queue("a", new QuotaHolders());
  private final ClusterQueueCache other = queue("b", othersHolders);
  private final RememberedSearches remembered = new RememberedSearches();
  private int searches;

  private ClusterQueueCache queue(String name, QuotaHolders holders) {
    return queues.declare(name, "co", List.of(), new PendingQueue(), holders);
  }

  private int searchesAfter(long amount, long priority) {
    PreemptionRequest request =
        new PreemptionRequest(
            new Preemptor(queue, priority, 7, "", Map.of(), false, PreemptionTraits.NONE, 0),
            new int[] {cpu},
            new long[] {amount},
            new int[] {cpu},
            () -> true);
    Optional<PreemptionStrategy.Found> found =
        remembered.get(
            request,
            any -> {
              searches++;
              return Optional.empty();
            });
    assertThat(found).isEmpty();
    return searches;
  }

  private static QuotaHolder holder(boolean evicted) {
    return holder(evicted, true);
  }

  private static QuotaHolder holder(boolean evicted, boolean evictable) {
    return new QuotaHolder(
        new WorkloadId("u", "ns", "w"),
        new LocalQueueId("ns", "lq"),
        0,
        Instant.EPOCH,
        Instant.EPOCH,
        new int[] {0},
        new long[] {3},
        evicted,
        evictable);
  }

  @Test
  void theSameQuestionIsSearchedOnce() {
    assertThat(searchesAfter(5, 1)).isEqualTo(1);
    assertThat(searchesAfter(5, 1)).isEqualTo(1);
    assertThat(searchesAfter(6, 1)).isEqualTo(2);
    assertThat(searchesAfter(5, 2)).isEqualTo(3);
    assertThat(searchesAfter(6, 1)).isEqualTo(3);
  }

  @Test
  void everyChangeOfAReservationInTheTreeAsksForAnotherSearch() {
    assertThat(searchesAfter(5, 1)).isEqualTo(1);
    QuotaHolder holder = holder(false);
    othersHolders.add(holder);
    assertThat(searchesAfter(5, 1)).isEqualTo(2);
    othersHolders.remove(holder);
    othersHolders.add(holder(true));
    assertThat(searchesAfter(5, 1)).isEqualTo(3);
    assertThat(searchesAfter(5, 1)).isEqualTo(3);
  }

  @Test
  void aReservationThatNobodyCanEvictAsksForAnotherSearchToo() {
    assertThat(searchesAfter(5, 1)).isEqualTo(1);
    QuotaHolder holder = holder(false, false);
    othersHolders.add(holder);
    assertThat(searchesAfter(5, 1)).isEqualTo(2);
    othersHolders.remove(holder);
    assertThat(searchesAfter(5, 1)).isEqualTo(3);
  }

  @Test
  void aRebuildOfTheTreesAsksForAnotherSearch() {
    assertThat(searchesAfter(5, 1)).isEqualTo(1);
    queue("c", new QuotaHolders());
    assertThat(searchesAfter(5, 1)).isEqualTo(2);
    remembered.forget();
    assertThat(searchesAfter(5, 1)).isEqualTo(3);
  }

  @Test
  void aTrialOfUsageAsksForNone() {
    assertThat(searchesAfter(5, 1)).isEqualTo(1);
    other.node().add(cpu, 4);
    other.node().remove(cpu, 4);
    assertThat(searchesAfter(5, 1)).isEqualTo(1);
  }
}
