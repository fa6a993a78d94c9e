package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.RunBound;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.QueueRules.QuotaRules;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Overstay;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Users;
import dev.sluice.core.model.WorkloadId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may start beside reserved capacity, and who has to go (docs/reservations.md). */
class ReservedCapacityTest {

  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private static final PreemptionPolicies PREEMPTING =
      new PreemptionPolicies(
          WithinClusterQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY, false, OptionalInt.empty());

  /** Users have priority 7. */
  private static final Users USERS = new Users(Set.of(), Set.of(7L));

  private final SchedulerFixture world = new SchedulerFixture();

  @BeforeEach
  void begin() {
    world.flavor("f");
    pass(0);
  }

  private void pass(int minutes) {
    world.engine.apply(new SchedulerEvent.TimePassed(START.plus(Duration.ofMinutes(minutes))));
  }

  private static Occurrence from(int minutes, int until) {
    return new Occurrence(
        START.plus(Duration.ofMinutes(minutes)), START.plus(Duration.ofMinutes(until)));
  }

  private static ReservedCapacity reserved(long amount, boolean lend, Occurrence... occurrences) {
    return new ReservedCapacity(
        "r",
        new Scope.OfQueue("q", List.of(new Share("f", "cpu", amount))),
        USERS,
        lend,
        List.of(occurrences));
  }

  private void keep(ReservedCapacity... kept) {
    world.engine.apply(new SchedulerEvent.ReservationsChanged(List.of(kept)));
  }

  private void bounded(String name, int minutes) {
    world.engine.apply(
        new SchedulerEvent.RunBounded(
            new WorkloadId("uid-" + name, "ns", name), RunBound.of(Duration.ofMinutes(minutes))));
  }

  private String detail(String name) {
    return world.explanation(name).map(Explanation::detail).orElse("");
  }

  /** How many cycles there are until nothing is left to look at. */
  private int cycles() {
    int cycles = 0;
    while (world.engine.cycle()) {
      cycles++;
    }
    return cycles;
  }

  private List<String> overstays() {
    return world.engine.overstays().stream().map(each -> each.id().name()).toList();
  }

  @Test
  void whatWouldOutliveTheStartIsHeldAndWhatEndsBeforeIsNot() {
    world.queue("q", "", SchedulerFixture.quota("f", 10));
    keep(reserved(8, false, from(60, 120)));
    bounded("short", 50);
    bounded("long", 60);
    world.submit("endless", "q", 4);
    world.submit("long", "q", 4);
    world.submit("short", "q", 4);
    world.submit("small", "q", 2);

    assertThat(world.admitted()).containsExactlyInAnyOrder("short", "small");
    assertThat(detail("endless"))
        .isEqualTo(
            "CapacityReserved: held for CapacityReservation r from 2026-01-01T01:00:00Z to"
                + " 2026-01-01T02:00:00Z, which keeps 0.008 of cpu in f of ClusterQueue q; nothing"
                + " limits how long this workload runs (maximumExecutionTimeSeconds)");
    assertThat(detail("long")).endsWith("; this workload may run until 2026-01-01T01:01:01Z");

    pass(119);
    assertThat(world.admitted()).isEmpty();
    pass(120);
    world.finish("short");
    assertThat(world.admitted()).contains("endless");
  }

  @Test
  void aReleaseLooksOnlyAtThoseThatMayStart() {
    world.queue("q", "c", SchedulerFixture.quota("f", 10));
    world.queue("b", "c", SchedulerFixture.quota("f", 0));
    keep(reserved(8, false, from(0, 120)));
    world.submit("small", "q", 1);
    world.submit("tiny", "q", 1);
    assertThat(world.admitted()).containsExactly("small", "tiny");
    world.submit("two", "b", 2);
    world.submit("three", "b", 3);
    world.submit("own", "q", 3);
    assertThat(world.admitted()).isEmpty();

    world.finish("tiny");
    assertThat(world.engine.cycle())
        .as("one is free beside 8, and nobody asks for so little")
        .isFalse();

    world.finish("small");
    assertThat(cycles()).as("there is room for 2").isEqualTo(1);
    assertThat(world.admission("two").clusterQueue()).isEqualTo("b");
    assertThat(detail("three")).startsWith("CapacityReserved: held for CapacityReservation r");
  }

