package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.SchedulerEvent;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Nobody is admitted before all pods are ready (docs/scheduling-semantics.md#the-cycle). */
class BlockAdmissionTest {

  private final SchedulerFixture schedulerFixture =
      new SchedulerFixture(new EngineOptions(Optional.empty(), true));

  private void twoWhoFit() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("first", "q", 2, 0, 1);
    schedulerFixture.submit("second", "q", 2, 0, 2);
  }

  @Test
  void theNextWhoFitsWaitsUntilAllPodsAreReady() {
    twoWhoFit();

    assertThat(schedulerFixture.admitted()).containsExactly("first");
    assertThat(schedulerFixture.waitsFor("second")).contains(PendingReason.WAITING_FOR_PODS_READY);
    assertThat(schedulerFixture.engine.idle()).isTrue();
    schedulerFixture.podsReady("first", false);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.podsReady("first", true);

    assertThat(schedulerFixture.admitted()).containsExactly("second");
  }

  @Test
  void aQueueOfItsOwnMayWaitUntilItsPodsAreReadyWhileOthersGoOn() {
    SchedulerFixture world = new SchedulerFixture();
    world.flavor("f");
    world.queue(
        "waits",
        "",
        QueueingStrategy.BEST_EFFORT_FIFO,
        QueueRules.DEFAULT.blockingUntilReady(),
        quota("f", 10));
    world.queue("other", "", quota("f", 10));
    world.submit("first", "waits", 2, 0, 1);
    world.submit("second", "waits", 2, 0, 2);
    world.submit("third", "other", 2, 0, 1);
    world.submit("fourth", "other", 2, 0, 2);

    assertThat(world.admitted()).containsExactlyInAnyOrder("first", "third", "fourth");
    assertThat(world.waitsFor("second")).contains(PendingReason.WAITING_FOR_PODS_READY);
    assertThat(world.engine.idle()).isTrue();
    world.podsReady("third", true);
    assertThat(world.admitted()).isEmpty();

    world.podsReady("first", true);

    assertThat(world.admitted()).containsExactly("second");
  }

  @Test
  void oneOfSeveralQueuesAdmitsAtATime() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("a", "", quota("f", 10));
    schedulerFixture.queue("b", "", quota("f", 10));
    schedulerFixture.submit("later", "a", 2, 0, 2);
    schedulerFixture.submit("earlier", "b", 2, 0, 1);

    assertThat(schedulerFixture.admitted()).containsExactly("earlier");
    assertThat(schedulerFixture.waitsFor("later")).contains(PendingReason.WAITING_FOR_PODS_READY);
    schedulerFixture.podsReady("earlier", true);
    assertThat(schedulerFixture.admitted()).containsExactly("later");
  }

  @Test
  void theEndOfWhoIsNotReadyLetsOthersIn() {
    twoWhoFit();
    assertThat(schedulerFixture.admitted()).containsExactly("first");

    schedulerFixture.finish("first");

    assertThat(schedulerFixture.admitted()).containsExactly("second");
  }

  @Test
  void podsThatAreLostBlockAgain() {
    twoWhoFit();
    schedulerFixture.admitted();
    schedulerFixture.podsReady("first", true);
    schedulerFixture.admitted();
    schedulerFixture.podsReady("second", true);
    schedulerFixture.podsReady("first", false);
    schedulerFixture.submit("third", "q", 2, 0, 3);

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("third")).contains(PendingReason.WAITING_FOR_PODS_READY);
    schedulerFixture.podsReady("first", true);
    assertThat(schedulerFixture.admitted()).containsExactly("third");
  }

  @Test
  void whoOnlyReservesQuotaHasNoPodsToWaitFor() {
    twoWhoFit();
    assertThat(schedulerFixture.admitted()).containsExactly("first");

    schedulerFixture.reserving("first", false, false); // its checks are pending

    assertThat(schedulerFixture.admitted()).containsExactly("second");
  }

  @Test
  void whoseAdmissionIsWrittenAsAReservationOnlyBlocksNobody() {
    twoWhoFit();
    assertThat(schedulerFixture.engine.cycle()).isTrue();
    Decision.Admit first = schedulerFixture.admission("first");

    schedulerFixture.engine.apply(
        new SchedulerEvent.AdmissionWritten(first.id(), schedulerFixture.nextVersion(), false));

    assertThat(schedulerFixture.admitted()).containsExactly("second");
  }

  @Test
  void whoDoesNotFitIsToldSoAndBlocksNobody() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("q", "", quota("f", 10));
    schedulerFixture.submit("first", "q", 2, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("first");

    schedulerFixture.submit("large", "q", 9, 0, 2);

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("large")).contains(PendingReason.WAITING_FOR_QUOTA);
    schedulerFixture.submit("small", "q", 1, 0, 3);
    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("small")).contains(PendingReason.WAITING_FOR_PODS_READY);
  }

  @Test
  void othersArePreemptedAllTheSame() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue(
        "q",
        "",
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_PRIORITY,
            ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty()),
        quota("f", 10));
    schedulerFixture.submit("low", "q", 8, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("low");

    schedulerFixture.submit("high", "q", 5, 9, 2);

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.preempted()).containsExactly("low for high: InClusterQueue");
    schedulerFixture.finish("low");
    assertThat(schedulerFixture.admitted()).containsExactly("high");
  }

  @Test
  void thoseWhoseTurnDidNotComeAreLookedAtWhenAllAreReady() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("a", "", quota("f", 2));
    schedulerFixture.queue("b", "", quota("f", 2));
    schedulerFixture.queue("c", "", quota("f", 2));
    schedulerFixture.submit("first", "a", 2, 0, 1);
    assertThat(schedulerFixture.admitted()).containsExactly("first");
    schedulerFixture.submit("second", "b", 2, 0, 2);
    schedulerFixture.submit("third", "c", 3, 0, 3);

    assertThat(schedulerFixture.admitted()).isEmpty();
    assertThat(schedulerFixture.waitsFor("second")).contains(PendingReason.WAITING_FOR_PODS_READY);
    assertThat(schedulerFixture.waitsFor("third")).contains(PendingReason.PENDING_EVALUATION);
    schedulerFixture.podsReady("first", true);
    assertThat(schedulerFixture.admitted()).containsExactly("second");
    assertThat(schedulerFixture.waitsFor("third")).contains(PendingReason.EXCEEDS_MAX_QUOTA);
  }

  @Test
  void nobodyWaitsWhereThatIsNotAskedFor() {
    SchedulerFixture open = new SchedulerFixture();
    open.flavor("f");
    open.queue("q", "", quota("f", 10));
    open.submit("first", "q", 2, 0, 1);
    open.submit("second", "q", 2, 0, 2);

    assertThat(open.admitted()).containsExactly("first", "second");
  }
}
