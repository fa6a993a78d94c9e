package dev.sluice.core.scheduling.preemption;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PreemptionRules.PreemptionTraits;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.PendingQueue;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.queue.QuotaHolders;
import dev.sluice.core.quota.CohortHierarchy;
import dev.sluice.core.quota.FlavorResourceIndex;
import dev.sluice.core.quota.QuotaNode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Random reservations in a tree of three cohorts, one of them above the others: what is remembered
 * is compared with what is found anew after every change.
 */
class BorrowingQueuesTest {

  private static final int WORLDS = 60;
  private static final int STEPS = 120;
  private static final List<String> COHORTS = List.of("root", "left", "right");

  private final FlavorResourceIndex pairs = new FlavorResourceIndex();
  private final int[] numbers = {pairs.number("f", "cpu"), pairs.number("f", "memory")};
  private Random random = new Random(0);
  private CohortHierarchy trees = new CohortHierarchy(pairs);
  private final Map<QuotaNode, ClusterQueueCache> queues = new LinkedHashMap<>();
  private final Map<QuotaHolder, ClusterQueueCache> reserved = new LinkedHashMap<>();
  private int names;
  private int targets;
  private int leftOut;
  private int notEvictable;

  private static Quota quota(long nominal) {
    return new Quota(nominal, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
  }

  private <T> T any(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  private void addQueue() {
    String name = "q" + names++;
    List<ResourceGroup> groups =
        List.of(
            new ResourceGroup(
                List.of("cpu", "memory"),
                List.of(
                    new ResourceGroup.FlavorQuotas(
                        "f", Map.of("cpu", quota(random.nextInt(9)), "memory", quota(9))))));
    trees.declareQueue(name, any(COHORTS), groups);
    trees.rebuildIfDirty();
    ClusterQueueSpec spec =
        new ClusterQueueSpec(
            name,
            "",
            groups,
            ClusterQueueSpec.QueueingStrategy.BEST_EFFORT_FIFO,
            new LabelSelector.Requirements(List.of()),
            ClusterQueueSpec.StopPolicy.NONE,
            false,
            new PreemptionPolicies(
                any(List.of(WithinClusterQueue.values())),
                any(List.of(ReclaimWithinCohort.values())),
                random.nextBoolean(),
                random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(random.nextInt(3))),
            FlavorFungibility.DEFAULT,
            List.of(),
            List.of());
    QuotaNode node = Objects.requireNonNull(trees.queue(name));
    queues.put(
        node, new ClusterQueueCache(spec, node, new PendingQueue(), new QuotaHolders(), pairs));
  }

  private void reserve() {
    ClusterQueueCache queue = any(List.copyOf(queues.values()));
    String name = "w" + names++;
    int[] of = random.nextInt(3) == 0 ? numbers : new int[] {any(List.of(numbers[0], numbers[1]))};
    long[] amounts = new long[of.length];
    for (int i = 0; i < of.length; i++) {
      amounts[i] = 1 + random.nextInt(4);
    }
    QuotaHolder holder =
        new QuotaHolder(
            new WorkloadId(name, "ns", name),
            new LocalQueueId("ns", "lq"),
            random.nextInt(4),
            Instant.ofEpochSecond(random.nextInt(50)),
            Instant.ofEpochSecond(random.nextInt(50)),
            of,
            amounts,
            random.nextInt(6) == 0,
            random.nextInt(12) != 0);
    holder.addTo(queue.node());
    queue.holders().add(holder);
    reserved.put(holder, queue);
  }

  private void release() {
    QuotaHolder holder = any(List.copyOf(reserved.keySet()));
    ClusterQueueCache queue = Objects.requireNonNull(reserved.remove(holder));
    queue.holders().remove(holder);
    for (int i = 0; i < holder.size(); i++) {
      queue.node().remove(holder.pair(i), holder.amount(i));
    }
  }

  private void compare(BorrowingQueues remembering, ClassicalPreemption preemption) {
    for (String name : COHORTS) {
      QuotaNode cohort = Objects.requireNonNull(trees.cohort(name));
      for (int pair : numbers) {
        List<ClusterQueueCache> borrowing = new ArrayList<>();
        queues.forEach(
            (node, queue) -> {
              if (queue.holders().size() > 0 && borrowsUpTo(cohort, node, pair)) {
                borrowing.add(queue);
              }
            });
        assertThat(remembering.remembered(cohort, pair))
            .containsExactlyInAnyOrderElementsOf(borrowing)
            .extracting(queue -> queue.holders().lowestPriority())
            .isSorted();
      }
    }
    boolean any = reserved.keySet().stream().anyMatch(holder -> !holder.evictable());
    assertThat(Objects.requireNonNull(trees.cohort("root")).anyHolder().notEvictable())
        .isEqualTo(any);
    notEvictable += any ? 1 : 0;
    search(remembering, preemption);
  }

  /** Whether a queue is below a cohort and borrows, as does every cohort between. */
  private static boolean borrowsUpTo(QuotaNode cohort, QuotaNode queue, int pair) {
    QuotaNode node = queue;
    while (node != cohort) {
      QuotaNode parent = node.parent();
      if (parent == null || !node.borrowing(pair)) {
        return false;
      }
      node = parent;
    }
    return true;
  }

  private void search(BorrowingQueues remembering, ClassicalPreemption preemption) {
    int[] pair = {any(List.of(numbers[0], numbers[1]))};
    PreemptionRequest request =
        new PreemptionRequest(
            new Preemptor(
                any(List.copyOf(queues.values())),
                random.nextInt(5),
                random.nextInt(50_000_000),
                "",
                Map.of(),
                false,
                PreemptionTraits.NONE,
                0),
            pair,
            new long[] {1 + random.nextInt(12)},
            pair,
            () -> true);
    if (random.nextInt(3) == 0) {
      // Forgets what the other one remembers, which shall often live through changes.
      var searched = preemption.find(request);
      assertThat(preemption.findAsReserved(request)).isEqualTo(searched);
      targets += searched.map(targetsFound -> targetsFound.preemptionTargets().size()).orElse(0);
    }
    List<CandidateQueue> found = CandidateQueues.of(remembering, request, true);
    assertThat(found)
        .containsExactlyInAnyOrderElementsOf(CandidateQueues.of(remembering, request, false));
    List<CandidateQueue> all = CandidateQueues.all(remembering, request);
    assertThat(all).containsAll(found);
    for (CandidateQueue queue : all) {
      if (!found.contains(queue)) {
        leftOut++;
        boolean borrows = !ClassicalUpperBound.staysWithinNominal(request);
        for (boolean evicted : new boolean[] {true, false}) {
          assertThat(queue.candidates(request, evicted, borrows).current()).isNull();
          assertThat(queue.candidates(request, evicted, true).current()).isNull();
        }
      }
    }
  }

  @Test
  void whatIsRememberedIsWhatIsFoundAnew() {
    for (int world = 0; world < WORLDS; world++) {
      random = new Random(world);
      trees = new CohortHierarchy(pairs);
      queues.clear();
      reserved.clear();
      trees.declareCohort("root", "", List.of());
      trees.declareCohort("left", "root", List.of());
      trees.declareCohort("right", "root", List.of());
      for (int i = 0; i < 6; i++) {
        addQueue();
      }
      BorrowingQueues remembering = new BorrowingQueues(queues::get, Stream::of);
      ClassicalPreemption preemption = new ClassicalPreemption(queues::get, Stream::of);
      for (int step = 0; step < STEPS; step++) {
        if (random.nextInt(30) == 0) {
          addQueue();
        } else if (reserved.isEmpty() || random.nextInt(12) > reserved.size() / 3) {
          reserve();
        } else {
          release();
        }
        compare(remembering, preemption);
      }
    }
    assertThat(targets).isPositive();
    assertThat(leftOut).isPositive();
    assertThat(notEvictable).isBetween(1, WORLDS * STEPS - 1);
  }
}