  /** A Workload of queue b has what is left beside that which is kept of the quota of queue q. */
  private void startsBesideAReservation(int quota, int kept, int cpu) {
    world.queue("q", "c", SchedulerFixture.quota("f", quota));
    world.queue("b", "c", SchedulerFixture.quota("f", 0));
    keep(reserved(kept, false, from(0, 120)));
    world.submit("first", "b", cpu);
    assertThat(world.admitted()).containsExactly("first");
  }

  @Test
  void thoseThatCameBackAreHeldAgainWhenAnotherTookTheRoom() {
    startsBesideAReservation(10, 6, 4);
    for (int i = 0; i < 20; i++) {
      world.submit("waits-" + i, "b", 4);
    }
    assertThat(world.admitted()).isEmpty();

    world.finish("first");
    assertThat(cycles()).as("one admits, and the others aren't looked at").isEqualTo(1);
    assertThat(world.admission("waits-0").clusterQueue()).isEqualTo("b");
    world.finish("waits-0");
    assertThat(world.admitted()).containsExactly("waits-1");
  }

  @Test
  void thoseForWhomThereIsRoomStartOneAfterAnother() {
    startsBesideAReservation(20, 8, 12);
    for (int i = 0; i < 10; i++) {
      world.submit("waits-" + i, "b", i % 2 == 0 ? 4 : 3);
    }
    assertThat(world.admitted()).isEmpty();

    world.finish("first");
    assertThat(world.admitted())
        .as("4, 3, 4, and nobody asks for so little as the rest")
        .containsExactly("waits-0", "waits-1", "waits-2");
    world.finish("waits-1");
    assertThat(world.admitted()).containsExactly("waits-3");
  }

  @Test
  void usersGetWhatIsKeptAndWhatTheyHaveIsNotKeptTwice() {
    world.queue("q", "", SchedulerFixture.quota("f", 10));
    keep(reserved(8, false, from(0, 120)));
    world.submit("other", "q", 3);
    assertThat(world.admitted()).isEmpty();
    world.submit("user", "q", SchedulerFixture.shape(6), 7);
    assertThat(world.admitted()).containsExactly("user");
    world.submit("tiny", "q", 2);
    assertThat(world.admitted()).containsExactly("tiny");
    world.submit("second", "q", SchedulerFixture.shape(2), 7);
    assertThat(world.admitted()).containsExactly("second");
  }

  @Test
  void whatCanBePreemptedStaysUntilTheStart() {
    world.queue("q", "", PREEMPTING, SchedulerFixture.quota("f", 10));
    keep(reserved(8, false, from(60, 120)));
    world.submit("one", "q", 4, 0, 1);
    world.submit("two", "q", 4, 0, 2);
    world.submitNotEvictable("firm", "q", 2, 0);
    assertThat(world.admitted()).containsExactlyInAnyOrder("one", "two", "firm");
    pass(59);
    assertThat(overstays()).isEmpty();
    pass(60);
    assertThat(overstays()).containsExactlyInAnyOrder("one", "two");
    assertThat(world.engine.overstays())
        .extracting(Overstay::message)
        .allSatisfy(
            message ->
                assertThat(message)
                    .startsWith(
                        "Evicted for CapacityReservation r from 2026-01-01T01:00:00Z to"
                            + " 2026-01-01T02:00:00Z"));
  }

