package dev.sluice.journal;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.journal.JournalDirectory.OpenSession;
import dev.sluice.journal.JournalDirectory.SegmentFile;
import dev.sluice.journal.JournalDirectory.Storage;
import dev.sluice.journal.JournalRecord.Checkpoint;
import dev.sluice.journal.JournalRecord.Gap;
import dev.sluice.journal.JournalRecord.Header;
import dev.sluice.journal.JournalRecord.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the journal of this process, on a thread of its own. One other thread hands records over
 * through a bounded buffer and never waits: what the buffer has no room for, or the disk doesn't
 * take, is counted, and a gap stands for it in the journal (docs/journal.md#gaps).
 */
public final class JournalWriter implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(JournalWriter.class);

  /** The most records between the two threads; a power of two. */
  private static final int BUFFER = 1 << 16;

  private static final int BATCH = 4096;

  /**
   * How long the writing thread rests at most when there is nothing to write: it need not wake up
   * before the next sync. A buffer that is half full wakes it.
   */
  private static final Duration LONGEST_REST = Duration.ofSeconds(1);

  /** How long after a failure, or after a segment that began after a gap, the next one begins. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  /**
   * Each attempt takes the engine's state: a disk that stays full must not cost it every second.
   */
  private static final Duration LONGEST_RETRY = Duration.ofMinutes(1);

  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);
  private static final Duration RETENTION_INTERVAL = Duration.ofMinutes(1);
  private static final Duration TELLING_INTERVAL = Duration.ofMinutes(10);
  private static final Duration CLOSING = Duration.ofSeconds(5);

  /** A segment is at most so much older than its last record may get. */
  private static final int SEGMENTS_PER_AGE = 10;

  /** A segment is at least so many times as large as its checkpoint. */
  private static final int LEAST_RECORDS = 4;

  private static final Object CYCLE = new Object();

  /** Listener for what is written and what isn't, called on any thread; must not block. */
  public interface Listener {

    /** So many records were written, in so many bytes. */
    void written(long records, long bytes);

    /** So many records were not written and will not be. */
    void dropped(long records);
  }

  /**
   * The process that writes.
   *
   * @param identity unlike that of any other process
   * @param program version of the program
   * @param term how often the lease had changed hands when the process got it; 0 before
   */
  public record Source(String identity, String program, LongSupplier term) {}

  private enum Demand {
    /** No checkpoint is needed. */
    NONE,
    /** The next one that is at hand is needed: a segment begins with it. */
    WANTED,
    /** It is in the buffer. */
    OFFERED
  }

  private final JournalOptions options;
  private final Source source;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Listener listener;
  private final Storage storage;
  private final RecordTypes types = JournalRecord.types();
  private final JournalDirectory directory;
  private final Instant startedAt;
  private final Thread thread;
  private volatile boolean closed;
  private volatile boolean anotherTerm;
  private volatile Demand demand = Demand.WANTED;

  // The buffer: slots from head (next to be read) to tail (next to be filled).
  private final AtomicReferenceArray<@Nullable Object> slots = new AtomicReferenceArray<>(BUFFER);
  private final AtomicLong head = new AtomicLong();
  private final AtomicLong tail = new AtomicLong();

  // Of the thread that hands over.
  private long refused;

  // Of the writing thread.
  private @Nullable OpenSession session;
  private @Nullable SegmentWriter segment;
  private @Nullable Path current;
  private int segments;
  private long sequence;
  private long flushedSequence;
  private long previous;
  private long lost;
  private long unflushed;
  private long writtenBytes;
  private long checkpointBytes;
  private long segmentStarted;
  private long nextAttempt;
  private long retry = RETRY.toNanos();
  private long lastSync;
  private long lastLook;
  private long lastRetention;
  private long lastSlow;
  private boolean unsynced;
  private boolean needsSegment;
  private boolean failing;

  /** A writer that isn't started. */
  public JournalWriter(
      JournalOptions options,
      Source source,
      InstantSource clock,
      LongSupplier nanoTime,
      Listener listener) {
    this(options, source, clock, nanoTime, listener, JournalDirectory::createFile);
  }

  /** A writer whose files are made by {@code storage}. */
  JournalWriter(
      JournalOptions options,
      Source source,
      InstantSource clock,
      LongSupplier nanoTime,
      Listener listener,
      Storage storage) {
    this.options = options;
    this.source = source;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.listener = listener;
    this.storage = storage;
    this.directory = new JournalDirectory(options.directory(), types);
    this.startedAt = clock.instant();
    this.nextAttempt = nanoTime.getAsLong();
    this.lastSync = nextAttempt;
    this.lastLook = nextAttempt;
    this.lastSlow = nextAttempt - TELLING_INTERVAL.toNanos();
    this.lastRetention = nextAttempt - RETENTION_INTERVAL.toNanos();
    this.thread = Thread.ofPlatform().name("journal").daemon().unstarted(this::run);
  }

  /** Starts the writing thread. */
  public void start() {
    thread.start();
  }

  /** Begins a segment soon, because the source has another term. */
  public void termChanged() {
    anotherTerm = true;
  }

  // What the other thread calls.

  /** Whether a checkpoint is needed now. */
  boolean wantsCheckpoint() {
    return demand == Demand.WANTED;
  }

  /** Hands over the engine's state before the next event. */
  void checkpoint(Checkpoint checkpoint) {
    demand = Demand.OFFERED;
    if (!offerAfterGap(checkpoint)) {
      demand = Demand.WANTED;
    }
  }

  /** Hands over an event, before it is applied. */
  void applied(SchedulerEvent event) {
    record(event);
  }

  /** Hands over that a cycle begins. */
  void cycleRun() {
    record(CYCLE);
  }

  /** Hands over a decision. */
  void decided(Decision decision) {
    record(decision);
  }

  private void record(Object value) {
    if (!offerAfterGap(value)) {
      refused++;
      listener.dropped(1);
    }
  }

  private boolean offerAfterGap(Object value) {
    if (refused > 0) {
      if (!offer(new Gap(refused))) {
        return false;
      }
      refused = 0;
    }
    return offer(value);
  }

  private boolean offer(Object value) {
    long at = tail.getPlain();
    long waiting = at - head.getAcquire();
    if (waiting == BUFFER) {
      return false;
    }
    slots.setPlain((int) (at & (BUFFER - 1)), value);
    tail.setRelease(at + 1);
    if (waiting == BUFFER / 2) {
      LockSupport.unpark(thread);
    }
    return true;
  }

  // The writing thread.

  private @Nullable Object poll() {
    long at = head.getPlain();
    if (at == tail.getAcquire()) {
      return null;
    }
    int slot = (int) (at & (BUFFER - 1));
    Object value = slots.getPlain(slot);
    slots.setPlain(slot, null);
    head.setRelease(at + 1);
    return value;
  }

  private void run() {
    long rest = Math.min(LONGEST_REST.toNanos(), options.syncInterval().toNanos());
    while (!closed) {
      if (!batch()) {
        LockSupport.parkNanos(rest);
      }
    }
    while (batch()) {
      // The rest of the buffer.
    }
    end();
  }

  /** Writes what is in the buffer, up to a limit; returns whether there was anything. */
  private boolean batch() {
    int count = 0;
    for (Object next = poll(); next != null; next = ++count < BATCH ? poll() : null) {
      take(next);
    }
    try {
      flush();
      long now = nanoTime.getAsLong();
      if (unsynced && now - lastSync >= options.syncInterval().toNanos()) {
        sync(now);
      }
      if (needsRotation(now)) {
        needsSegment = true;
      }
      if (needsSegment && demand == Demand.NONE && now - nextAttempt >= 0) {
        demand = Demand.WANTED;
      }
      if (current != null && now - lastRetention >= RETENTION_INTERVAL.toNanos()) {
        retain(current);
      }
    } catch (IOException e) {
      failed(e);
    } catch (RuntimeException e) {
      failed(new IOException(e));
    }
    return count > 0;
  }

  private boolean needsRotation(long now) {
    SegmentWriter open = segment;
    return open != null
        && (anotherTerm
            || open.size() >= Math.max(options.segmentBytes(), LEAST_RECORDS * checkpointBytes)
            || now - segmentStarted >= options.maxAge().toNanos() / SEGMENTS_PER_AGE
            || isGone(now));
  }

  /** Whether the directory was removed; the disk is asked once in a while. */
  private boolean isGone(long now) {
    if (now - lastLook < LOOK_INTERVAL.toNanos()) {
      return false;
    }
    lastLook = now;
    return session != null && !session.exists();
  }

  private void take(Object value) {
    try {
      switch (value) {
        case Checkpoint checkpoint -> begin(checkpoint);
        case Gap(var refusedRecords) -> {
          tellSlow(refusedRecords);
          gap(refusedRecords);
          needsSegment = true;
        }
        case SchedulerEvent event -> append(new JournalRecord.Applied(event));
        case Decision decision -> append(new JournalRecord.Decided(decision));
        default -> append(new JournalRecord.CycleRun());
      }
    } catch (IOException e) {
      failed(e);
    } catch (RuntimeException e) {
      LOG.error("journal record={} written=false", value.getClass().getSimpleName(), e);
      failed(new IOException("a record can't be encoded", e));
    }
  }

  private void append(JournalRecord value) throws IOException {
    SegmentWriter open = segment;
    if (open == null) {
      drop(1);
      return;
    }
    sequence++;
    unflushed++;
    open.append(value);
    if (open.isFull()) {
      flush();
    }
  }

  /** A gap, of records that were counted as dropped already. */
  private void gap(long records) {
    SegmentWriter open = segment;
    if (open == null) {
      lost += records;
      return;
    }
    sequence += records;
    open.append(new Gap(records));
  }

  private void drop(long records) {
    lost += records;
    listener.dropped(records);
  }

  private void flush() throws IOException {
    SegmentWriter open = segment;
    if (open != null && open.size() > writtenBytes) {
      open.flush();
      listener.written(unflushed, open.size() - writtenBytes);
      writtenBytes = open.size();
      unflushed = 0;
      flushedSequence = sequence;
      unsynced = true;
    }
  }

  private void sync(long now) throws IOException {
    SegmentWriter open = segment;
    if (open != null) {
      open.sync();
    }
    lastSync = now;
    unsynced = false;
  }

  /** Begins the next segment with the engine's state. */
  private void begin(Checkpoint checkpoint) throws IOException {
    demand = Demand.NONE;
    nextAttempt = nanoTime.getAsLong() + retry;
    SegmentWriter before = segment;
    if (before != null) {
      flush();
      before.sync();
      previous = before.chain();
      before.close();
      segment = null;
    }
    OpenSession writing = session;
    if (writing == null || !writing.exists()) {
      writing = openSession(writing);
    }
    Path file = writing.segment(++segments, sequence);
    current = file;
    Session id = new Session(startedAt, source.identity(), source.term().getAsLong());
    SegmentFile made = storage.create(file);
    SegmentWriter next;
    try {
      Header header = new Header(id, source.program(), sequence, previous);
      next = SegmentWriter.begin(made, types, header, checkpoint);
    } catch (RuntimeException e) {
      made.close();
      throw e;
    }
    segment = next;
    writtenBytes = 0;
    segmentStarted = nanoTime.getAsLong();
    checkpointBytes = next.size();
    needsSegment = false;
    anotherTerm = false;
    if (lost > 0) {
      long missing = lost;
      lost = 0;
      gap(missing);
      LOG.info("journal segment={} lost={} reason=\"written on\"", file, missing);
    }
    flush();
    sync(segmentStarted);
    failing = false;
    retry = RETRY.toNanos();
    retain(file);
  }

  private OpenSession openSession(@Nullable OpenSession gone) throws IOException {
    session = null;
    if (gone != null) {
      gone.close();
    }
    OpenSession opened = directory.open(clock.instant(), source.identity());
    session = opened;
    if (opened.firstSequence() >= sequence) {
      sequence = opened.firstSequence();
      flushedSequence = sequence;
      previous = opened.previous();
    }
    return opened;
  }

  private void retain(Path file) {
    lastRetention = nanoTime.getAsLong();
    try {
      directory.retain(file, options.maxBytes(), options.maxAge(), clock.instant());
    } catch (IOException e) {
      LOG.warn("journal directory={} cleaned=false reason=\"{}\"", options.directory(), text(e));
    }
  }

  /** Nothing is written until the next attempt; told once. */
  private void failed(IOException e) {
    if (!failing) {
      LOG.warn("journal directory={} written=false reason=\"{}\"", options.directory(), text(e));
    }
    failing = true;
    SegmentWriter open = segment;
    segment = null;
    unsynced = false;
    if (open != null) {
      previous = open.isEmpty() ? previous : open.chain();
      open.abandon();
    }
    deleteIfEmpty(current);
    lost += sequence - flushedSequence;
    sequence = flushedSequence;
    if (unflushed > 0) {
      listener.dropped(unflushed);
    }
    unflushed = 0;
    needsSegment = true;
    nextAttempt = nanoTime.getAsLong() + retry;
    retry = Math.min(2 * retry, LONGEST_RETRY.toNanos());
  }

  /** The buffer was full; told once in a while. */
  private void tellSlow(long records) {
    long now = nanoTime.getAsLong();
    if (now - lastSlow >= TELLING_INTERVAL.toNanos()) {
      lastSlow = now;
      LOG.warn(
          "journal directory={} lost={} reason=\"the disk is slow\"", options.directory(), records);
    }
  }

  private static void deleteIfEmpty(@Nullable Path file) {
    try {
      if (file != null && Files.exists(file) && Files.size(file) == 0) {
        Files.delete(file);
      }
    } catch (IOException e) {
      LOG.debug("journal segment={} deleted=false reason=\"{}\"", file, text(e));
    }
  }

  private static String text(IOException e) {
    return e.getMessage() == null
        ? e.toString()
        : e.getClass().getSimpleName() + ": " + e.getMessage();
  }

  private void end() {
    try {
      SegmentWriter open = segment;
      if (open != null) {
        open.sync();
        open.close();
      }
      if (session != null) {
        session.close();
      }
    } catch (IOException e) {
      LOG.warn("journal directory={} closed=false reason=\"{}\"", options.directory(), text(e));
    }
  }

  /** Writes what was handed over, and ends the session; after a limited time it gives up. */
  @Override
  public void close() {
    closed = true;
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    LockSupport.unpark(thread);
    try {
      if (!thread.join(CLOSING)) {
        LOG.warn(
            "journal directory={} closed=false reason=\"the disk is slow\"", options.directory());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * How a journal is written (docs/journal.md#configuration).
   *
   * @param directory where; made if it doesn't exist
   * @param maxBytes how large it may get before the oldest segments are deleted
   * @param maxAge how old a segment may get
   * @param segmentBytes the size at which the next segment is begun
   * @param syncInterval how often what was written is synced to the disk
   */
  public record JournalOptions(
      Path directory, long maxBytes, Duration maxAge, long segmentBytes, Duration syncInterval) {}
}
