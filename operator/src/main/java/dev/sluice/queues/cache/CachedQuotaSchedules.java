package dev.sluice.queues.cache;

import dev.sluice.api.queueing.QuotaSchedule;
import dev.sluice.api.queueing.QuotaSchedule.CurrentFactor;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Follows the factors of quota by time of day (docs/quota-by-time.md), and tells when one changes.
 * While no ClusterQueue has a schedule, no timer runs. Thread-safe.
 */
public final class CachedQuotaSchedules implements AutoCloseable {

  /** Clocks are put right and machines sleep: a change is not trusted to come when it was due. */
  private static final Duration LOOK_AGAIN = Duration.ofMinutes(1);

  /** The only key: all schedules are looked at together. */
  private static final String SCHEDULES = "quota schedules";

  private final InstantSource clock;
  private final WorkQueue<String> queue;
  private final Map<String, Followed> followed = new ConcurrentHashMap<>();
  private volatile Listener listener = (name, before, now) -> {};

  private record Followed(QuotaSchedule schedule, CurrentFactor current) {}

  /** Hears of factors. */
  @FunctionalInterface
  public interface Listener {

    /**
     * Another factor holds, another time at which it ends, or another schedule is written.
     *
     * @param before what held by the same schedule until now; empty if the schedule is new
     * @param now what holds; empty if there is no schedule
     */
    void stands(String clusterQueue, Optional<CurrentFactor> before, Optional<CurrentFactor> now);
  }

  /** Follows the ClusterQueues of these caches, before they are filled. */
  public CachedQuotaSchedules(
      InformerCaches informerCaches, InstantSource clock, WorkQueueSettings settings) {
    this.clock = clock;
    this.queue = new WorkQueue<>(any -> look(), settings);
    informerCaches.clusterQueues().observe(this::changed);
  }

  /** Names the one listener. */
  public void onChange(Listener newListener) {
    listener = newListener;
  }

  /** What holds for a ClusterQueue; empty if it has no schedule. */
  public Optional<CurrentFactor> of(String clusterQueue) {
    return Optional.ofNullable(followed.get(clusterQueue))
        .map(each -> each.schedule().at(clock.instant()));
  }

  /** The factor of each ClusterQueue that has a schedule. */
  public Map<String, BigDecimal> factors() {
    Instant now = clock.instant();
    Map<String, BigDecimal> factors = new HashMap<>();
    followed.forEach((name, each) -> factors.put(name, each.schedule().factor(now)));
    return factors;
  }

  /** The times at which another factor than 1 holds, by ClusterQueue: now and in two weeks. */
  public SortedMap<String, List<QuotaSchedule.Interval>> upcoming() {
    Instant now = clock.instant();
    SortedMap<String, List<QuotaSchedule.Interval>> upcoming = new TreeMap<>();
    followed.forEach((name, each) -> upcoming.put(name, each.schedule().upcoming(now)));
    return upcoming;
  }

  private void changed(@Nullable ClusterQueue before, @Nullable ClusterQueue after) {
    ClusterQueue named = after != null ? after : before;
    if (named == null
        || (before != null && after != null && Objects.equals(text(before), text(after)))) {
      return;
    }
    String name = named.getMetadata().getName();
    Optional<QuotaSchedule> schedule =
        after == null ? Optional.empty() : QuotaSchedule.of(after.getMetadata().getAnnotations());
    if (schedule.isPresent()) {
      CurrentFactor current = schedule.get().at(clock.instant());
      followed.put(name, new Followed(schedule.get(), current));
      listener.stands(name, Optional.empty(), Optional.of(current));
      queue.enqueue(SCHEDULES);
    } else {
      followed.remove(name);
      if (after != null) {
        listener.stands(name, Optional.empty(), Optional.empty());
      }
    }
  }

  private static @Nullable String text(ClusterQueue queue) {
    Map<String, String> annotations = queue.getMetadata().getAnnotations();
    return annotations == null ? null : annotations.get(QuotaSchedule.ANNOTATION);
  }

  /** Tells what has changed, and returns when to look again. */
  private Optional<Duration> look() {
    Instant now = clock.instant();
    Optional<Duration> next = Optional.empty();
    for (Map.Entry<String, Followed> each : Map.copyOf(followed).entrySet()) {
      Followed known = each.getValue();
      CurrentFactor current = known.schedule().at(now);
      if (!current.equals(known.current())
          && followed.replace(each.getKey(), known, new Followed(known.schedule(), current))) {
        listener.stands(each.getKey(), Optional.of(known.current()), Optional.of(current));
      }
      Duration wait = current.until().map(until -> Duration.between(now, until)).orElse(LOOK_AGAIN);
      Duration soonest = next.orElse(LOOK_AGAIN);
      next = Optional.of(wait.compareTo(soonest) < 0 ? wait : soonest);
    }
    return next;
  }

  @Override
  public void close() {
    queue.close();
  }
}