  @Test
  void whoHasTimeForACheckpointIsToldBeforeTheStart() {
    world.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.withQuota(
            QuotaRules.DEFAULT.withPreemption(
                PreemptionRules.NONE.withCheckpointGrace(Optional.of(Duration.ofMinutes(2))))),
        PREEMPTING,
        SchedulerFixture.quota("f", 10));
    world.submit("one", "q", 4, 1, 1);
    world.submit("two", "q", 4, 0, 2);
    assertThat(world.admitted()).containsExactlyInAnyOrder("one", "two");
    keep(reserved(6, false, from(60, 120)));
    pass(57);
    assertThat(overstays()).isEmpty();
    pass(58);
    assertThat(world.engine.overstays())
        .singleElement()
        .satisfies(
            each -> {
              assertThat(each.id().name()).isEqualTo("two");
              assertThat(each.from()).isEqualTo(START.plus(Duration.ofMinutes(60)));
              assertThat(each.grace()).isEqualTo(Duration.ofMinutes(2));
            });
  }

  @Test
  void onlyAsManyGoAsAreInTheWay() {
    world.queue("q", "", PREEMPTING, SchedulerFixture.quota("f", 10));
    world.submit("one", "q", 4, 1, 1);
    world.submit("two", "q", 4, 0, 2);
    assertThat(world.admitted()).hasSize(2);
    keep(reserved(4, false, from(0, 120)));
    assertThat(overstays()).containsExactly("two");
  }

  /** As preemption does: whoever has borrowed goes before those of the queue itself. */
  @Test
  void whoBorrowsFromTheQueueGoesFirst() {
    world.queue("q", "c", PREEMPTING, SchedulerFixture.quota("f", 10));
    world.queue("other", "c", SchedulerFixture.quota("f", 0));
    world.submit("own", "q", 4, 0, 1);
    world.submit("borrows", "other", 4, 9, 2);
    assertThat(world.admitted()).hasSize(2);
    keep(reserved(6, false, from(0, 120)));
    assertThat(overstays()).containsExactly("borrows");
  }

  @Test
  void aHeadBehindOthersGetsAFlavorThatIsNoLongerKept() {
    world.flavor("g");
    world.queue("strict", "c", QueueingStrategy.STRICT_FIFO, SchedulerFixture.quota("g", 10));
    world.queue("other", "c", SchedulerFixture.quota("f", 5), SchedulerFixture.quota("g", 0));
    world.submit("runs", "strict", 3);
    assertThat(world.admitted()).containsExactly("runs");
    keep(
        new ReservedCapacity(
            "w", new Scope.OfFlavors(Set.of("f")), Users.NOBODY, false, List.of(from(60, 120))));
    world.submit("large", "strict", 10);
    world.submit("small", "other", 4);
    assertThat(world.admitted()).as("large keeps g free, and the window f").isEmpty();
    assertThat(detail("small")).doesNotStartWith("CapacityReserved");

    keep();
    assertThat(world.admitted()).containsExactly("small");
    assertThat(world.admission("small").podSets().getFirst().flavors()).containsEntry("cpu", "f");
  }

  @Test
  void whoWouldBeInTheWayOfOneFlavorGetsAnother() {
    world.flavor("g");
    world.queue("q", "", SchedulerFixture.quota("f", 10), SchedulerFixture.quota("g", 5));
    keep(reserved(8, false, from(60, 120)));
    world.submit("one", "q", 4);
    world.submit("two", "q", 4);
    assertThat(world.admitted()).containsExactly("one");
    assertThat(world.admission("one").podSets().getFirst().flavors()).containsEntry("cpu", "g");
    assertThat(detail("two")).startsWith("CapacityReserved: held for CapacityReservation r");
  }

  @Test
  void whoStartsBeforeABlockedHeadGetsAFlavorOfWhichNothingIsKept() {
    world.flavor("g");
    world.queue(
        "q",
        "",
        QueueingStrategy.STRICT_FIFO,
        QueueRules.DEFAULT.withBackfill(
            Optional.of(new BackfillRules(1, BackfillRules.UnknownRunTime.REFUSE))),
        SchedulerFixture.quota("f", 20),
        SchedulerFixture.quota("g", 5));
    keep(reserved(19, false, from(60, 120)));
    bounded("first", 10);
    bounded("large", 10);
    bounded("long", 100);
    bounded("longer", 101);
    world.submit("first", "q", 14, 0, 0);
    world.submit("large", "q", 15, 0, 1);
    world.submit("long", "q", 3, 0, 2);
    world.submit("longer", "q", 3, 0, 3);
    assertThat(world.admitted()).containsExactly("first", "long");
    assertThat(world.admission("long").podSets().getFirst().flavors()).containsEntry("cpu", "g");
  }

  @Test
  void whoIsKeptFromAFlavorStandsInNobodysWayWhoIsNot() {
    world.flavor("g");
    world.queue("other", "c", QueueingStrategy.STRICT_FIFO, SchedulerFixture.quota("g", 10));
    world.queue(
        "q",
        "c",
        QueueingStrategy.STRICT_FIFO,
        QueueRules.DEFAULT.withBackfill(
            Optional.of(new BackfillRules(1, BackfillRules.UnknownRunTime.REFUSE))),
        SchedulerFixture.quota("f", 20),
        SchedulerFixture.quota("g", 0));
    keep(reserved(19, false, from(60, 120)));
    bounded("first", 10);
    bounded("large", 10);
    bounded("long", 100);
    bounded("short", 5);
    world.submit("runs", "other", 3, 0, 0);
    world.submit("claims", "other", 10, 0, 1);
    world.submit("first", "q", 14, 0, 0);
    world.submit("large", "q", 15, 0, 1);
    world.submit("long", "q", 3, 0, 2);
    world.submit("short", "q", 3, 0, 3);
    assertThat(world.admitted()).containsExactlyInAnyOrder("runs", "first", "short");
    assertThat(world.admission("short").podSets().getFirst().flavors()).containsEntry("cpu", "f");
  }

  /** It preempts in the first flavor, although the second one is free. */
  private void preemptsInTheFirstFlavor(long nominalOfSecond) {
    world.flavor("g");
    world.queue(
        "q",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        PREEMPTING,
        new FlavorFungibility(false, false, false),
        SchedulerFixture.quota("f", 6),
        SchedulerFixture.quota("g", nominalOfSecond));
    world.submit("low", "q", 4);
    assertThat(world.admitted()).containsExactly("low");
    keep(reserved(6, false, from(60, 120)));
    bounded("high", 30);
    world.submitNotEvictable("high", "q", 5, 1);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("low for high: InClusterQueue");
  }

  @Test
  void aPreemptorThatComesNearAReservationWhileItWaitsGetsAnotherFlavor() {
    preemptsInTheFirstFlavor(5);
    pass(28);
    assertThat(world.admitted()).as("over a minute and two seconds before the start").isEmpty();
    pass(29);
    assertThat(world.admitted()).containsExactly("high");
    assertThat(world.admission("high").podSets().getFirst().flavors()).containsEntry("cpu", "g");
  }

  @Test
  void aPreemptorThatComesNearAReservationWhileItWaitsIsPassed() {
    preemptsInTheFirstFlavor(0);
    bounded("small", 5);
    world.submit("small", "q", 2);
    pass(28);
    assertThat(world.admitted()).isEmpty();
    pass(29);
    assertThat(world.admitted()).containsExactly("small");
    assertThat(detail("high")).startsWith("CapacityReserved: held for CapacityReservation r");
  }

  @Test
  void whoIsSkippedForAHeadAndComesNearAReservationIsPassed() {
    world.queue("strict", "c", QueueingStrategy.STRICT_FIFO, SchedulerFixture.quota("f", 6));
    world.queue(
        "other", "c", SchedulerFixture.quota("f", 2, ResourceAmounts.UNLIMITED, /* lends */ 0));
    world.submit("runs", "strict", 5);
    world.submit("ends", "other", 2);
    assertThat(world.admitted()).containsExactlyInAnyOrder("runs", "ends");
    keep(
        new ReservedCapacity(
            "w", new Scope.OfFlavors(Set.of("f")), Users.NOBODY, false, List.of(from(60, 120))));
    bounded("large", 30);
    bounded("small", 5);
    world.submit("head", "strict", SchedulerFixture.shape(5), 2);
    world.submitNotEvictable("large", "other", 3, 1);
    world.submit("small", "other", 2);
    assertThat(world.admitted()).isEmpty();
    world.finish("ends");
    pass(28);
    assertThat(world.admitted())
        .as("the head keeps what large would borrow, and small comes after large")
        .isEmpty();
    pass(29);
    assertThat(world.admitted()).containsExactly("small");
    assertThat(detail("large")).startsWith("CapacityReserved: held for MaintenanceWindow w");
  }

  @Test
  void anotherQueueThatBorrowsIsInTheWayToo() {
    world.queue("q", "c", SchedulerFixture.quota("f", 10));
    world.queue("other", "c", SchedulerFixture.quota("f", 2));
    keep(reserved(8, false, from(60, 120)));
    world.submit("own", "other", 2, 0, 0);
    world.submit("borrows", "other", 4, 0, 1);
    assertThat(world.admitted()).containsExactly("own");
    assertThat(detail("borrows")).startsWith("CapacityReserved: ");
    bounded("borrows", 30);
    assertThat(world.admitted()).containsExactly("borrows");
  }

  @Test
  void whatIsLentGoesWhenAUserComes() {
    world.queue("q", "", PREEMPTING, SchedulerFixture.quota("f", 10));
    keep(reserved(8, true, from(0, 120)));
    world.submitNotEvictable("firm", "q", 4, 0);
    world.submit("one", "q", 5, 1, 1);
    world.submit("two", "q", 5, 0, 2);
    assertThat(world.admitted()).containsExactlyInAnyOrder("one", "two");
    assertThat(detail("firm")).contains("CapacityReserved");
    assertThat(overstays()).isEmpty();
    world.submit("user", "q", SchedulerFixture.shape(5), 7);
    assertThat(overstays()).containsExactly("two");
  }

  @Test
  void aUserWhoStartsWaitsNoLongerSoThatTheRestIsLentInTheSameCycle() {
    world.queue("q", "c", PREEMPTING, SchedulerFixture.quota("f", 10));
    world.queue("b", "c", SchedulerFixture.quota("f", 0));
    keep(reserved(8, true, from(0, 120)));
    world.submit("user", "q", SchedulerFixture.shape(5), 7);
    world.submit("borrows", "b", 5);

    world.engine.cycle();

    assertThat(world.admission("user").clusterQueue()).isEqualTo("q");
    assertThat(world.admission("borrows").clusterQueue()).isEqualTo("b");
  }

  @Test
  void whenTheLastInLineOfAClassLeavesAHeldOneOfItLacksWhatTheClassLacks() {
    world.queue("q", "", SchedulerFixture.quota("f", 10));
    LocalQueueId users = new LocalQueueId("ns", "users");
    world.tell(
        new SchedulerEvent.LocalQueueChanged(new LocalQueueSpec(users, "q", StopPolicy.NONE)));
    keep(
        new ReservedCapacity(
            "r",
            new Scope.OfQueue("q", List.of(new Share("f", "cpu", 4))),
            new Users(Set.of(users), Set.of()),
            false,
            List.of(from(60, 120))));
    bounded("short", 30);
    world.submit("three", "q", 3);
    world.submit("one", "q", 1);
    assertThat(world.admitted()).containsExactlyInAnyOrder("three", "one");
    world.submit("held", "q", 3);
    world.submit("short", "q", 5);
    world.submit("user", "users", 3);
    assertThat(world.admitted()).containsExactly("short");
    assertThat(detail("held")).startsWith("CapacityReserved");
    assertThat(detail("user")).doesNotStartWith("CapacityReserved").isNotEmpty();

    world.finish("one");
    assertThat(world.admitted()).as("2 are free, and 4 beside 3 at the start").isEmpty();
    String lacks = detail("user");
    world.finish("user");
    assertThat(world.engine.cycle()).as("the class lacks 3 still").isFalse();
    assertThat(detail("held")).isEqualTo(lacks);

    world.finish("short");
    assertThat(world.admitted()).containsExactly("held");
  }

  @Test
  void aFlavorUnderMaintenanceIsEmptied() {
    world.queue("q", "", SchedulerFixture.quota("f", 10));
    world.submit("old", "q", 4);
    assertThat(world.admitted()).containsExactly("old");
    keep(
        new ReservedCapacity(
            "rack", new Scope.OfFlavors(Set.of("f")), Users.NOBODY, false, List.of(from(60, 120))));
    bounded("short", 50);
    world.submit("endless", "q", 1);
    world.submit("short", "q", 1);
    assertThat(world.admitted()).containsExactly("short");
    assertThat(detail("endless"))
        .startsWith(
            "CapacityReserved: held for MaintenanceWindow rack from 2026-01-01T01:00:00Z to"
                + " 2026-01-01T02:00:00Z, which keeps f empty");
    pass(60);
    assertThat(overstays()).containsExactlyInAnyOrder("old", "short");
    pass(120);
    assertThat(world.admitted()).containsExactly("endless");
  }

  @Test
  void usersAreThoseThatMatchBothLists() {
    LocalQueueId queue = new LocalQueueId("ns", "a");
    Users both = new Users(Set.of(queue), Set.of(7L));
    assertThat(both.include(queue, 7)).isTrue();
    assertThat(both.include(queue, 6)).isFalse();
    assertThat(both.include(new LocalQueueId("ns", "b"), 7)).isFalse();
    assertThat(Users.NOBODY.include(queue, 7)).isFalse();
  }
}
