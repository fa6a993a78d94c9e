package dev.sluice.core.engine;

import dev.sluice.core.backfill.PlannedStarts;
import dev.sluice.core.backfill.QuotaProfile;
import dev.sluice.core.model.BackfillRules;
import dev.sluice.core.model.BackfillRules.UnknownRunTime;
import dev.sluice.core.model.Instants;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.scheduling.flavor.FlavorCosts;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * When quota is expected to be free, by the bounds of runs (docs/backfill.md#bounds). Valid while
 * no reservation changes: for one cycle, until it processes its heads.
 */
final class ExpectedStarts implements FlavorCosts.Starts {

  private static final BackfillRules BOUNDS = new BackfillRules(1, UnknownRunTime.USE_LEARNED);
  private static final long OVERHEAD_MICROS = PlannedStarts.OVERHEAD.toSeconds() * 1_000_000;

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
      known = QuotaProfile.of(queue, specRegistry.queuesBelow(queue.node().root()), this::end, now);
      profile = known;
      queueOfProfile = queue;
    }
    return known.firstTime(pairs, amounts);
  }

  /** A run that goes on beyond its bound is expected to end soon, again and again. */
  private long end(QuotaHolder holder) {
    long longest = plannedStarts.longest(holder.id().uid(), BOUNDS);
    if (longest == QuotaProfile.NEVER) {
      return longest;
    }
    long end = ResourceAmounts.add(holder.reservedAtMicros(), longest);
    return end > now ? end : now + OVERHEAD_MICROS;
  }
}
