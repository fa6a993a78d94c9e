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

  /** Whether this process created the copy in a worker, and hasn't begun a job for it. */
  boolean isOffered(String cluster) {
    return offers.containsKey(cluster);
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

  /**
   * Limits how often the status of a job that runs in a worker is copied: the changes of a few
   * seconds go in one write. Most jobs that run so shortly have ended by then, and the end is
   * copied at once. Not thread-safe.
   */
  static final class StatusThrottle {

    /** How long a status may differ from the one in the worker. */
    static final Duration MERGED_FOR = Duration.ofSeconds(5);

    private Optional<Instant> differsSince = Optional.empty();

    /**
     * How long a change of the status that was seen now must wait; empty if it is to be written.
     */
    Optional<Duration> hold(Instant now) {
      Instant since = differsSince.orElse(now);
      differsSince = Optional.of(since);
      Duration left = Duration.between(now, since.plus(MERGED_FOR));
      return left.isPositive() ? Optional.of(left) : Optional.empty();
    }

    /** Records that the status is as it is in the worker. */
    void equal() {
      differsSince = Optional.empty();
    }
  }

  /**
   * Limits how often the message of one Workload's check is written: not before a text was stable
   * for a moment, because most Workloads are admitted at once, and not again shortly after a write.
   * Not thread-safe.
   */
  static final class MessageThrottle {

    /** How long a text must differ from the written text. */
    static final Duration STABLE_FOR = Duration.ofSeconds(3);

    /** The minimum time between two writes. */
    static final Duration WRITE_INTERVAL = Duration.ofSeconds(10);

    private Optional<Instant> differsSince = Optional.empty();
    private Optional<Instant> lastWrite = Optional.empty();

    /**
     * When the text must be written, possibly now; empty if no write is needed.
     *
     * @param written the text in the object
     */
    Optional<Instant> due(String text, String written, Instant now) {
      if (text.isEmpty() || text.equals(written)) {
        differsSince = Optional.empty();
        return Optional.empty();
      }
      Instant since = differsSince.orElse(now);
      differsSince = Optional.of(since);
      Instant due = since.plus(STABLE_FOR);
      return lastWrite
          .map(last -> last.plus(WRITE_INTERVAL))
          .filter(due::isBefore)
          .or(() -> Optional.of(due));
    }

    /** Records a write. */
    void written(Instant now) {
      lastWrite = Optional.of(now);
      differsSince = Optional.empty();
    }
  }
}
