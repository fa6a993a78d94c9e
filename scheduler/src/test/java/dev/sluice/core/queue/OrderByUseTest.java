package dev.sluice.core.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Order by use, compared with sorting everybody each time, in random worlds. */
class OrderByUseTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final int LOCAL_QUEUES = 4;
  private static final Explanation NO_ROOM =
      new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(), "");

  private final List<LocalQueueUsage> uses = new ArrayList<>();
  private final Function<LocalQueueId, LocalQueueUsage> useOf =
      id -> uses.get(Integer.parseInt(id.name()));

  private static LocalQueueId id(int localQueue) {
    return new LocalQueueId("ns", Integer.toString(localQueue));
  }

  private void changeSomeUse(Random random, PendingQueue queue) {
    LocalQueueUsage use = uses.get(random.nextInt(LOCAL_QUEUES));
    use.amount(random.nextInt(8) == 0 ? Double.POSITIVE_INFINITY : random.nextInt(3));
    queue.usageChanged(use);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void theHeadIsAlwaysTheFirstOfThoseInLine(int seed) {
    Random random = new Random(seed);
    PendingQueue queue = new PendingQueue();
    List<QueuedWorkload> all = new ArrayList<>();
    boolean counts = false;
    for (int i = 0; i < LOCAL_QUEUES; i++) {
      uses.add(new LocalQueueUsage());
    }
    for (int step = 0; step < 1000; step++) {
      QueuedWorkload any = all.isEmpty() ? null : all.get(random.nextInt(all.size()));
      switch (random.nextInt(10)) {
        case 0, 1, 2 -> all.add(queue.add(workload(random, step), id(queueOf(random)), null));
        case 3 -> {
          if (any != null) {
            queue.remove(any);
            all.remove(any);
          }
        }
        case 4 -> {
          if (any != null && !queue.isHeld(any)) {
            queue.markInadmissible(any.equivalenceClass(), NO_ROOM, List.of());
          }
        }
        case 5 -> queue.inadmissibleClasses().stream().findFirst().ifPresent(queue::requeue);
        case 6 -> {
          if (any != null && queue.isHeld(any)) {
            queue.release(any);
          } else if (any != null) {
            queue.hold(any, NO_ROOM);
          }
        }
        case 7 -> {
          if (any != null) {
            queue.markSticky(any);
          }
        }
        case 8 -> changeSomeUse(random, queue);
        default -> {
          if (random.nextInt(20) == 0) {
            counts = !counts;
            queue.orderByUsage(counts ? useOf : null);
          }
        }
      }
      check(queue, all, counts);
    }
  }

  private void check(PendingQueue queue, List<QueuedWorkload> all, boolean counts) {
    List<QueuedWorkload> order = queue.inOrder();
    assertThat(order).hasSameSizeAs(all);
    assertThat(Set.copyOf(order)).isEqualTo(Set.copyOf(all));
    if (counts) {
      assertThat(order.stream().map(item -> useOf.apply(item.localQueue())).toList()).isSorted();
    }
    List<QueuedWorkload> inLine =
        order.stream()
            .filter(item -> !queue.isHeld(item) && item.equivalenceClass().explanation() == null)
            .toList();
    assertThat(queue.head()).isSameAs(inLine.isEmpty() ? null : inLine.getFirst());
    assertThat(queue.count())
        .isEqualTo(new PendingCount(inLine.size(), all.size() - inLine.size()));
  }

  private static int queueOf(Random random) {
    return random.nextInt(LOCAL_QUEUES);
  }

  private static PendingWorkload workload(Random random, int number) {
    Instant at = START.plusSeconds(random.nextInt(50));
    return new PendingWorkload(
        new WorkloadId("uid-" + number, "ns", "w" + number),
        1,
        "q",
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", 1L + random.nextInt(2))),
                    NodeConstraints.ANYWHERE,
                    ""))),
        random.nextInt(3),
        at,
        at,
        Optional.empty(),
        false,
        Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void victimsGoByUseThenByPriorityReservationAndUid(int seed) {
    Random random = new Random(seed);
    QuotaHolders quotaHolders = new QuotaHolders();
    List<QuotaHolder> all = new ArrayList<>();
    for (int i = 0; i < LOCAL_QUEUES; i++) {
      uses.add(new LocalQueueUsage());
    }
    quotaHolders.orderByUsage(useOf);
    for (int step = 0; step < 500; step++) {
      if (random.nextInt(3) == 0 && !all.isEmpty()) {
        quotaHolders.remove(all.remove(random.nextInt(all.size())));
      } else {
        QuotaHolder quotaHolder = holder(random, step);
        all.add(quotaHolder);
        quotaHolders.add(quotaHolder);
      }
      uses.get(random.nextInt(LOCAL_QUEUES)).amount(random.nextInt(3));

      List<QuotaHolder> wanted = new ArrayList<>(all);
      wanted.removeIf(QuotaHolder::evicted);
      wanted.sort(
          Comparator.<QuotaHolder, LocalQueueUsage>comparing(
                  quotaHolder -> useOf.apply(quotaHolder.localQueue()))
              .reversed()
              .thenComparing(QuotaHolder.PREEMPTION_ORDER));
      assertThat(flat(quotaHolders.groups(false))).isEqualTo(wanted);
      assertThat(quotaHolders.size()).isEqualTo(all.size());
    }
    quotaHolders.orderByUsage(null);
    List<QuotaHolder> plain = new ArrayList<>(all);
    plain.removeIf(QuotaHolder::evicted);
    plain.sort(QuotaHolder.PREEMPTION_ORDER);
    assertThat(flat(quotaHolders.groups(false))).isEqualTo(plain);
    assertThat(quotaHolders.size()).isEqualTo(all.size());
  }

  private static List<QuotaHolder> flat(Iterator<Iterator<QuotaHolder>> groups) {
    List<QuotaHolder> all = new ArrayList<>();
    groups.forEachRemaining(group -> group.forEachRemaining(all::add));
    return all;
  }

  private static QuotaHolder holder(Random random, int number) {
    return new QuotaHolder(
        new WorkloadId("uid-" + number, "ns", "w" + number),
        id(queueOf(random)),
        random.nextInt(3),
        START,
        START.plusSeconds(random.nextInt(3)),
        new int[] {0},
        new long[] {1},
        random.nextInt(4) == 0,
        true);
  }
}
