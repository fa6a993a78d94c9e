package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.WorkloadId;
import java.util.List;
import org.junit.jupiter.api.Test;

class EngineTest {

  private final World world = new World();

  @Test
  void admitsUpToTheQuotaInOrderOfAge() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("second", "q", 6, 0, 2);
    world.submit("first", "q", 6, 0, 1);

    assertThat(world.admitted()).containsExactly("first");
    world.finish("first");
    assertThat(world.admitted()).containsExactly("second");
  }

  @Test
  void higherPriorityGoesFirst() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("old", "q", 6, 0, 1);
    world.submit("important", "q", 6, 5, 2);

    assertThat(world.admitted()).containsExactly("important");
  }

  @Test
  void bestEffortLetsSmallerOnesPass() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("large", "q", 11, 0, 1);
    world.submit("small", "q", 3, 0, 2);

    assertThat(world.admitted()).containsExactly("small");
  }

  @Test
  void strictFifoBlocksBehindItsHead() {
    world.flavor("f");
    world.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    world.submit("running", "q", 8, 0, 0);
    assertThat(world.admitted()).containsExactly("running");
    world.submit("head", "q", 5, 0, 1);
    world.submit("behind", "q", 1, 0, 2);

    assertThat(world.admitted()).isEmpty();
    world.finish("running");
    assertThat(world.admitted()).containsExactly("head", "behind");
  }

  @Test
  void aHigherPriorityPassesABlockedStrictHead() {
    world.flavor("f");
    world.queue("q", "", QueueingStrategy.STRICT_FIFO, quota("f", 10));
    world.submit("running", "q", 8, 0, 0);
    world.admitted();
    world.submit("head", "q", 5, 0, 1);
    assertThat(world.admitted()).isEmpty();

    world.submit("urgent", "q", 2, 9, 2);
    assertThat(world.admitted()).containsExactly("urgent");
  }

  @Test
  void fallsThroughToTheNextFlavorAndSkipsTaintedOnes() {
    world.flavor("a");
    world.flavor("b", new Taint("spot", "true", "NoSchedule"));
    world.flavor("c");
    world.queue("q", "", quota("a", 2), quota("b", 10), quota("c", 10));
    world.submit("w", "q", 5);

    assertThat(world.admitted()).containsExactly("w");
    assertThat(world.admission("w").podSets().getFirst().flavors()).containsEntry("cpu", "c");
  }

  @Test
  void borrowsFromTheCohortWithinTheLimit() {
    world.flavor("f");
    world.queue("a", "co", quota("f", 5, 3, Long.MAX_VALUE));
    world.queue("b", "co", quota("f", 10));
    world.submit("nine", "a", 9);
    world.submit("eight", "a", 8);

    assertThat(world.admitted()).containsExactly("eight");
    assertThat(world.engine.unreported().take(10))
        .extracting(Decision.Explain::id, each -> each.explanation().reason())
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(
                new WorkloadId("uid-nine", "ns", "nine"), PendingReason.EXCEEDS_MAX_QUOTA));
  }

  @Test
  void lendsNoMoreThanItsLendingLimit() {
    world.flavor("f");
    world.queue("a", "co", quota("f", 0));
    world.queue("b", "co", quota("f", 10, Long.MAX_VALUE, 4));
    world.submit("five", "a", 5);
    world.submit("four", "a", 4);
    world.submit("six", "b", 6);

    assertThat(world.admitted()).containsExactlyInAnyOrder("four", "six");
  }

  @Test
  void thoseWhoBorrowLessGoFirstAcrossACohort() {
    world.flavor("f");
    world.queue("a", "co", quota("f", 2));
    world.queue("b", "co", quota("f", 8));
    world.submit("borrower", "a", 8, 100, 1);
    world.submit("owner", "b", 8, 0, 2);

    assertThat(world.admitted()).containsExactly("owner");
  }

  @Test
  void membersOfACyclicCohortWaitUntilTheCycleIsGone() {
    world.flavor("f");
    world.cohort("x", "y");
    world.cohort("y", "x");
    world.queue("q", "x", quota("f", 5));
    world.submit("w", "q", 1);
    assertThat(world.admitted()).isEmpty();

    world.cohort("y", "");
    assertThat(world.admitted()).containsExactly("w");
  }

  @Test
  void aWorkloadWaitsForItsQueuesToAppear() {
    world.flavor("f");
    world.submit("w", "q", 1);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.engine.unreported().take(1).getFirst().explanation().reason())
        .isEqualTo(PendingReason.MISCONFIGURED);

    world.queue("q", "", quota("f", 5));
    assertThat(world.admitted()).containsExactly("w");
  }

  @Test
  void anOlderStateNeverUndoesAnAdmission() {
    world.flavor("f");
    world.queue("q", "", quota("f", 5));
    WorkloadId id = world.submit("w", "q", 5);
    world.submit("other", "q", 5, 0, 1);
    assertThat(world.admitted()).containsExactly("w");

    Decision.Admit admit = world.admission("w");
    world.engine.apply(
        new SchedulerEvent.AdmissionRefused(id, admit.version(), true)); // a late answer of a former try
    assertThat(world.admitted()).isEmpty();
  }

  @Test
  void aRefusedAdmissionGivesItsQuotaBackAndWaitsForNews() {
    world.flavor("f");
    world.queue("q", "", quota("f", 5));
    WorkloadId id = world.submit("w", "q", 5);
    while (world.engine.cycle()) {
      // decide, without confirming
    }
    world.engine.apply(new SchedulerEvent.AdmissionRefused(id, world.admission("w").version(), true));
    world.submit("other", "q", 5, 0, 1);
    assertThat(world.admitted()).containsExactly("other");

    world.finish("other");
    world.submit("w", "q", 5);
    assertThat(world.admitted()).containsExactly("w");
  }

  @Test
  void explanationsAreToldOnceAndToLatecomersToo() {
    world.flavor("f");
    world.queue("q", "", quota("f", 5));
    world.submit("running", "q", 5);
    world.admitted();
    world.submit("a", "q", 5, 0, 1);
    world.submit("b", "q", 5, 0, 2);
    world.admitted();
    assertThat(told()).containsExactly("a", "b");
    assertThat(told()).isEmpty();

    world.submit("c", "q", 5, 0, 3);
    world.admitted();
    assertThat(told()).containsExactly("c");
    world.finish("running");
    assertThat(world.admitted()).containsExactly("a");
    assertThat(told()).isEmpty();
  }

  private List<String> told() {
    return world.engine.unreported().take(100).stream().map(each -> each.id().name()).toList();
  }
}
