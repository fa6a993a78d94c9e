package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineOptions;
import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import dev.sluice.reference.ReferenceEngine.Waking;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Random worlds whose queues have strategies and rules beyond the fields of their API, played to
 * the engine and to the reference.
 */
class QueueingPoliciesAgainstReferenceTest {

  @Test
  void everyCycleAdmitsTheSameInTheSameOrder() {
    AtomicLong admissions = new AtomicLong();
    Worlds.play(
        "admission by policies",
        12_000,
        (seed, length) -> RandomWorld.withPolicies(seed, false).steps(length),
        (seed, world) -> {
          Rerun one = new Rerun(Rerun.reference(Waking.HELPED), true);
          one.play(world);
          admissions.addAndGet(one.admissions());
        });
    assertThat(admissions).hasPositiveValue();
  }

  @Test
  void everyCyclePreemptsTheSame() {
    preempt("preemption by policies", Optional.empty());
  }

  @Test
  void everyCycleOfQueuesThatShareFairlyDecidesTheSame() {
    preempt(
        "fair sharing by policies",
        Optional.of(
            new FairSharing(List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE), true, true)));
  }

  private static void preempt(String what, Optional<FairSharing> sharing) {
    AtomicLong admissions = new AtomicLong();
    AtomicLong victims = new AtomicLong();
    Worlds.play(
        what,
        12_000,
        (seed, length) -> RandomWorld.withPolicies(seed, true).steps(length),
        (seed, world) -> {
          PreemptionRerun rerun =
              new PreemptionRerun(
                  Played.of(new EngineProbe(new EngineOptions(sharing, false))), sharing);
          rerun.play(world);
          admissions.addAndGet(rerun.admissions());
          victims.addAndGet(rerun.victims());
        });
    assertThat(admissions).hasPositiveValue();
    assertThat(victims).hasPositiveValue();
  }
}
