package dev.sluice.accounting;

import dev.sluice.api.KueueConstants;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * When pods are stopped that nobody else stops although they are to end: those of a job that
 * doesn't exist any more, and those of a Workload that was evicted long ago
 * (docs/pod-accounting.md#what-is-promised). Pods that another account has quota for are left to
 * it.
 *
 * @param ended the Workloads that have ended and are charged; empty if these are evicted
 * @param evictedAt when the last of the Workloads was evicted; empty if they have ended
 * @param limit how long a pod may take to end once it was asked to; zero: for ever
 * @param unasked how long after an eviction nobody may have asked a pod to end; zero: for ever
 */
record LeftPods(
    List<CachedWorkload> ended, Optional<Instant> evictedAt, Duration limit, Duration unasked) {

  /** The reason of the events about pods of a Workload that was evicted long ago. */
  static final String OVERDUE = "EvictionOverdue";

  /** The reason of the events about pods of a job that ended long ago. */
  static final String ENDED = "JobEnded";

  /** The pods of an account; empty if they needn't end, or somebody stops them in any case. */
  static Optional<LeftPods> of(
      Account account, PodAccounts accounts, PodAccountant.Dependencies dependencies) {
    Duration limit = dependencies.longestEnd();
    List<CachedWorkload> reserving = accounts.reserving(account);
    if (reserving.isEmpty()) {
      return Optional.of(new LeftPods(accounts.heldBy(account), Optional.empty(), limit, limit))
          .filter(pods -> !pods.ended().isEmpty());
    }
    boolean evicted =
        reserving.stream().allMatch(it -> it.evicted() && dependencies.jobs().isEvictable(it));
    Duration unasked = unasked(reserving, dependencies);
    return evicted && unasked.isPositive()
        ? reserving.stream()
            .flatMap(workload -> workload.status().condition("Evicted").stream())
            .map(Condition::lastTransitionTime)
            .max(Instant::compareTo)
            .map(last -> new LeftPods(List.of(), Optional.of(last), limit, unasked))
        : Optional.empty();
  }

  /**
   * Controllers of jobs stop no pods of a job that is being deleted: these are left to the garbage
   * collector, which waits until the last finalizer of the job is gone.
   */
  private static Duration unasked(
      List<CachedWorkload> reserving, PodAccountant.Dependencies dependencies) {
    Duration limit = dependencies.longestEnd();
    boolean longer = limit.isZero() || limit.compareTo(PodAccountant.AWAITED) > 0;
    return longer && reserving.stream().anyMatch(dependencies.jobs()::isBeingDeleted)
        ? PodAccountant.AWAITED
        : limit;
  }

  /** Whether all pods of the time of the eviction were made to end by now. */
  boolean isOverdue(Instant now) {
    Instant before = now.minus(limit).minus(PodAccountant.AWAITED);
    return limit.isPositive() && evictedAt.filter(at -> at.isBefore(before)).isPresent();
  }

  /**
   * Until when pods may run on of jobs that exist and have ended: nobody evicts them, and nothing
   * limits their time. Empty if some job hasn't ended, or if they may run as long as they like.
   *
   * @param since since when they are known to run on
   */
  Optional<Instant> untilOverdue(PodAccountant.Jobs jobs, Instant since) {
    return Optional.of(since.plus(limit))
        .filter(any -> limit.isPositive() && ended.stream().allMatch(jobs::hasEnded));
  }

  /** What the events say of pods of a job that ended long ago. */
  String overdueMessage() {
    return "the job of the pod ended more than %d s ago".formatted(limit.toSeconds());
  }

  /** Whether no job is there that these pods may go on for. */
  boolean isLeft(PodAccountant.Jobs jobs) throws InterruptedException {
    for (CachedWorkload workload : ended) {
      if (!jobs.isGone(workload)) {
        return false;
      }
    }
    return true;
  }

  /** Those of the pods that are to be stopped now. */
  List<PodRecord> due(Collection<PodRecord> pods, Function<PodRecord, Instant> known, Instant now) {
    return pods.stream()
        .filter(pod -> due(pod, known).filter(due -> !now.isBefore(due)).isPresent())
        .toList();
  }

  /** When the next of the pods is to be stopped. */
  Optional<Instant> next(Collection<PodRecord> pods, Function<PodRecord, Instant> known) {
    return pods.stream().flatMap(pod -> due(pod, known).stream()).min(Instant::compareTo);
  }

  /** The time that a pod has runs from the moment at which somebody asked it to end. */
  private Optional<Instant> due(PodRecord pod, Function<PodRecord, Instant> known) {
    if (PodStopper.endsByItself(pod)) {
      return Optional.empty();
    }
    if (pod.deletion().isEmpty()) {
      Instant noticed = known.apply(pod).plus(PodAccountant.LEFT_BEHIND);
      return Optional.of(
          evictedAt.map(asked -> asked.plus(unasked)).filter(noticed::isBefore).orElse(noticed));
    }
    return limit.isPositive()
        ? pod.deletion()
            .map(it -> it.due().minusSeconds(it.graceSeconds()))
            .map(asked -> evictedAt.filter(asked::isBefore).orElse(asked).plus(limit))
        : Optional.empty();
  }

  /** The reason of the events. */
  String cause() {
    return evictedAt.isPresent() ? OVERDUE : KueueConstants.OWNER_NOT_FOUND;
  }

  /** What the events say. */
  String message() {
    return evictedAt.isPresent()
        ? "the Workload of the pod was evicted more than %d s ago".formatted(unasked.toSeconds())
        : "the pod runs although its job doesn't exist any more";
  }
}
