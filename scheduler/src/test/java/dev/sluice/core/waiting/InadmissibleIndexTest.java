package dev.sluice.core.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
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
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A queue of 10 cpu, all of it in use, and classes that lack some. */
class InadmissibleIndexTest {

  private final FlavorResourceIndex pairs = new FlavorResourceIndex();
  private final int cpu = pairs.number("f", "cpu");
  private final int memory = pairs.number("f", "memory");
  private final ClassicalPolicy policy =
      new ClassicalPolicy(OrderingRules.DEFAULT, node -> null, Stream::of);
  private final InadmissibleIndex inadmissibleIndex =
      new InadmissibleIndex(policy.preemption()::upperBound, policy.forecastOrder(), true);
  private final PendingQueue pending = new PendingQueue();
  private final ClusterQueueCache queue = fullQueue();

  private ClusterQueueCache fullQueue() {
    Quota ten = new Quota(10, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    List<ResourceGroup> groups =
        List.of(
            new ResourceGroup(
                List.of("cpu", "memory"),
                List.of(new ResourceGroup.FlavorQuotas("f", Map.of("cpu", ten, "memory", ten)))));
    ClusterQueueCache state =
        new PlainQueues(pairs).declare("q", "", groups, pending, new QuotaHolders());
    state.node().add(cpu, 10);
    state.node().add(memory, 10);
    state.active(true);
    return state;
  }

  private QueuedWorkload parked(String name, long lacking, int second, boolean competing) {
    QueuedWorkload item = waiting(name, lacking, second);
    List<EquivalenceClass.Shortage> shortages =
        List.of(new EquivalenceClass.Shortage(cpu, lacking));
    pending.markInadmissible(
        item.equivalenceClass(),
        new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(), ""),
        shortages);
    inadmissibleIndex.add(
        new InadmissibleIndex.InadmissibleQueue(queue, item.equivalenceClass()),
        shortages,
        competing,
        false);
    return item;
  }

  private QueuedWorkload waiting(String name, long amount, int second) {
    Instant at = Instant.EPOCH.plusSeconds(second);
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", amount)),
                    NodeConstraints.ANYWHERE,
                    "")));
    LocalQueueId localQueue = new LocalQueueId("ns", "q");
    return pending.add(
        new PendingWorkload(
            new WorkloadId("uid-" + name, "ns", name),
            1,
            "q",
            shape,
            0,
            at,
            at,
            Optional.empty(),
            false,
            Optional.empty()),
        localQueue,
        null);
  }

  private void release(int pair, long amount) {
    queue.node().remove(pair, amount);
    inadmissibleIndex.released(queue.node());
  }

  private List<EquivalenceClass> candidates() {
    return inadmissibleIndex
        .candidates(
            new InadmissibleIndex.Surrounding(
                root -> Optional.of(List.of()),
                queueHead -> false,
                root -> false,
                Set.of(),
                root -> false))
        .classes()
        .stream()
        .map(InadmissibleIndex.InadmissibleQueue::equivalenceClass)
        .toList();
  }

  @Test
  void whatIsReleasedLeadsToALookAtThoseOnlyWhomItHelps() {
    parked("large", 5, 1, false);
    QueuedWorkload small = parked("small", 2, 2, false);
    release(cpu, 1);
    assertThat(candidates()).isEmpty();
    release(cpu, 1);
    assertThat(candidates()).containsExactly(small.equivalenceClass());
  }

  @Test
  void anotherPairHelpsNobodyAndHarmsNobody() {
    parked("large", 5, 1, false);
    release(memory, 10);
    assertThat(candidates()).isEmpty();
    assertThat(inadmissibleIndex.hasReleases()).isFalse();
  }

  @Test
  void theFirstOfAQueueIsLookedAtAndTheOthersWhenItIsTheirTurn() {
    QueuedWorkload first = parked("first", 3, 1, false);
    QueuedWorkload second = parked("second", 4, 2, false);
    release(cpu, 5);
    assertThat(candidates()).containsExactly(first.equivalenceClass());
    pending.requeue(first.equivalenceClass());

    assertThat(candidates()).isEmpty(); // the first stands in line before it
    assertThat(inadmissibleIndex.hasReleases()).isTrue();
    pending.remove(first);
    assertThat(candidates()).containsExactly(second.equivalenceClass());
  }

  @Test
  void thoseWhoseTurnComesTooLateSleepOn() {
    QueuedWorkload first = parked("first", 3, 1, false);
    parked("second", 4, 2, false);
    release(cpu, 5);
    assertThat(candidates()).containsExactly(first.equivalenceClass());
    pending.remove(first);
    queue.node().add(cpu, 3);

    assertThat(candidates()).isEmpty();
    assertThat(inadmissibleIndex.hasReleases()).isFalse();
  }

  @Test
  void thoseWhosePodSetsCompeteAreLookedAtAfterAnyReleaseButOnlyOnce() {
    QueuedWorkload competing = parked("competing", 50, 1, true);
    release(memory, 1);
    assertThat(candidates()).containsExactly(competing.equivalenceClass());
    inadmissibleIndex.add(
        new InadmissibleIndex.InadmissibleQueue(queue, competing.equivalenceClass()),
        competing.equivalenceClass().missingQuota(),
        true,
        false);

    assertThat(candidates()).isEmpty();
    release(memory, 1);
    assertThat(candidates()).containsExactly(competing.equivalenceClass());
  }
}
