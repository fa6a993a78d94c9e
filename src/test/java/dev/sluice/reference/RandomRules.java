package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.PreemptionHistory;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes up rules of preemption whose times are over within a few seconds. */
final class RandomRules {

  private RandomRules() {}

  /** The rules of a ClusterQueue or a Cohort, which often has none. */
  static PreemptionRules ofQueue(Dice dice) {
    return dice.chance(40) ? PreemptionRules.NONE : rules(dice, false);
  }

  /** The rules of a priority class, which mostly has none. */
  static PreemptionRules ofClass(Dice dice) {
    return dice.chance(75) ? PreemptionRules.NONE : rules(dice, dice.chanceOfHalf());
  }

  /**
   * Policies for the search of a flavor, mostly with the progress that the gates give by default.
   */
  static FlavorFungibility fungibility(Dice dice) {
    return new FlavorFungibility(
        dice.chanceOfHalf(),
        dice.chanceOfHalf(),
        dice.chanceOfHalf(),
        dice.chance(60) ? ScanProgress.PRESERVED : dice.pick(ScanProgress.values()));
  }

  private static PreemptionRules rules(Dice dice, boolean exempt) {
    return new PreemptionRules(
        dice.chance(50) ? Optional.of(seconds(dice, 6)) : Optional.empty(),
        dice.chance(30)
            ? Optional.of(new PreemptionLimit(1 + dice.below(2), seconds(dice, 12)))
            : Optional.empty(),
        dice.chance(25) ? Optional.of(seconds(dice, 15)) : Optional.empty(),
        exempt);
  }

  private static Duration seconds(Dice dice, int most) {
    return Duration.ofSeconds(1 + dice.below(most));
  }

  /** The same Workload, preempted once more and stopped now. */
  static PendingWorkload preempted(PendingWorkload workload, Instant now) {
    List<Instant> times = new ArrayList<>(workload.history().preemptedAt());
    times.add(now);
    return workload.withHistory(new PreemptionHistory(Optional.of(now), times));
  }
}
