package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.backfill.QuotaProfile;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.Instants;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When nominal quota is expected to be free, by the bounds of runs (docs/backfill.md#bounds). A
 * Cohort's quota doesn't count: a queue that prefers not to borrow may leave that quota free
 * (docs/prices.md#waiting-for-a-cheaper-flavor). A run that goes on beyond its bound is expected to
 * end soon, again and again. Valid for one cycle.
 */
final class ExpectedStarts implements FlavorCosts.Starts {

  private final SpecRegistry specRegistry;
  private final PlannedStarts plannedStarts;
  private final long now;
  private @Nullable ClusterQueueCache queueOfProfile;
  private @Nullable QuotaProfile profile;

  ExpectedStarts(SpecRegistry specRegistry, PlannedStarts plannedStarts, Instant now) {
    this.specRegistry = specRegistry;
    this.plannedStarts = plannedStarts;
    this.now = Instants.micros(now);
  }

  @Override
  public long expected(ClusterQueueCache queue, int[] pairs, long[] amounts) {
    if (!plannedStarts.knowsBounds()) {
      return NEVER;
    }
    QuotaProfile known = profile;
    if (known == null || queueOfProfile != queue) {
      known =
          new QuotaProfile(
              queue,
              QuotaProfile.ofPairs(queue, queue.node()::nominal),
              specRegistry.ends(plannedStarts, UnknownRunTime.USE_LEARNED, queue),
              now);
      profile = known;
      queueOfProfile = queue;
    }
    return known.firstTime(pairs, amounts);
  }
}
