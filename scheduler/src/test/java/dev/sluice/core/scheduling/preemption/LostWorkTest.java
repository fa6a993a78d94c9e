package dev.sluice.core.scheduling.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.FlavorQuotas;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.PlainQueues;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.FlavorResourceIndex;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LostWorkTest {

  private static final long NOW = 60_000_000;

  private final FlavorResourceIndex pairs = new FlavorResourceIndex();
  private final int cpu = pairs.number("f", "cpu");
  private final int gpu = pairs.number("f", "gpu");
  private final ClusterQueueCache queue =
      new PlainQueues(pairs)
          .declare(
              "q",
              "",
              List.of(
                  new ResourceGroup(
                      List.of("cpu", "gpu"),
                      List.of(new FlavorQuotas("f", Map.of("cpu", quota(100), "gpu", quota(10)))))),
              new PendingQueue(),
              new QuotaHolders());
  private final LostWork order = new LostWork(queue.node().root(), NOW);

  private static Quota quota(long nominal) {
    return new Quota(nominal, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
  }

  private QuotaHolder holder(String name, long cpus, long gpus, int since) {
    return new QuotaHolder(
        new WorkloadId(name, "ns", name),
        new LocalQueueId("ns", "lq"),
        0,
        Instant.EPOCH,
        Instant.ofEpochSecond(since),
        new int[] {cpu, gpu},
        new long[] {cpus, gpus},
        false,
        true);
  }

  private void goesFirst(QuotaHolder first, QuotaHolder other) {
    assertThat(order.compare(first, other)).isNegative();
    assertThat(order.compare(other, first)).isPositive();
  }

  @Test
  void thePairCountsOfWhichItUsesTheGreatestPart() {
    goesFirst(holder("b", 40, 0, 0), holder("a", 1, 5, 0));
    goesFirst(holder("b", 1, 3, 0), holder("a", 40, 0, 0));
  }

  @Test
  void theTimeCountsAsMuchAsTheAmount() {
    goesFirst(holder("b", 40, 0, 40), holder("a", 20, 0, 10));
    goesFirst(holder("b", 20, 0, 10), holder("a", 40, 0, 30));
  }

  @Test
  void amongThoseThatLoseNothingTheLatestGoesFirst() {
    goesFirst(holder("b", 40, 0, 90), holder("a", 20, 0, 70));
    goesFirst(holder("a", 40, 0, 70), holder("b", 20, 0, 70));
  }
}
