package dev.sluice.core.engine;

import static dev.sluice.core.engine.World.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.PreemptionPolicies;
import dev.sluice.core.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.PreemptionPolicies.WithinClusterQueue;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Nobody is admitted before all pods are ready (scheduling semantics, section 4, step 11). */
class BlockAdmissionTest {

  private final World world = new World(new EngineOptions(Optional.empty(), true));

  private void twoWhoFit() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("first", "q", 2, 0, 1);
    world.submit("second", "q", 2, 0, 2);
  }

  @Test
  void theNextWhoFitsWaitsUntilAllPodsAreReady() {
    twoWhoFit();

    assertThat(world.admitted()).containsExactly("first");
    assertThat(world.waitsFor("second")).contains(PendingReason.WAITING_FOR_PODS_READY);
    assertThat(world.engine.idle()).isTrue();
    world.podsReady("first", false);
    assertThat(world.admitted()).isEmpty();

    world.podsReady("first", true);

    assertThat(world.admitted()).containsExactly("second");
  }

  @Test
  void oneOfSeveralQueuesAdmitsAtATime() {
    world.flavor("f");
    world.queue("a", "", quota("f", 10));
    world.queue("b", "", quota("f", 10));
    world.submit("later", "a", 2, 0, 2);
    world.submit("earlier", "b", 2, 0, 1);

    assertThat(world.admitted()).containsExactly("earlier");
    assertThat(world.waitsFor("later")).contains(PendingReason.WAITING_FOR_PODS_READY);
    world.podsReady("earlier", true);
    assertThat(world.admitted()).containsExactly("later");
  }

  @Test
  void theEndOfWhoIsNotReadyLetsOthersIn() {
    twoWhoFit();
    assertThat(world.admitted()).containsExactly("first");

    world.finish("first");

    assertThat(world.admitted()).containsExactly("second");
  }

  @Test
  void podsThatAreLostBlockAgain() {
    twoWhoFit();
    world.admitted();
    world.podsReady("first", true);
    world.admitted();
    world.podsReady("second", true);
    world.podsReady("first", false);
    world.submit("third", "q", 2, 0, 3);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.waitsFor("third")).contains(PendingReason.WAITING_FOR_PODS_READY);
    world.podsReady("first", true);
    assertThat(world.admitted()).containsExactly("third");
  }

  @Test
  void whoOnlyReservesQuotaHasNoPodsToWaitFor() {
    twoWhoFit();
    assertThat(world.admitted()).containsExactly("first");

    world.reserving("first", false, false); // its checks are pending

    assertThat(world.admitted()).containsExactly("second");
  }

  @Test
  void whoseAdmissionIsWrittenAsAReservationOnlyBlocksNobody() {
    twoWhoFit();
    assertThat(world.engine.cycle()).isTrue();
    Decision.Admit first = world.admission("first");

    world.engine.apply(new SchedulerEvent.AdmissionWritten(first.id(), world.nextVersion(), false));

    assertThat(world.admitted()).containsExactly("second");
  }

  @Test
  void whoDoesNotFitIsToldSoAndBlocksNobody() {
    world.flavor("f");
    world.queue("q", "", quota("f", 10));
    world.submit("first", "q", 2, 0, 1);
    assertThat(world.admitted()).containsExactly("first");

    world.submit("large", "q", 9, 0, 2);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.waitsFor("large")).contains(PendingReason.WAITING_FOR_QUOTA);
    world.submit("small", "q", 1, 0, 3);
    assertThat(world.admitted()).isEmpty();
    assertThat(world.waitsFor("small")).contains(PendingReason.WAITING_FOR_PODS_READY);
  }

  @Test
  void othersArePreemptedAllTheSame() {
    world.flavor("f");
    world.queue(
        "q",
        "",
        new PreemptionPolicies(
            WithinClusterQueue.LOWER_PRIORITY,
            ReclaimWithinCohort.NEVER,
            false,
            OptionalInt.empty()),
        quota("f", 10));
    world.submit("low", "q", 8, 0, 1);
    assertThat(world.admitted()).containsExactly("low");

    world.submit("high", "q", 5, 9, 2);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.preempted()).containsExactly("low for high: InClusterQueue");
    world.finish("low");
    assertThat(world.admitted()).containsExactly("high");
  }

  @Test
  void thoseWhoseTurnDidNotComeAreLookedAtWhenAllAreReady() {
    world.flavor("f");
    world.queue("a", "", quota("f", 2));
    world.queue("b", "", quota("f", 2));
    world.queue("c", "", quota("f", 2));
    world.submit("first", "a", 2, 0, 1);
    assertThat(world.admitted()).containsExactly("first");
    world.submit("second", "b", 2, 0, 2);
    world.submit("third", "c", 3, 0, 3);

    assertThat(world.admitted()).isEmpty();
    assertThat(world.waitsFor("second")).contains(PendingReason.WAITING_FOR_PODS_READY);
    assertThat(world.waitsFor("third")).contains(PendingReason.PENDING_EVALUATION);
    world.podsReady("first", true);
    assertThat(world.admitted()).containsExactly("second");
    assertThat(world.waitsFor("third")).contains(PendingReason.EXCEEDS_MAX_QUOTA);
  }

  @Test
  void nobodyWaitsWhereThatIsNotAskedFor() {
    World open = new World();
    open.flavor("f");
    open.queue("q", "", quota("f", 10));
    open.submit("first", "q", 2, 0, 1);
    open.submit("second", "q", 2, 0, 2);

    assertThat(open.admitted()).containsExactly("first", "second");
  }
}
