package dev.sluice.kube.events;

import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.api.model.events.v1.EventSeriesBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells people what happened, as events of the API. Events are advice: recording one never blocks
 * and never fails, threads of their own write them within a budget, what is told again soon only
 * raises a count, and what doesn't fit is dropped and counted.
 *
 * <p>Events give way to decisions: while one is being written, an event waits, but not longer than
 * {@link #GIVES_WAY}. Events that nobody waits for, the routine ones, give way to all others
 * besides, and only some of them per second are written while decisions are.
 */
public final class EventRecorder implements AutoCloseable {

  /** The most bytes that an event's note may have; the API server refuses an event with more. */
  public static final int LONGEST_NOTE = 1024;

  /** How long an event waits for decisions to be written before it. */
  public static final Duration GIVES_WAY = Duration.ofSeconds(3);

  /** How often a writer looks whether events still have to give way. */
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  /** Events that were written and whose repetition raises a count; older ones are told anew. */
  private static final int MOST_REMEMBERED = 5000;

  private static final String ELLIPSIS = "…";

  private static final Logger log = LoggerFactory.getLogger(EventRecorder.class);
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final Duration REFRESH = Duration.ofSeconds(30);
  private static final Duration LAST_WRITES = Duration.ofSeconds(5);
  private static final int LONGEST_NAME = 253;

  private final EventSink sink;
  private final InstantSource clock;
  private final Reporter reporter;
  private final Budget budget;
  private final Load load;
  private final EventCounter counts;
  private final List<Thread> writers;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final Deque<Key> waiting = new ArrayDeque<>();
  private final Deque<Key> routineWaiting = new ArrayDeque<>();
  private final Map<Key, EventState> eventState = new LinkedHashMap<>(16, 0.75f, true);
  private final TokenBucket tokens;
  private final TokenBucket routineTokens;
  private boolean watched;
  private boolean closed;
  private long sequence;

  /** Whether something went as it should. */
  public enum Type {
    /** It did. */
    NORMAL("Normal"),
    /** It didn't. */
    WARNING("Warning");

    private final String text;

    Type(String text) {
      this.text = text;
    }
  }

  /**
   * What events name as their source.
   *
   * @param instance the name of this process
   * @param controller the controller that reports about an object, by the reason of the event
   */
  public record Reporter(String instance, BiFunction<ObjectReference, String, String> controller) {

    /** The controller of events about objects that no controller of this API is named after. */
    public static final String UNNAMED = "kueue.x-k8s.io/sluice";
  }

  /**
   * How much may be written.
   *
   * @param perSecond writes per second in the long run
   * @param least writes per second while the API server is slow
   * @param waiting events that may wait to be written, routine ones apart; more are dropped
   * @param window how long the same event, told again, only raises the count of the first
   * @param writers writes at the same time
   * @param routine the events that nobody waits for
   */
  public record Budget(
      double perSecond, double least, int waiting, Duration window, int writers, Routine routine) {

    /** A budget that shrinks to nothing, with one writer and in which no event is routine. */
    public Budget(double perSecond, int waiting, Duration window) {
      this(perSecond, 0, waiting, window, 1, Routine.NONE);
    }

    /**
     * Enough to tell of 3,000 jobs in ten seconds, and never less than a hundred writes per second.
     */
    public static final Budget DEFAULT =
        new Budget(500, 100, 10_000, Duration.ofMinutes(6), 16, Routine.NONE);

    /** The same budget, in which these events are routine. */
    public Budget with(Routine part) {
      return new Budget(perSecond, least, waiting, window, writers, part);
    }
  }

  /** What else the API server has to do for this process. From any thread. */
  public interface Load {

    /** Nothing else. */
    Load NONE =
        new Load() {
          @Override
          public double share() {
            return 1;
          }

          @Override
          public boolean isDeciding() {
            return false;
          }
        };

    /** The part of the writes per second that may be used at the moment, from 0 to 1. */
    double share();

    /** Whether a decision is being written at the moment. */
    boolean isDeciding();
  }

  /**
   * The events that nobody waits for: those that repeat what the status of an object says.
   *
   * @param reasons their reasons; warnings are never routine
   * @param perSecond writes per second while decisions are being written
   * @param waiting events that may wait to be written; more are dropped
   * @param patience how long an event may wait; then it is dropped
   */
  public record Routine(Set<String> reasons, double perSecond, int waiting, Duration patience) {

    /** No event is routine. */
    public static final Routine NONE = new Routine(Set.of(), 0, 0, Duration.ZERO);

    public Routine {
      reasons = Set.copyOf(reasons);
    }

    private boolean has(Key key) {
      return key.type() == Type.NORMAL && reasons.contains(key.reason());
    }
  }

  /** An event without its time and count. */
  private record Key(ObjectReference about, Type type, String reason, String action, String note) {}

  /**
   * What became of an event that was recorded; guarded by the lock. Of the event that was created
   * only its name is kept: thousands are remembered, and each is built again when it is repeated.
   */
  private static final class EventState {
    private final Instant first;
    private Instant last;
    private Instant enqueued;
    private int count = 1;
    private boolean queued = true;
    private Optional<String> created = Optional.empty();
    private Instant written = Instant.EPOCH;

    EventState(Instant first) {
      this.first = first;
      this.last = first;
      this.enqueued = first;
    }
  }

  /** A write to be done: the creation of an event, or a new count on one. */
  private record Write(Key key, Event event, Optional<EventSeries> series) {}

  /**
   * Starts the threads that write.
   *
   * @param instance the name of this process, told in every event
   */
  public EventRecorder(
      EventSink sink, InstantSource clock, String instance, Budget budget, EventCounter counts) {
    this(
        sink,
        clock,
        new Reporter(instance, (about, reason) -> Reporter.UNNAMED),
        budget,
        Load.NONE,
        counts);
  }

  /**
   * The same beside decisions.
   *
   * @param reporter named by the events as the reporting controller and instance
   */
  public EventRecorder(
      EventSink sink,
      InstantSource clock,
      Reporter reporter,
      Budget budget,
      Load load,
      EventCounter counts) {
    this.load = load;
    this.sink = sink;
    this.clock = clock;
    this.reporter = reporter;
    this.budget = budget;
    this.counts = counts;
    this.tokens = new TokenBucket((int) budget.perSecond(), clock.instant());
    this.routineTokens = new TokenBucket((int) budget.routine().perSecond(), clock.instant());
    this.writers =
        IntStream.range(0, budget.writers())
            .mapToObj(each -> Thread.ofVirtual().name("events-" + each).start(this::writeAll))
            .toList();
  }

  /**
   * Records an event; returns at once.
   *
   * @param reason one of docs/workload-semantics.md#events
   * @param action what was done or tried, in UpperCamelCase
   * @param note what happened, for people; cut off at 1024 bytes
   */
  public void record(ObjectReference about, Type type, String reason, String action, String note) {
    String text = truncated(note);
    Key key = new Key(about, type, reason, action, text);
    Instant now = clock.instant();
    lock.lock();
    try {
      forgetOld(now);
      EventState known = eventState.get(key);
      if (known != null) {
        again(key, known, now);
      } else if (!fits(key) || closed) {
        counts.dropped();
      } else {
        eventState.put(key, new EventState(now));
        enqueue(key);
      }
    } finally {
      lock.unlock();
    }
  }

  private void again(Key key, EventState known, Instant now) {
    known.count++;
    known.last = now;
    counts.aggregated();
    boolean due = !known.written.plus(REFRESH).isAfter(now);
    if (due && !known.queued && fits(key) && !closed) {
      known.queued = true;
      known.enqueued = now;
      enqueue(key);
    }
  }

  private boolean fits(Key key) {
    return budget.routine().has(key)
        ? routineWaiting.size() < budget.routine().waiting()
        : waiting.size() < budget.waiting();
  }

  private void enqueue(Key key) {
    (budget.routine().has(key) ? routineWaiting : waiting).add(key);
    if (!watched) {
      arrived.signal();
    }
  }

  /**
   * Events that were not told again for a window are told anew, and those before the last ones that
   * are remembered; the oldest come first.
   */
  private void forgetOld(Instant now) {
    Iterator<EventState> oldest = eventState.values().iterator();
    int surplus = eventState.size() - MOST_REMEMBERED;
    while (oldest.hasNext()) {
      EventState each = oldest.next();
      boolean old = surplus > 0 || !each.last.plus(budget.window()).isAfter(now);
      if (each.queued || !old) {
        return;
      }
      oldest.remove();
      surplus--;
    }
  }

  private void writeAll() {
    try {
      for (Optional<Write> next = next(); next.isPresent(); next = next()) {
        write(next.get());
      }
    } catch (InterruptedException e) {
      log.debug("events result=stopped reason=shutdown");
    }
  }

  private void write(Write write) {
    try {
      write
          .series()
          .ifPresentOrElse(
              series -> sink.update(write.event(), series), () -> sink.create(write.event()));
      counts.written();
    } catch (RuntimeException e) {
      counts.failed();
      forget(write.key());
      log.debug(
          "event reason={} about={}/{} result=failed cause=\"{}\"",
          write.key().reason(),
          write.key().about().namespace(),
          write.key().about().name(),
          e.getMessage());
    }
  }

  private void forget(Key key) {
    lock.lock();
    try {
      eventState.remove(key);
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the next write that the budget allows; empty when there will be none any more. */
  private Optional<Write> next() throws InterruptedException {
    lock.lock();
    try {
      Optional<Key> next = permitted();
      while (next.isEmpty()) {
        if (closed) {
          waiting.forEach(any -> counts.dropped());
          routineWaiting.forEach(any -> counts.dropped());
          waiting.clear();
          routineWaiting.clear();
          return Optional.empty();
        }
        awaitPermission();
        next = permitted();
      }
      if (anyWaits()) {
        arrived.signal();
      }
      return next.map(this::prepared);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for an event, or until one that waits may be written. One writer alone looks again and
   * again, and wakes another when it leaves events behind.
   */
  private void awaitPermission() throws InterruptedException {
    if (watched || !anyWaits()) {
      arrived.await();
      return;
    }
    watched = true;
    try {
      arrived.awaitNanos(LOOK_AGAIN.toNanos());
    } finally {
      watched = false;
    }
  }

  private boolean anyWaits() {
    return !waiting.isEmpty() || !routineWaiting.isEmpty();
  }

  /** Takes the next event that may be written now. */
  private Optional<Key> permitted() {
    Instant now = clock.instant();
    dropLate(now);
    tokens.refill(now, Math.max(budget.least(), budget.perSecond() * load.share()));
    routineTokens.refill(now, budget.routine().perSecond());
    boolean free = closed || !load.isDeciding();
    if (!waiting.isEmpty() && (free || hasGivenWay(waiting.element(), now))) {
      return tokens.take() ? Optional.of(waiting.remove()) : Optional.empty();
    }
    if (routineWaiting.isEmpty() || !tokens.has()) {
      return Optional.empty();
    }
    boolean due = free || (hasGivenWay(routineWaiting.element(), now) && routineTokens.take());
    return due && tokens.take() ? Optional.of(routineWaiting.remove()) : Optional.empty();
  }

  private boolean hasGivenWay(Key key, Instant now) {
    EventState known = eventState.get(key);
    return known == null || !known.enqueued.plus(GIVES_WAY).isAfter(now);
  }

  /** Drops the routine events that have waited so long that they are no news any more. */
  private void dropLate(Instant now) {
    while (!routineWaiting.isEmpty()) {
      Key oldest = routineWaiting.element();
      EventState known = eventState.get(oldest);
      if (known != null && !known.last.plus(budget.routine().patience()).isBefore(now)) {
        return;
      }
      routineWaiting.remove();
      eventState.remove(oldest);
      counts.dropped();
    }
  }

  private Write prepared(Key key) {
    EventState known = eventState.computeIfAbsent(key, any -> new EventState(clock.instant()));
    known.queued = false;
    known.written = clock.instant();
    Optional<EventSeries> series =
        known.count == 1
            ? Optional.empty()
            : Optional.of(
                new EventSeriesBuilder()
                    .withCount(known.count)
                    .withLastObservedTime(new MicroTime(MICROS.format(known.last)))
                    .build());
    if (known.created.isPresent()) {
      return new Write(key, event(key, known.first, known.created.get()), series);
    }
    String name = name(key.about().name(), known.first);
    known.created = Optional.of(name);
    Event event = event(key, known.first, name);
    series.ifPresent(event::setSeries);
    return new Write(key, event, Optional.empty());
  }

  private Event event(Key key, Instant at, String name) {
    ObjectReference about = key.about();
    String namespace = about.namespace().isEmpty() ? "default" : about.namespace();
    ObjectMeta metadata = new ObjectMeta();
    metadata.setName(name);
    metadata.setNamespace(namespace);
    io.fabric8.kubernetes.api.model.ObjectReference regarding =
        new io.fabric8.kubernetes.api.model.ObjectReference();
    regarding.setApiVersion(about.apiVersion());
    regarding.setKind(about.kind());
    regarding.setNamespace(about.namespace());
    regarding.setName(about.name());
    regarding.setUid(about.uid());
    Event event = new Event();
    event.setMetadata(metadata);
    event.setEventTime(new MicroTime(MICROS.format(at)));
    event.setReportingController(reporter.controller().apply(key.about(), key.reason()));
    event.setReportingInstance(reporter.instance());
    event.setAction(key.action());
    event.setReason(key.reason());
    event.setType(key.type().text);
    event.setNote(key.note());
    event.setRegarding(regarding);
    return event;
  }

  /** A name that no other event has: of the object, the moment, and a number of its own. */
  private String name(String object, Instant at) {
    sequence++;
    String suffix = "." + Long.toHexString(at.toEpochMilli()) + Long.toHexString(sequence);
    int longest = LONGEST_NAME - suffix.length();
    return (object.length() <= longest ? object : object.substring(0, longest)) + suffix;
  }

  /** Writes what waits while the budget allows it, and ends. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      long end = System.nanoTime() + LAST_WRITES.toNanos();
      for (Thread writer : writers) {
        Duration left = Duration.ofNanos(Math.max(1, end - System.nanoTime()));
        if (!writer.join(left)) {
          writer.interrupt();
        }
      }
    } catch (InterruptedException e) {
      writers.forEach(Thread::interrupt);
      Thread.currentThread().interrupt();
    }
  }

  /** {@code text}, cut to {@link #LONGEST_NOTE} bytes with an ellipsis at the end. */
  private static String truncated(String text) {
    int room = LONGEST_NOTE - utf8Length(ELLIPSIS.codePointAt(0));
    int bytes = 0;
    int end = 0;
    for (int at = 0; at < text.length(); ) {
      int codePoint = text.codePointAt(at);
      bytes += utf8Length(codePoint);
      at += Character.charCount(codePoint);
      if (bytes <= room) {
        end = at;
      } else if (bytes > LONGEST_NOTE) {
        return text.substring(0, end) + ELLIPSIS;
      }
    }
    return text;
  }

  private static int utf8Length(int codePoint) {
    if (codePoint < 0x80) {
      return 1;
    }
    if (codePoint < 0x800) {
      return 2;
    }
    return Character.charCount(codePoint) == 1 ? 3 : 4;
  }

  /** Tokens that come at a rate up to a number; each permits one write. Not thread-safe. */
  private static final class TokenBucket {

    private static final double NANOS_PER_SECOND = 1e9;

    private final int most;
    private double tokens;
    private Instant filled;

    /** A full bucket. */
    TokenBucket(int most, Instant now) {
      this.most = most;
      this.tokens = most;
      this.filled = now;
    }

    /** Adds what came since the last time, at a rate that may change from one time to the next. */
    void refill(Instant now, double perSecond) {
      double gained = Duration.between(filled, now).toNanos() / NANOS_PER_SECOND * perSecond;
      tokens = Math.min(most, tokens + Math.max(0, gained));
      filled = now;
    }

    /** Whether there is a token. */
    boolean has() {
      return tokens >= 1;
    }

    /** Takes a token, if there is one. */
    boolean take() {
      if (tokens < 1) {
        return false;
      }
      tokens--;
      return true;
    }
  }

  /** Counts what became of recorded events. Called from any thread. */
  public interface EventCounter {

    /** An event was written to the API server. */
    void written();

    /** An event was merged into the series of one that was written before. */
    void aggregated();

    /** An event was not written because too many were waiting. */
    void dropped();

    /** The API server refused an event or did not answer. */
    void failed();
  }

  /**
   * Where events are written. Both methods are called from one thread, one after the other, and may
   * take their time; what they throw costs only that event.
   */
  public interface EventSink {

    /** Creates an event. */
    void create(Event event);

    /** Puts a new series on an event that was created before. */
    void update(Event event, EventSeries series);
  }
}
