package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.pods;
import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/**
 * A head that fits, and is skipped because quota is kept free for one that comes before it, tries
 * its other flavors in the next cycles, once.
 */
class SkippedHeadTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  /**
   * A StrictFIFO queue lent half of its quota of two flavors to those who run in other queues; its
   * head waits for it, and keeps free what is left.
   *
   * @param others the flavors of the queue in which one will be skipped
   */
  private void givenAHeadThatWaitsForTwoFlavors(ResourceGroup.FlavorQuotas... others) {
    schedulerFixture.flavor("h");
    for (String flavor : List.of("f", "g")) {
      schedulerFixture.flavor(flavor);
      schedulerFixture.queue("on-" + flavor, "co", quota(flavor, 4));
      schedulerFixture.submit("runs-on-" + flavor, "on-" + flavor, 3);
      schedulerFixture.submit("borrows-" + flavor, "on-" + flavor, 3);
    }
    schedulerFixture.queue(
        "strict", "co", QueueingStrategy.STRICT_FIFO, quota("f", 4), quota("g", 4));
    schedulerFixture.queue("other", "co", others);
    schedulerFixture.admitted();
    schedulerFixture.submit(
        "waits", "strict", new RequestShape(List.of(pods("one", 4, 4), pods("two", 4, 4))), 1);
    assertThat(cycles()).isLessThan(10);
  }

  private int cycles() {
    int cycles = 0;
    while (cycles < 1_000 && schedulerFixture.engine.cycle()) {
      cycles++;
    }
    return cycles;
  }

  @Test
  void doesNotGoThroughItsFlavorsAgainWhileNothingChanges() {
    givenAHeadThatWaitsForTwoFlavors(quota("f", 0), quota("g", 0));

    schedulerFixture.submit("skipped", "other", 1);

    assertThat(cycles()).isLessThan(10);
    assertThat(schedulerFixture.decisions).hasSize(4);

    // when somebody else comes to the tree, and gets nothing
    schedulerFixture.submit("large", "on-f", 99);

    // then
    assertThat(cycles()).isLessThan(5);
  }

  @Test
  void triesEachOfItsFlavorsWhenSomethingChanges() {
    givenAHeadThatWaitsForTwoFlavors(quota("f", 0), quota("g", 0));
    schedulerFixture.submit("skipped", "other", 1);
    assertThat(cycles()).isLessThan(10);

    schedulerFixture.finish("borrows-g");

    assertThat(schedulerFixture.admitted()).containsExactly("skipped");
    assertThat(schedulerFixture.admission("skipped").podSets().getFirst().flavors())
        .containsValue("g");
  }

  @Test
  void goesOnWithItsNextFlavorAfterItWaitedForVictimsThere() {
    // given a head that waits for a victim in its second flavor; in the first one it is skipped,
    // since a StrictFIFO head waits there for what another queue has borrowed
    schedulerFixture.flavor("f");
    schedulerFixture.flavor("g");
    schedulerFixture.queue("borrows", "co", quota("f", 4));
    schedulerFixture.queue("late", "co", quota("f", 4));
    schedulerFixture.queue("strict", "co", QueueingStrategy.STRICT_FIFO, quota("f", 4));
    schedulerFixture.queue(
        "other",
        "co",
        QueueingStrategy.BEST_EFFORT_FIFO,
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_PRIORITY,
            ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty()),
        new FlavorFungibility(false, false, false),
        quota("f", 4),
        quota("g", 4));
    schedulerFixture.submit("large", "borrows", 11);
    schedulerFixture.submit("first", "other", 4);
    schedulerFixture.submit("second", "other", 4);
    assertThat(schedulerFixture.admitted()).containsExactlyInAnyOrder("large", "first", "second");
    schedulerFixture.submit("waits", "strict", SchedulerFixture.shape(4), 2);
    schedulerFixture.submit("head", "other", SchedulerFixture.shape(4), 1);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("second for head: InClusterQueue");

    // when one keeps quota of the first flavor for once, and the victim can't be evicted
    schedulerFixture.submit("once", "late", SchedulerFixture.shape(4), 3);
    for (int i = 0; i < 3; i++) {
      schedulerFixture.engine.cycle();
    }
    Decision.Preempt before = (Decision.Preempt) schedulerFixture.decisions.getLast();
    Decision.Target second = before.targets().getFirst();
    schedulerFixture.tell(new SchedulerEvent.EvictionRefused(second.id(), second.version()));
    schedulerFixture.engine.cycle();

    // then
    assertThat(schedulerFixture.decisions.getLast())
        .isNotSameAs(before)
        .isInstanceOfSatisfying(
            Decision.Preempt.class,
            again ->
                assertThat(again.targets())
                    .extracting(Decision.Target::id)
                    .containsExactly(second.id()));
  }

  @Test
  void getsAFlavorThatNobodyWaitsFor() {
    givenAHeadThatWaitsForTwoFlavors(quota("f", 0), quota("g", 0), quota("h", 4));

    schedulerFixture.submit("skipped", "other", 1);

    assertThat(schedulerFixture.admitted()).containsExactly("skipped");
    assertThat(schedulerFixture.admission("skipped").podSets().getFirst().flavors())
        .containsValue("h");
  }
}
