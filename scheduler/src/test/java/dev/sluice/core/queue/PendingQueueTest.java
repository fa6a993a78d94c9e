package dev.sluice.core.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PendingQueueTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final LocalQueueId LEFT = new LocalQueueId("ns", "left");
  private static final LocalQueueId RIGHT = new LocalQueueId("ns", "right");
  private static final Explanation NO_ROOM =
      new Explanation(PendingReason.WAITING_FOR_QUOTA, List.of(), "");
  private static final List<EquivalenceClass.Shortage> LACKS =
      List.of(new EquivalenceClass.Shortage(0, 1));

  private final PendingQueue queue = new PendingQueue();

  private QueuedWorkload add(String name, LocalQueueId in, long cpu, long priority, int second) {
    Instant at = START.plusSeconds(second);
    RequestShape shape =
        new RequestShape(
            List.of(
                new PodSetRequest(
                    "main",
                    1,
                    0,
                    new TreeMap<>(Map.of("cpu", cpu)),
                    NodeConstraints.ANYWHERE,
                    "")));
    return queue.add(
        new PendingWorkload(
            new WorkloadId("uid-" + name, "ns", name),
            1,
            in.name(),
            shape,
            priority,
            at,
            at,
            Optional.empty(),
            false,
            Optional.empty()),
        in,
        null);
  }

  private List<String> drained() {
    List<String> names = new ArrayList<>();
    for (QueuedWorkload head = queue.head(); head != null; head = queue.head()) {
      names.add(head.id().name());
      queue.remove(head);
    }
    return names;
  }

  @Test
  void priorityGoesBeforeAgeAndAgeBeforeTheUid() {
    add("old", LEFT, 1, 0, 1);
    add("b", LEFT, 2, 0, 2);
    add("a", LEFT, 3, 0, 2);
    add("urgent", LEFT, 1, 5, 9);
    add("negative", LEFT, 1, -5, 0);
    assertThat(queue.inOrder())
        .extracting(item -> item.id().name())
        .containsExactly("urgent", "old", "a", "b", "negative");
    assertThat(drained()).containsExactly("urgent", "old", "a", "b", "negative");
  }

  @Test
  void aParkedClassStepsAsideAsAWholeAndComesBackAsAWhole() {
    QueuedWorkload first = add("first", LEFT, 5, 0, 1);
    add("equal", RIGHT, 5, 0, 2);
    add("other", RIGHT, 1, 0, 3);
    queue.markInadmissible(first.equivalenceClass(), NO_ROOM, LACKS);
    assertThat(queue.head()).extracting(item -> item.id().name()).isEqualTo("other");
    assertThat(queue.count()).isEqualTo(new PendingCount(1, 2));
    assertThat(queue.count(RIGHT)).isEqualTo(new PendingCount(1, 1));
    assertThat(first.explanation()).isEqualTo(NO_ROOM);

    queue.requeue(first.equivalenceClass());
    assertThat(first.explanation()).isNull();
    assertThat(queue.count()).isEqualTo(new PendingCount(3, 0));
    assertThat(drained()).containsExactly("first", "equal", "other");
  }

  @Test
  void aLatecomerSharesTheFateOfItsParkedClass() {
    QueuedWorkload first = add("first", LEFT, 5, 0, 1);
    queue.markInadmissible(first.equivalenceClass(), NO_ROOM, LACKS);
    QueuedWorkload late = add("late", RIGHT, 5, 0, 2);
    assertThat(queue.head()).isNull();
    assertThat(late.explanation()).isEqualTo(NO_ROOM);
    assertThat(queue.count(RIGHT)).isEqualTo(new PendingCount(0, 1));
  }

  @Test
  void aClassThatEmptiedWhileParkedIsNotParkedForThoseWhoComeLater() {
    QueuedWorkload only = add("only", LEFT, 5, 0, 1);
    queue.markInadmissible(only.equivalenceClass(), NO_ROOM, LACKS);
    queue.remove(only);
    assertThat(queue.count()).isEqualTo(PendingCount.NONE);

    add("later", LEFT, 5, 0, 2);
    assertThat(drained()).containsExactly("later");
  }

  @Test
  void oneSetAsideIsAloneWithItsReason() {
    QueuedWorkload barred = add("barred", LEFT, 5, 0, 1);
    add("equal", LEFT, 5, 0, 2);
    Explanation own = new Explanation(PendingReason.MISCONFIGURED, List.of(), "its own");
    queue.hold(barred, own);
    assertThat(queue.isHeld(barred)).isTrue();
    assertThat(barred.explanation()).isEqualTo(own);
    assertThat(queue.count(LEFT)).isEqualTo(new PendingCount(1, 1));
    assertThat(queue.head()).extracting(item -> item.id().name()).isEqualTo("equal");

    queue.release(barred);
    assertThat(drained()).containsExactly("barred", "equal");
  }

  @Test
  void whoeverLeftIsNotAmongThoseWhoMustBeTold() {
    QueuedWorkload stays = add("stays", LEFT, 5, 0, 1);
    QueuedWorkload leaves = add("leaves", LEFT, 5, 0, 2);
    QueuedWorkload aside = add("aside", LEFT, 5, 0, 3);
    queue.remove(leaves);
    queue.hold(aside, null);
    queue.markInadmissible(stays.equivalenceClass(), NO_ROOM, LACKS);
    assertThat(stays.equivalenceClass().drainUnreported()).containsExactly(stays);
    assertThat(stays.equivalenceClass().drainUnreported()).isEmpty();
  }

  @Test
  void anotherReasonMustBeToldToEveryone() {
    QueuedWorkload one = add("one", LEFT, 5, 0, 1);
    QueuedWorkload two = add("two", LEFT, 5, 0, 2);
    queue.markInadmissible(one.equivalenceClass(), NO_ROOM, LACKS);
    assertThat(one.equivalenceClass().drainUnreported()).containsExactlyInAnyOrder(one, two);
    queue.requeue(one.equivalenceClass());
    queue.markInadmissible(
        one.equivalenceClass(),
        new Explanation(PendingReason.EXCEEDS_MAX_QUOTA, List.of(), ""),
        LACKS);
    assertThat(one.equivalenceClass().drainUnreported()).containsExactlyInAnyOrder(one, two);
  }

  @Test
  void timesAreKeptToTheMicrosecondEvenBeforeTheEpoch() {
    Instant before = Instant.parse("1969-12-31T23:59:59.123456Z");
    QueuedWorkload item =
        queue.add(
            new PendingWorkload(
                new WorkloadId("u", "ns", "w"),
                1,
                "left",
                new RequestShape(List.of()),
                0,
                before,
                before,
                Optional.empty(),
                false,
                Optional.empty()),
            LEFT,
            null);
    assertThat(item.createdAt()).isEqualTo(before);
    assertThat(item.queuedAt()).isEqualTo(before);
  }

  @Test
  void whoPreemptedStandsFirstExceptWhileTheQueueIsStrict() {
    add("high", LEFT, 1, 9, 0);
    queue.markSticky(add("preemptor", LEFT, 2, 5, 1));

    queue.policy(QueueingPolicies.of(QueueingStrategy.STRICT_FIFO));
    assertThat(queue.inOrder().getFirst().id().name()).isEqualTo("high");
    assertThat(queue.head()).isEqualTo(queue.inOrder().getFirst());

    queue.policy(QueueingPolicies.of(QueueingStrategy.BEST_EFFORT_FIFO));
    assertThat(queue.inOrder().getFirst().id().name()).isEqualTo("preemptor");
    assertThat(drained()).containsExactly("preemptor", "high");
  }

  /** A policy that the engine doesn't know: low priority first. */
  private static final class LowPriorityFirst implements QueueingPolicy {
    @Override
    public Comparator<QueuedWorkload> order() {
      return LOW_PRIORITY_FIRST;
    }

    @Override
    public boolean headBlocks() {
      return false;
    }

    @Override
    public boolean keepsPreemptorFirst() {
      return false;
    }

    @Override
    public boolean isCandidate(PendingQueue pending, EquivalenceClass first) {
      return pending.isHead(first);
    }
  }

  private static final Comparator<QueuedWorkload> LOW_PRIORITY_FIRST =
      Comparator.<QueuedWorkload>comparingLong(item -> item.equivalenceClass().priority())
          .thenComparing(QueuedWorkload.BY_AGE);

  @Test
  void aPolicyWithAnotherOrderReordersActiveInadmissibleAndHeldWorkloads() {
    add("high", LEFT, 1, 9, 0);
    add("low", LEFT, 1, 1, 1);
    QueuedWorkload middle = add("middle", LEFT, 2, 5, 2);
    queue.markInadmissible(middle.equivalenceClass(), NO_ROOM, LACKS);
    QueuedWorkload held = add("held", LEFT, 1, 3, 3);
    queue.hold(held, null);

    queue.policy(new LowPriorityFirst());

    assertThat(queue.inOrder())
        .extracting(item -> item.id().name())
        .containsExactly("low", "held", "middle", "high");
    assertThat(queue.inadmissibleClasses()).isEmpty();
    queue.release(held);
    assertThat(queue.count()).isEqualTo(new PendingCount(4, 0));
    assertThat(drained()).containsExactly("low", "held", "middle", "high");
  }

  @Test
  void aPolicyWithTheSameOrderLeavesInadmissibleClassesAlone() {
    QueuedWorkload item = add("a", LEFT, 1, 0, 1);
    queue.markInadmissible(item.equivalenceClass(), NO_ROOM, LACKS);
    queue.policy(QueueingPolicies.of(QueueingStrategy.STRICT_FIFO));
    assertThat(queue.inadmissibleClasses()).containsExactly(item.equivalenceClass());
  }
}
