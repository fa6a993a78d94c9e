package dev.sluice.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.model.Amounts;
import dev.sluice.model.ClusterQueueSpec;
import dev.sluice.model.Explanation;
import dev.sluice.model.FlavorFungibility;
import dev.sluice.model.LabelSelector;
import dev.sluice.model.LocalQueueId;
import dev.sluice.model.PendingReason;
import dev.sluice.model.PendingWorkload;
import dev.sluice.model.Placement;
import dev.sluice.model.PodSetRequest;
import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.Quota;
import dev.sluice.model.ResourceGroup;
import dev.sluice.model.WorkloadId;
import dev.sluice.model.WorkloadShape;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.Holders;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.PendingQueue;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.FlavorResources;
import dev.sluice.quota.QuotaForest;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A queue of 10 cpu, all of it in use, and classes that lack some. */
class SleepersTest {

  private final FlavorResources pairs = new FlavorResources();
  private final int cpu = pairs.number("f", "cpu");
  private final int memory = pairs.number("f", "memory");
  private final Sleepers sleepers = new Sleepers(node -> null, null, true);
  private final PendingQueue pending = new PendingQueue();
  private final QueueState queue = fullQueue();

  private QueueState fullQueue() {
    Quota ten = new Quota(10, Amounts.UNLIMITED, Amounts.UNLIMITED);
    List<ResourceGroup> groups =
        List.of(
            new ResourceGroup(
                List.of("cpu", "memory"),
                List.of(new ResourceGroup.FlavorQuotas("f", Map.of("cpu", ten, "memory", ten)))));
    QuotaForest forest = new QuotaForest(pairs);
    forest.declareQueue("q", "", groups);
    forest.settle();
    ClusterQueueSpec spec =
        new ClusterQueueSpec(
            "q",
            "",
            groups,
            ClusterQueueSpec.QueueingStrategy.BEST_EFFORT_FIFO,
            new LabelSelector.Requirements(List.of()),
            ClusterQueueSpec.StopPolicy.NONE,
            false,
            PreemptionPolicies.NEVER,
            FlavorFungibility.DEFAULT,
            List.of(),
            List.of());
    QueueState state =
        new QueueState(
            spec, Objects.requireNonNull(forest.queue("q")), pending, new Holders(), pairs);
    state.node().add(cpu, 10);
    state.node().add(memory, 10);
    state.active(true);
    return state;
  }

  private PendingItem parked(String name, long lacking, int second, boolean competing) {
    PendingItem item = waiting(name, lacking, second);
    List<EquivalenceClass.Lack> lacks = List.of(new EquivalenceClass.Lack(cpu, lacking));
    pending.park(
        item.equivalenceClass(),
        new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(), ""),
        lacks);
    sleepers.sleep(new Sleepers.Sleeper(queue, item.equivalenceClass()), lacks, competing, false);
    return item;
  }

  private PendingItem waiting(String name, long amount, int second) {
    Instant at = Instant.EPOCH.plusSeconds(second);
    WorkloadShape shape =
        new WorkloadShape(
            List.of(
                new PodSetRequest(
                    "main", 1, 0, new TreeMap<>(Map.of("cpu", amount)), Placement.ANYWHERE, "")));
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
    sleepers.released(queue.node());
  }

  private List<EquivalenceClass> candidates() {
    return sleepers.candidates(root -> Optional.of(List.of()), head -> false).stream()
        .map(Sleepers.Sleeper::equals)
        .toList();
  }

  @Test
  void whatIsReleasedLeadsToALookAtThoseOnlyWhomItHelps() {
    parked("large", 5, 1, false);
    PendingItem small = parked("small", 2, 2, false);
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
    assertThat(sleepers.anyReleased()).isFalse();
  }

  @Test
  void theFirstOfAQueueIsLookedAtAndTheOthersWhenItIsTheirTurn() {
    PendingItem first = parked("first", 3, 1, false);
    PendingItem second = parked("second", 4, 2, false);
    release(cpu, 5);
    assertThat(candidates()).containsExactly(first.equivalenceClass());
    pending.wake(first.equivalenceClass());

    assertThat(candidates()).isEmpty(); // the first stands in line before it
    assertThat(sleepers.anyReleased()).isTrue();
    pending.remove(first);
    assertThat(candidates()).containsExactly(second.equivalenceClass());
  }

  @Test
  void thoseWhoseTurnComesTooLateSleepOn() {
    PendingItem first = parked("first", 3, 1, false);
    parked("second", 4, 2, false);
    release(cpu, 5);
    assertThat(candidates()).containsExactly(first.equivalenceClass());
    pending.remove(first);
    queue.node().add(cpu, 3);

    assertThat(candidates()).isEmpty();
    assertThat(sleepers.anyReleased()).isFalse();
  }

  @Test
  void thoseWhosePodSetsCompeteAreLookedAtAfterAnyReleaseButOnlyOnce() {
    PendingItem competing = parked("competing", 50, 1, true);
    release(memory, 1);
    assertThat(candidates()).containsExactly(competing.equivalenceClass());
    sleepers.sleep(
        new Sleepers.Sleeper(queue, competing.equivalenceClass()),
        competing.equivalenceClass().lacks(),
        true,
        false);

    assertThat(candidates()).isEmpty();
    release(memory, 1);
    assertThat(candidates()).containsExactly(competing.equivalenceClass());
  }
}
