package dev.sluice.core.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.PlainQueues;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.scheduling.SchedulingPolicies.ClassicalPolicy;
import dev.sluice.core.scheduling.WorkloadOrdering.OrderingRules;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Two queues of one cohort, of 5 cpu each; in each a Workload that asks for 4 or 8 cpu. */
class AdmissionForecastTest {

  private static final AdmissionForecast.Order CLASSICAL =
      new ClassicalPolicy(OrderingRules.DEFAULT, node -> null, Stream::of)
          .forecastOrder()
          .orElseThrow();

  private final FlavorResourceIndex pairs = new FlavorResourceIndex();
  private final PlainQueues queues = new PlainQueues(pairs);

  private InadmissibleIndex.InadmissibleQueue queueWith(String name, long cpu, int second) {
    Quota five = new Quota(5, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    List<ResourceGroup> groups =
        List.of(
            new ResourceGroup(
                List.of("cpu"), List.of(new ResourceGroup.FlavorQuotas("f", Map.of("cpu", five)))));
    PendingQueue pending = new PendingQueue();
    ClusterQueueCache queue = queues.declare(name, "cohort", groups, pending, new QuotaHolders());
    return new InadmissibleIndex.InadmissibleQueue(
        queue, add(pending, name, cpu, second).equivalenceClass());
  }

  private static QueuedWorkload add(PendingQueue pending, String name, long cpu, int second) {
    Instant at = Instant.EPOCH.plusSeconds(second);
    PodSetRequest podSet =
        new PodSetRequest(
            "main", 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "");
    return pending.add(
        new PendingWorkload(
            new WorkloadId("uid-" + name, "ns", name),
            1,
            name,
            new RequestShape(List.of(podSet)),
            0,
            at,
            at,
            Optional.empty(),
            false,
            Optional.empty()),
        new LocalQueueId("ns", name),
        null);
  }

  private static List<InadmissibleIndex.InadmissibleQueue> forecast(
      AdmissionForecast.Order order, InadmissibleIndex.InadmissibleQueue... classes) {
    return Objects.requireNonNull(
        AdmissionForecast.of(order, List.of(classes), List.of(), head -> false));
  }

  @Test
  void whoeverThePolicyPutsFirstGetsTheQuotaThatIsEnoughForOne() {
    InadmissibleIndex.InadmissibleQueue older = queueWith("a", 8, 1);
    InadmissibleIndex.InadmissibleQueue newer = queueWith("b", 8, 2);

    assertThat(forecast(CLASSICAL, newer, older)).containsExactly(older);
    assertThat(forecast((one, i, two, j) -> CLASSICAL.compare(two, j, one, i), older, newer))
        .containsExactly(newer);
  }

  @Test
  void theClassicalPolicyPutsThoseFirstThatDoNotBorrow() {
    InadmissibleIndex.InadmissibleQueue borrowing = queueWith("a", 8, 1);
    InadmissibleIndex.InadmissibleQueue own = queueWith("b", 4, 2);
    assertThat(forecast(CLASSICAL, borrowing, own)).containsExactly(own);
  }

  @Test
  void theForecastLeavesTheUsageAsItWas() {
    InadmissibleIndex.InadmissibleQueue first = queueWith("a", 4, 1);
    forecast(CLASSICAL, first);
    assertThat(first.queue().node().usage(pairs.number("f", "cpu"))).isZero();
  }
}
