package dev.sluice.checks.multikueue.sync;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Values kept for a Workload between reconciliations. Each of them only saves requests: without it
 * the next reconciliation asks an API server. Used by one thread at a time.
 */
final class ReconcileState {

  /**
   * How long the end of a job that was written to its status may take to finish the Workload, which
   * the manager's controller of the job does.
   */
  private static final Duration UNTIL_FINISHED = Duration.ofSeconds(5);

  /** How long a job may be seen running after its Workload was seen finished. */
  private static final Duration UNTIL_END_SEEN = Duration.ofSeconds(1);

  /** How long the creation of a job may take to be seen. */
  private static final Duration UNTIL_JOB_SEEN = Duration.ofSeconds(2);

  private volatile Optional<Instant> lastRound = Optional.empty();
  private volatile boolean offerTold;
  private volatile boolean sendable;
  private volatile boolean scalesRemotely;
  private volatile Optional<Instant> endTold = Optional.empty();
  private volatile Optional<Instant> endMissed = Optional.empty();
  private final Map<String, String> offers = new ConcurrentHashMap<>();
  private final Map<String, Instant> created = new ConcurrentHashMap<>();
  private final MessageThrottle messageThrottle = new MessageThrottle();
  private final StatusThrottle statusThrottle = new StatusThrottle();

  /** When clusters were last nominated; empty if none are. */
  Optional<Instant> lastRound() {
    return lastRound;
  }

  /** Records the time at which clusters were nominated. */
  void began(Instant round) {
    lastRound = Optional.of(round);
  }

  /** Records that no clusters are nominated. */
  void withoutRound() {
    lastRound = Optional.empty();
    offerTold = false;
  }

  /** Records that the Workload begins to run in a worker: waits for its end begin anew. */
  void runBegins() {
    endTold = Optional.empty();
    endMissed = Optional.empty();
  }

  /** Whether users are still to be told who is nominated; true at most once for a nomination. */
  boolean tellsOffer() {
    boolean tells = !offerTold;
    offerTold = true;
    return tells;
  }

  /** Whether it was found out that the job can be dispatched. */
  boolean isSendable() {
    return sendable;
  }

  /** Records that the job can be dispatched: that does not change. */
  void sendsJob() {
    sendable = true;
  }

  /** Whether the size of the job is written in the worker that it runs in, as last read. */
  boolean scalesRemotely() {
    return scalesRemotely;
  }

  /** Records whether the size of the job is written in the worker that it runs in. */
  void scalesRemotely(boolean read) {
    scalesRemotely = read;
  }

  /** The throttle of the check's message. */
  MessageThrottle messageThrottle() {
    return messageThrottle;
  }

  /** The throttle of the job's status. */
  StatusThrottle statusThrottle() {
    return statusThrottle;
  }

  /** Records that this process created the copy with this UID in a worker. */
  void offered(String cluster, String uid) {
    offers.put(cluster, uid);
  }

  /**
   * Whether it is certain that the copy with this UID never had a job: this process created the
   * copy, and hasn't begun a job for it. True at most once for a copy.
   */
  boolean beginsFirstJob(String cluster, String uid) {
    return !uid.isEmpty() && offers.remove(cluster, uid);
  }

  /** Records that the job was created in a worker. */
  void created(String cluster, Instant now) {
    created.put(cluster, now);
  }

  /**
   * How long to wait for a watch to show the job that was created in a worker; empty if none was,
   * and if the time is over.
   */
  Optional<Duration> untilJobSeen(String cluster, Instant now) {
    return Optional.ofNullable(created.get(cluster))
        .flatMap(since -> left(since, UNTIL_JOB_SEEN, now));
  }

  /**
   * How long to wait for the manager's controller to finish the Workload, whose job has ended
   * according to its status here; empty if the time is over.
   */
  Optional<Duration> untilFinished(Instant now) {
    Instant since = endTold.orElse(now);
    endTold = Optional.of(since);
    return left(since, UNTIL_FINISHED, now);
  }

  /**
   * How long to wait for a watch to show the end of a job whose Workload is finished; empty if the
   * time is over.
   */
  Optional<Duration> untilEndSeen(Instant now) {
    Instant since = endMissed.orElse(now);
    endMissed = Optional.of(since);
    return left(since, UNTIL_END_SEEN, now);
  }

  private static Optional<Duration> left(Instant since, Duration limit, Instant now) {
    Duration left = Duration.between(now, since.plus(limit));
    return left.isPositive() ? Optional.of(left) : Optional.empty();
  }
}
