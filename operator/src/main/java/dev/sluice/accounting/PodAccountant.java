package dev.sluice.accounting;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.accounting.AdmissionComparison.Finding;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.accounting.PodAccounts.Ownership;
import dev.sluice.api.KueueConstants;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import dev.sluice.workload.status.Evictions;
import dev.sluice.workload.status.StatusPatch;
import dev.sluice.workload.writing.WorkloadWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at accounts when something of them changed: evicts the Workloads of those that run more
 * than they are charged for, stops pods that nobody else stops, and tells when quota is free that
 * pods held.
 */
public final class PodAccountant implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PodAccountant.class);

  /**
   * How long an excess has to last: a job's controller may report the end of a pod, and quota be
   * given back, before the pod's own watch tells it.
   */
  static final Duration CONFIRMATION = Duration.ofMillis(500);

  /**
   * The same for each pod without any admission: its job may be about to be suspended, and counts a
   * pod that is stopped before that as failed.
   */
  static final Duration UNADMITTED = Duration.ofSeconds(1);

  /**
   * How long pods may run that nobody stops although their Workload has ended with its job, or has
   * long been evicted, or although their job waits and has none: the garbage collector, or the
   * job's controller, may be about to delete them.
   */
  public static final Duration LEFT_BEHIND = Duration.ofSeconds(5);

  /**
   * How long others wait for pods of a Workload that has ended, and for those of an evicted one
   * whose job is being deleted to be asked to end.
   */
  static final Duration AWAITED = Duration.ofMinutes(1);

  private static final Duration AGAIN = Duration.ofSeconds(1);

  /** How long a watch that is behind is given before the pods are listed again. */
  private static final Duration CATCH_UP = Duration.ofMillis(200);

  /** After that quota isn't kept from others for pods that may not be of the account at all. */
  static final Duration LONGEST_BEHIND = Duration.ofSeconds(30);

  private final Dependencies dependencies;
  private final PodAccounts accounts;
  private final WorkQueue<Account> queue;
  private final Map<Account, Suspicion> suspects = new ConcurrentHashMap<>();

  /** Accounts whose pods perhaps nobody else stops, whether or not they exceed. */
  private final Map<Account, Suspicion> left = new ConcurrentHashMap<>();

  /** Since when pods of an account that may exist are waited for. */
  private final Map<Account, Instant> behind = new ConcurrentHashMap<>();

  /**
   * An account that exceeds, or whose pods are left.
   *
   * @param since since when it does, or they are
   * @param pods since when each of its pods has been known meanwhile
   */
  private record Suspicion(Instant since, Map<UUID, Instant> pods) {

    private static Suspicion at(Instant now) {
      return new Suspicion(now, new ConcurrentHashMap<>());
    }

    /** Only these pods are left. */
    void has(List<PodRecord> known, Instant now) {
      pods.keySet().retainAll(known.stream().map(PodRecord::uid).collect(Collectors.toSet()));
      known.forEach(pod -> pods.putIfAbsent(pod.uid(), now));
    }

    /** Since when a pod has been known. */
    Instant since(PodRecord pod) {
      return pods.getOrDefault(pod.uid(), since);
    }

    /** Whether a pod has been known for so long. */
    boolean isOlder(PodRecord pod, Duration age, Instant now) {
      return !now.isBefore(pods.getOrDefault(pod.uid(), now).plus(age));
    }

    /** How long until the next pod will have been known for so long; at most {@link #AGAIN}. */
    Duration next(Duration age, Instant now) {
      return pods.values().stream()
          .map(since -> since.plus(age))
          .filter(now::isBefore)
          .map(due -> until(now, due))
          .filter(left -> left.compareTo(AGAIN) < 0)
          .min(Duration::compareTo)
          .orElse(AGAIN);
    }

    /** When the first pod will have been known for so long. */
    Instant due(Duration age) {
      return pods.values().stream().min(Instant::compareTo).orElse(since).plus(age);
    }
  }

  /**
   * What the accountant reads and writes.
   *
   * @param freshPods reads pods of an account from the API server before something is done
   * @param stopper deletes pods
   * @param writer writes evictions
   * @param jobs what is known of the jobs of Workloads
   * @param observer is told what was done
   * @param clock the time
   * @param active whether this process may write, and everything is listed
   * @param longestEnd how long the pods of an evicted Workload may take to end; zero: for ever
   */
  public record Dependencies(
      FreshPods freshPods,
      PodStopper stopper,
      WorkloadWriter writer,
      Jobs jobs,
      Observer observer,
      InstantSource clock,
      BooleanSupplier active,
      Duration longestEnd) {}

  /** What is known of the jobs of Workloads. */
  public interface Jobs {

    /** Whether somebody stops the job of a Workload that is evicted. */
    boolean isEvictable(CachedWorkload workload);

    /** Whether pods of a Workload that run before it is admitted are deleted. */
    boolean isStoppable(Ownership ownership);

    /**
     * How long pods may run of a job that is to be queued, has no Workload, and that nobody is
     * about to stop, because it is suspended, is being deleted, or has ended; empty if the account
     * is that of no such job, or if they may run as long as they like.
     */
    Optional<Duration> withoutWorkload(Account account);

    /** Whether the job that controls a Workload exists, and is being deleted. */
    boolean isBeingDeleted(CachedWorkload workload);

    /** Whether the job that controls a Workload is handled here, exists, and has ended. */
    boolean hasEnded(CachedWorkload workload);

    /**
     * Whether the job of a Workload was handled here and doesn't exist any more. What doesn't seem
     * to exist is read from the API server.
     *
     * @throws IllegalStateException if the API server doesn't answer, or refuses
     */
    boolean isGone(CachedWorkload workload) throws InterruptedException;
  }

  /** Is told what was found and done. */
  public interface Observer {

    /** A Workload was evicted: so many pods are too many. */
    void evicted(CachedWorkload workload, int beyond, String message);

    /** A Workload runs more than it was admitted with, and nobody would stop its job. */
    void exceeds(CachedWorkload workload, int beyond, String message);

    /** So many pods without an admitted Workload were stopped. */
    void stopped(int pods);

    /** Pods of a Workload that has ended hold its quota, and nobody shall wait for them. */
    void outlasted(CachedWorkload workload);

    /** No pods of an account remain, or none that keep the quota of these Workloads. */
    void empty(List<CachedWorkload> workloads);
  }

  /**
   * An accountant that waits for accounts.
   *
   * @param released called with each Workload whose quota is free now
   */
  public PodAccountant(
      Dependencies dependencies,
      PodAccounts accounts,
      Consumer<WorkloadId> released,
      WorkQueueSettings settings) {
    this.dependencies = dependencies;
    this.accounts = accounts;
    this.queue =
        new WorkQueue<>(
            account -> {
              if (isBehind(account)) {
                return Optional.of(CATCH_UP);
              }
              accounts.settle(account).forEach(released);
              return reconcile(account);
            },
            settings);
  }

  /**
   * Whether pods exist that the watch doesn't know yet, and that may be of an account whose
   * Workload has ended. Owners are known of a pod by what the watch told first, so that a pod that
   * has just lost its owner can't be told by a list.
   */
  private boolean isBehind(Account account) throws InterruptedException {
    if (!accounts.isUnverified(account)) {
      return false;
    }
    Instant now = dependencies.clock().instant();
    Instant since = behind.computeIfAbsent(account, any -> now);
    long unknown =
        dependencies.freshPods().living(account.namespace()).pods().keySet().stream()
            .filter(pod -> accounts.records().find(pod).isEmpty())
            .count();
    if (unknown > 0 && now.isBefore(since.plus(LONGEST_BEHIND))) {
      return true;
    }
    if (unknown > 0) {
      LOG.warn("account={} unknownPods={} reason=\"the watch is behind\"", account, unknown);
    }
    behind.remove(account);
    accounts.verified(account);
    return false;
  }

  /**
   * Whether the Workloads of an account were evicted so long ago that all pods of that time were
   * made to end. Pods that run now were made since, by somebody who would keep the quota.
   */
  public boolean isOverdue(Account account) {
    return LeftPods.of(account, accounts, dependencies)
        .filter(leftPods -> leftPods.isOverdue(dependencies.clock().instant()))
        .isPresent();
  }

  /** Something of an account changed. */
  public void changed(Account account) {
    queue.enqueue(account);
  }

  @Override
  public void close() {
    queue.close();
  }

  private Optional<Duration> reconcile(Account account) throws InterruptedException {
    if (!dependencies.active().getAsBoolean()) {
      return Optional.empty();
    }
    Instant now = dependencies.clock().instant();
    List<PodRecord> pods = own(account, accounts.podsOf(account));
    if (pods.isEmpty()) {
      accounts.look(account, pods, now);
      suspects.remove(account);
      left.remove(account);
      dependencies.observer().empty(accounts.workloadsOf(account));
      return Optional.empty();
    }
    if (isOverdue(account)) {
      dependencies.observer().empty(accounts.workloadsOf(account));
    }
    // first, since it asks nobody whether a job exists
    Optional<Duration> ofExcess = stopExcess(account, pods, now);
    Optional<Duration> ofLeft = stopLeft(account, pods, now);
    return Stream.concat(ofLeft.stream(), ofExcess.stream()).min(Duration::compareTo);
  }

  /** The pods of an account; where nothing is charged for it, without those of other accounts. */
  private List<PodRecord> own(Account account, List<PodRecord> pods) {
    return !pods.isEmpty()
            && accounts.workloadsOf(account).isEmpty()
            && accounts.charged(account).isEmpty()
        ? pods.stream().filter(pod -> !accounts.isChargedElsewhere(pod, account)).toList()
        : pods;
  }

  /**
   * Stops pods that run although their Workload has ended with its job, or was evicted long ago,
   * whether or not they exceed what it is charged for.
   */
  private Optional<Duration> stopLeft(Account account, List<PodRecord> pods, Instant now)
      throws InterruptedException {
    Optional<LeftPods> found = LeftPods.of(account, accounts, dependencies);
    if (found.isEmpty()) {
      left.remove(account);
      return Optional.empty();
    }
    Suspicion suspicion = left.computeIfAbsent(account, any -> Suspicion.at(now));
    suspicion.has(pods, now);
    LeftPods leftPods = found.get();
    Optional<Duration> whileAwaited = outlast(account, leftPods, suspicion.since(), now);
    Optional<Duration> untilDue = stopDue(account, leftPods, pods, now);
    return Stream.concat(whileAwaited.stream(), untilDue.stream()).min(Duration::compareTo);
  }

  /** After a while nobody waits for pods of a Workload that has ended. */
  private Optional<Duration> outlast(
      Account account, LeftPods leftPods, Instant since, Instant now) {
    Instant due = since.plus(AWAITED);
    if (leftPods.ended().isEmpty()) {
      return Optional.empty();
    }
    if (now.isBefore(due)) {
      return Optional.of(until(now, due));
    }
    accounts.outlast(account).forEach(dependencies.observer()::outlasted);
    return Optional.empty();
  }

  private Optional<Duration> stopDue(
      Account account, LeftPods leftPods, List<PodRecord> pods, Instant now)
      throws InterruptedException {
    Suspicion suspicion = left.getOrDefault(account, Suspicion.at(now));
    List<PodRecord> own =
        pods.stream().filter(pod -> !accounts.isChargedElsewhere(pod, account)).toList();
    List<PodRecord> due = leftPods.due(own, suspicion::since, now);
    if (due.isEmpty()) {
      return leftPods.next(own, suspicion::since).map(next -> until(now, next));
    }
    String cause = leftPods.cause();
    String message = leftPods.message();
    if (!leftPods.isLeft(dependencies.jobs())) {
      Optional<Instant> overdue = leftPods.untilOverdue(dependencies.jobs(), suspicion.since());
      if (overdue.filter(at -> !now.isBefore(at)).isEmpty()) {
        return overdue.map(at -> until(now, at));
      }
      cause = LeftPods.ENDED;
      message = leftPods.overdueMessage();
    }
    List<PodRecord> living = dependencies.freshPods().living(account.namespace()).of(due);
    if (LeftPods.of(account, accounts, dependencies).filter(leftPods::equals).isPresent()) {
      dependencies.stopper().stop(leftPods.due(living, suspicion::since, now), cause, message);
    }
    return Optional.of(AGAIN);
  }

  private Optional<Duration> stopExcess(Account account, List<PodRecord> pods, Instant now)
      throws InterruptedException {
    Finding finding = accounts.look(account, pods, now);
    if (!finding.exceeds()) {
      suspects.remove(account);
      return finding.lookAgainAt().map(at -> until(now, at));
    }
    boolean admitted = accounts.charge(account).pods() > 0;
    Optional<Duration> time = admitted ? Optional.of(CONFIRMATION) : unadmitted(account, pods);
    if (time.isEmpty()) {
      suspects.remove(account);
      return Optional.of(AGAIN);
    }
    Suspicion suspicion = suspects.computeIfAbsent(account, any -> Suspicion.at(now));
    suspicion.has(pods, now);
    Instant due = admitted ? suspicion.since().plus(CONFIRMATION) : suspicion.due(time.get());
    if (now.isBefore(due)) {
      return Optional.of(until(now, due));
    }
    return exceeds(account, pods, suspicion);
  }

  /**
   * How long pods of an account may run for which nothing is charged; empty if nobody stops them
   * here.
   */
  private Optional<Duration> unadmitted(Account account, List<PodRecord> pods) {
    List<CachedWorkload> workloads = accounts.workloadsOf(account);
    boolean stoppable =
        workloads.isEmpty()
            ? pods.stream().allMatch(PodRecord::isStray)
                || accounts
                    .beyondReach(account)
                    .filter(remains -> remains.areStoppable(dependencies.jobs()::isStoppable))
                    .isPresent()
            : workloads.stream().map(Ownership::of).allMatch(dependencies.jobs()::isStoppable);
    if (stoppable) {
      return Optional.of(UNADMITTED);
    }
    return workloads.isEmpty() ? dependencies.jobs().withoutWorkload(account) : Optional.empty();
  }

  private Optional<Duration> exceeds(Account account, List<PodRecord> known, Suspicion suspicion)
      throws InterruptedException {
    FreshPods.Living living = dependencies.freshPods().living(account.namespace());
    List<PodRecord> pods = living.of(known);
    Instant now = dependencies.clock().instant();
    Finding finding = accounts.find(account, pods, now);
    if (!finding.exceeds()) {
      return Optional.of(AGAIN);
    }
    List<CachedWorkload> reserving = accounts.reserving(account);
    if (reserving.isEmpty()) {
      Optional<Duration> time = unadmitted(account, pods);
      if (time.isPresent()) {
        List<PodRecord> due =
            pods.stream().filter(pod -> suspicion.isOlder(pod, time.get(), now)).toList();
        stop(account, due, living, finding);
      }
      return Optional.of(suspicion.next(time.orElse(UNADMITTED), now));
    }
    List<String> refusals = new ArrayList<>();
    for (CachedWorkload workload : reserving) {
      if (!workload.evicted()) {
        evict(workload, finding, now).ifPresent(refusals::add);
      }
    }
    if (!refusals.isEmpty()) {
      // the queue tries again, less and less often
      throw new IllegalStateException(String.join("; ", refusals));
    }
    if (reserving.stream().allMatch(ExceedingWorkloads::isEvicted)) {
      dependencies
          .stopper()
          .stop(pods, ExceedingWorkloads.CAUSE, ExceedingWorkloads.message(finding.excess()));
    }
    return Optional.of(AGAIN);
  }

  /**
   * Stops pods that run without an admission, or beyond what a Workload that has ended holds. Also
   * those that a set lets go for a rollout: it makes them anew in the next revision, which waits.
   * Pods of a set that served before there was a Workload go on: they may be older than the
   * installation.
   */
  private void stop(Account account, List<PodRecord> pods, FreshPods.Living living, Finding finding)
      throws InterruptedException {
    List<CachedWorkload> workloads = accounts.workloadsOf(account);
    List<PodRecord> due =
        workloads.stream().anyMatch(PodAccounts::isOfSet)
            ? withoutEarlier(pods, living, workloads)
            : pods;
    int stopped =
        dependencies
            .stopper()
            .stop(
                due,
                ExceedingWorkloads.CAUSE,
                "the pod runs without an admitted Workload, " + finding.excess());
    if (stopped > 0) {
      dependencies.observer().stopped(stopped);
    }
  }

  /** The pods of a set, without those that were ready before it had a Workload. */
  private static List<PodRecord> withoutEarlier(
      List<PodRecord> pods, FreshPods.Living living, List<CachedWorkload> workloads) {
    Instant queued =
        workloads.stream().map(CachedWorkload::createdAt).min(Instant::compareTo).orElseThrow();
    return pods.stream().filter(pod -> !living.wasReadyBefore(pod, queued)).toList();
  }

  /**
   * Evicts a Workload, or tells that nobody would stop its job.
   *
   * @return why the API server refuses the eviction, if it does
   */
  private Optional<String> evict(CachedWorkload workload, Finding finding, Instant now)
      throws InterruptedException {
    String message = ExceedingWorkloads.message(finding.excess());
    if (!dependencies.jobs().isEvictable(workload)) {
      dependencies.observer().exceeds(workload, finding.beyond(), message);
      return Optional.empty();
    }
    WorkloadWriter.Outcome outcome =
        Futures.forResult(
            dependencies
                .writer()
                .patchStatus(
                    workload.id(),
                    workload.version(),
                    ExceedingWorkloads.evicted(workload, finding.excess(), now),
                    WorkloadWriter.Urgency.DECISION));
    if (outcome instanceof WorkloadWriter.Outcome.Written) {
      LOG.info(
          "workload={} evicted=true reason=\"{}\" beyond={}",
          workload.id(),
          message,
          finding.beyond());
      dependencies.observer().evicted(workload, finding.beyond(), message);
    }
    return outcome instanceof WorkloadWriter.Outcome.Refused(int code, String reason)
        ? Optional.of("%s not evicted: %d %s".formatted(workload.id(), code, reason))
        : Optional.empty();
  }

  private static Duration until(Instant now, Instant due) {
    Duration left = Duration.between(now, due).plusMillis(1);
    return left.isNegative() ? Duration.ofMillis(1) : left;
  }

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
  private record LeftPods(
      List<CachedWorkload> ended, Optional<Instant> evictedAt, Duration limit, Duration unasked) {

    /** The reason of the events about pods of a Workload that was evicted long ago. */
    static final String OVERDUE = "EvictionOverdue";

    /** The reason of the events about pods of a job that ended long ago. */
    static final String ENDED = "JobEnded";

    /** The pods of an account; empty if they needn't end, or somebody stops them in any case. */
    static Optional<LeftPods> of(Account account, PodAccounts accounts, Dependencies dependencies) {
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
     * Controllers of jobs stop no pods of a job that is being deleted: these are left to the
     * garbage collector, which waits until the last finalizer of the job is gone.
     */
    private static Duration unasked(List<CachedWorkload> reserving, Dependencies dependencies) {
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
    Optional<Instant> untilOverdue(Jobs jobs, Instant since) {
      return Optional.of(since.plus(limit))
          .filter(any -> limit.isPositive() && ended.stream().allMatch(jobs::hasEnded));
    }

    /** What the events say of pods of a job that ended long ago. */
    String overdueMessage() {
      return "the job of the pod ended more than %d s ago".formatted(limit.toSeconds());
    }

    /** Whether no job is there that these pods may go on for. */
    boolean isLeft(Jobs jobs) throws InterruptedException {
      for (CachedWorkload workload : ended) {
        if (!jobs.isGone(workload)) {
          return false;
        }
      }
      return true;
    }

    /** Those of the pods that are to be stopped now. */
    List<PodRecord> due(
        Collection<PodRecord> pods, Function<PodRecord, Instant> known, Instant now) {
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

  /**
   * Evictions of Workloads that run more than they were admitted with. The API has no reason of its
   * own for them: {@code AdmissionCheck} is the one after which a Workload queues again when a
   * back-off is over, and behind those that came meanwhile. The message and the statistics tell
   * {@link #CAUSE}.
   */
  public static final class ExceedingWorkloads {

    /** The cause, in the message of the condition Evicted, in statistics and in events. */
    public static final String CAUSE = "ExceedsAdmission";

    /** The reason of the condition Evicted. */
    public static final String REASON = "AdmissionCheck";

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(10);
    private static final int MOST_DOUBLINGS = 8;

    private ExceedingWorkloads() {}

    /** Whether a Workload is evicted that ran more than it was admitted with. */
    public static boolean isEvicted(CachedWorkload workload) {
      return times(workload) > 0
          && workload
              .status()
              .trueCondition("Evicted")
              .map(Condition::reason)
              .filter(REASON::equals)
              .isPresent();
    }

    /** How often a Workload was evicted for that, as its statistics say. */
    private static int times(CachedWorkload workload) {
      return workload.status().history().evictions().stream()
          .filter(count -> count.underlyingCause().equals(CAUSE))
          .mapToInt(EvictionCount::count)
          .sum();
    }

    /** The message of the condition and of the events. */
    public static String message(String excess) {
      return CAUSE + ": its pods are more than it was admitted with, " + excess;
    }

    /** The status patch of an eviction; the Workload queues again after a pause that doubles. */
    public static ObjectNode evicted(CachedWorkload workload, String excess, Instant now) {
      StatusPatch patch = StatusPatch.of(workload, now);
      Evictions.evict(patch, workload, now, REASON, CAUSE, message(excess));
      Instant until = now.plus(pause(workload));
      patch
          .fields()
          .putObject("requeueState")
          .put("requeueAt", Instant.ofEpochSecond(until.getEpochSecond() + 1).toString());
      return patch.build();
    }

    private static Duration pause(CachedWorkload workload) {
      return FIRST_PAUSE.multipliedBy(1L << Math.clamp(times(workload), 0, MOST_DOUBLINGS));
    }
  }
}
