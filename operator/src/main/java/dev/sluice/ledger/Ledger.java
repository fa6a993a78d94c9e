package dev.sluice.ledger;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.ledger.LedgerStore.OpenAttempt;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadListener;
import java.io.IOException;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the ledger (docs/ledger.md#how-rows-come-to-be): each version of a Workload that says
 * something new about its quota is appended to a file before anybody else is told of the version,
 * and a thread brings the file into the database. Only the leader writes rows. Thread-safe.
 */
public final class Ledger implements WorkloadListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Ledger.class);

  private static final Duration PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(15);

  /** How long a schema that can't be brought up to date is left alone at most. */
  private static final Duration LONGEST_SCHEMA_PAUSE = Duration.ofMinutes(5);

  /** Of how many errors each is told once, until something is written. */
  private static final int TOLD_ERRORS = 20;

  /** How often a process that doesn't lead looks for what is too old to be kept. */
  private static final Duration FOLLOWERS_PAUSE = Duration.ofSeconds(5);

  /** How soon Workloads and rows are compared again, if not all of them could be. */
  private static final Duration SHORTEST_COMPARE_PAUSE = Duration.ofSeconds(1);

  private static final Duration LONGEST_COMPARE_PAUSE = Duration.ofMinutes(10);

  /** What others of the replicas may have observed and not written when they ended. */
  private static final Duration MEMORY_OF_FOLLOWERS = Duration.ofMinutes(10);

  /** How often what open attempts use is told. */
  private static final Duration COUNT_PAUSE = Duration.ofMinutes(1);

  private static final Duration PRUNE = Duration.ofHours(1);

  /** How many changes of prices wait for the database; further ones replace the last of them. */
  private static final int WAITING_PRICES = 100;

  private static final int CHUNK = 500;
  private static final int QUERIES_AT_A_TIME = 2;

  /** How many attempts a page of an export has. */
  private static final int EXPORTED = 1_000;

  /** How long the database may take for an answer. */
  private static final Duration QUERY_LIMIT = Duration.ofSeconds(30);

  /** How long a question waits for what isn't written yet. */
  private static final Duration WRITTEN_LIMIT = Duration.ofSeconds(2);

  private final LedgerOptions options;
  private final Source source;
  private final AttemptReader reader;
  private final InstantSource clock;
  private final Listener listener;
  private final LedgerDatabase database;
  private final Semaphore queries = new Semaphore(QUERIES_AT_A_TIME);
  private final AtomicBoolean incomplete = new AtomicBoolean();
  private final AtomicBoolean unpriced = new AtomicBoolean(true);

  /** Prices that the leader saw and hasn't written, the earliest first. */
  private final Deque<PricesAt> changedPrices = new ConcurrentLinkedDeque<>();

  /** The last of them, whether or not it was written. */
  private Map<FlavorResource, BigDecimal> latestPrices = Map.of();

  private final Thread thread;
  private final Instant startedAt;
  private final long startedNanos = System.nanoTime();
  private volatile boolean listed;
  private volatile boolean ending;
  private volatile boolean flushing;

  /** Completed when everything is written that was observed before it was set. */
  private final AtomicReference<@Nullable CompletableFuture<Void>> wanted = new AtomicReference<>();

  /** The fields below are used by the thread. */
  private @Nullable LedgerStore store;

  /** What was {@link #wanted} when everything was begun to be written. */
  private @Nullable CompletableFuture<Void> due;

  /** The errors that were told since something was written. */
  private final Set<String> told = new HashSet<>();

  /** What is used while this process leads; null while it doesn't. */
  private @Nullable UsageTally tally;

  private boolean caughtUp;

  /** Since when something waits that isn't written; by the clock of the machine's run. */
  private OptionalLong waitingSince = OptionalLong.empty();

  private Duration pause = PAUSE;
  private Instant pruneAt = Instant.EPOCH;
  private Duration comparePause = SHORTEST_COMPARE_PAUSE;
  private long compareAt = System.nanoTime();

  @SuppressWarnings("NullAway.Init") // set by start
  private ObservationBuffer buffer;

  /** All prices from a time on. */
  private record PricesAt(Instant since, Map<FlavorResource, BigDecimal> prices) {}

  /**
   * Where observations come from.
   *
   * @param process a name that no other process has at the same time
   * @param workloads all Workloads, as they were last read
   * @param leading whether this process writes rows
   * @param prices what a unit of quota costs for an hour; empty while nobody knows the flavors
   * @param queues whether there is a ClusterQueue of a name
   */
  public record Source(
      String process,
      WorkloadCache workloads,
      BooleanSupplier leading,
      Supplier<Optional<Map<FlavorResource, BigDecimal>>> prices,
      Predicate<String> queues) {}

  /** Is told of what is written; called by one thread. */
  public interface Listener {

    /** What was used since it was told last; times are milliseconds, amounts the engine's. */
    void used(String clusterQueue, String flavor, String resource, Use use);

    /** An observation was lost: the buffer is full or can't be written. */
    void dropped();

    /** An attempt to write rows failed; it is repeated. */
    void failed();

    /** The bytes that wait for the database. */
    void waiting(long bytes);
  }

  /**
   * How an amount was used, in amounts times milliseconds.
   *
   * @param run the part of {@code reserved} in which pods were ready; {@code waited}: in which not
   * @param lost what ran and whose work was lost, told when it was
   */
  public record Use(double reserved, double run, double waited, double lost) {}

  /** A ledger that isn't started. */
  public Ledger(
      LedgerOptions options,
      Source source,
      AttemptReader reader,
      InstantSource clock,
      Listener listener) {
    this.options = options;
    this.source = source;
    this.reader = reader;
    this.clock = clock;
    this.listener = listener;
    this.startedAt = clock.instant();
    this.tally = new UsageTally(startedAt, listener);
    this.database = new LedgerDatabase(options);
    this.thread = Thread.ofVirtual().name("ledger").unstarted(this::run);
  }

  /**
   * Opens the buffer and starts to write; to be called before Workloads are listed.
   *
   * @throws IOException if the directory can't be used
   */
  public void start() throws IOException {
    buffer = new ObservationBuffer(options.directory(), source.process(), options.maxBufferBytes());
    thread.start();
  }

  @Override
  public void synced() {
    listed = true;
  }

  @Override
  public void changed(@Nullable CachedWorkload before, @Nullable CachedWorkload after) {
    if (!listed) {
      return; // the thread compares all Workloads with the rows
    }
    Instant now = clock.instant();
    if (after == null) {
      if (before != null && AttemptReader.holds(before) && !before.finished()) {
        append(reader.gone(before, now));
      }
      return;
    }
    boolean held = before != null && AttemptReader.holds(before);
    if (!held && !AttemptReader.holds(after)) {
      return;
    }
    // an end says what ended, so that it is understood also by who knows nothing of it yet
    AttemptObservation observation =
        before != null && held && !AttemptReader.holds(after)
            ? reader.released(before, after, now)
            : reader.of(after, now);
    if (before == null || !reader.says(before, observation)) {
      append(observation);
    }
  }

  private void append(AttemptObservation observation) {
    try {
      if (buffer.append(observation)) {
        return;
      }
      lost("the buffer is full");
    } catch (IOException e) {
      lost(String.valueOf(e.getMessage()));
    }
  }

  private void lost(String reason) {
    listener.dropped();
    if (incomplete.compareAndSet(false, true)) {
      LOG.error("ledger buffered=false reason=\"{}\"", reason);
    }
  }

  private void run() {
    while (!ending) {
      Duration rest = LONGEST_PAUSE;
      try {
        rest = step();
      } catch (Throwable e) { // whatever it is, rows are written later rather than never
        LOG.error("ledger written=false", e);
      }
      if (!rest.isZero() && !ending) {
        LockSupport.parkNanos(rest.toNanos());
      }
    }
  }

  /** Does the next piece of work; returns how long to wait for the following one. */
  private Duration step() {
    if (source.leading().getAsBoolean()) {
      tally(); // use counts from now on, however long rows and Workloads take to be compared
      return write() ? Duration.ZERO : pause;
    }
    changedPrices.clear(); // the leader's are written
    tally = null; // what is used is counted by the leader
    forget();
    return FOLLOWERS_PAUSE;
  }

  /** Writes some of what waits; returns whether more does. */
  private boolean write() {
    try {
      LedgerStore ledgerStore = store == null ? opened() : store;
      boolean all = true;
      if (isDue()) {
        List<AttemptObservation> observations = buffer.next();
        if (!observations.isEmpty()) {
          ledgerStore.add(observations).forEach(tally()::ended);
        }
        all = buffer.taken();
        if (all) {
          waitingSince = OptionalLong.empty();
          written();
        }
        if (all && listed) {
          all = catchUp(ledgerStore);
        }
      }
      listener.waiting(buffer.waitingBytes());
      price(ledgerStore);
      prune(ledgerStore);
      if (caughtUp) {
        count(ledgerStore);
      }
      pause = PAUSE;
      if (!told.isEmpty()) {
        told.clear();
        LOG.info("ledger written=true waiting={}", buffer.waitingBytes());
      }
      return !all;
    } catch (LedgerDatabase.SchemaException e) {
      failed(e, LONGEST_SCHEMA_PAUSE);
    } catch (SQLException | IOException e) {
      failed(e, LONGEST_PAUSE);
    } catch (RuntimeException e) {
      if (told.isEmpty()) {
        LOG.error("ledger written=false", e);
      }
      failed(e, LONGEST_PAUSE);
    }
    return false;
  }

  /** Tells those that waited until all was written. */
  private void written() {
    CompletableFuture<Void> told = due;
    if (told != null) {
      told.complete(null);
      due = null;
    }
  }

  /**
   * Whether what waits is to be written. A transaction costs much more than an observation, and
   * what is observed of an attempt soon after its begin is written together with that.
   */
  private boolean isDue() {
    if (due == null) {
      due = wanted.getAndSet(null);
    }
    long waiting = buffer.waitingBytes();
    long now = System.nanoTime();
    if (waiting > 0 && waitingSince.isEmpty()) {
      waitingSince = OptionalLong.of(now);
    }
    return !caughtUp
        || incomplete.get()
        || flushing
        || due != null
        || waiting >= ObservationBuffer.READ_BYTES
        || waiting > 0 && now - waitingSince.getAsLong() >= options.behind().toNanos();
  }

  /**
   * Compares Workloads and rows, when this process begins to write, and when an observation was
   * lost. Only after everything that waited is in the rows: else a Workload that is gone would end
   * in a version that is older than what is written after it.
   *
   * @return whether nothing waits
   */
  private boolean catchUp(LedgerStore ledgerStore) throws SQLException {
    boolean lost = incomplete.get();
    if (caughtUp && !lost || System.nanoTime() - compareAt < 0) {
      return true;
    }
    incomplete.set(false);
    try {
      caughtUp = compare(ledgerStore);
    } catch (SQLException | RuntimeException e) {
      incomplete.set(true); // what was lost is still to be made up for
      throw e;
    }
    if (caughtUp && !incomplete.get()) {
      comparePause = SHORTEST_COMPARE_PAUSE;
      compareAt = System.nanoTime() + (lost ? comparePause.toNanos() : 0);
    } else {
      compareAt = System.nanoTime() + comparePause.toNanos();
      Duration doubled = comparePause.multipliedBy(2);
      comparePause = doubled.compareTo(LONGEST_COMPARE_PAUSE) < 0 ? doubled : LONGEST_COMPARE_PAUSE;
    }
    return buffer.waitingBytes() == 0;
  }

  private LedgerStore opened() throws SQLException {
    LedgerStore opened = database.migrated();
    store = opened;
    if (told.isEmpty()) {
      LOG.info("ledger database=open embedded={}", options.server().isEmpty());
    }
    unpriced.set(true);
    return opened;
  }

  private void failed(Exception e, Duration longestPause) {
    listener.failed();
    // once each: the next attempts follow
    if (!ending && told.size() < TOLD_ERRORS && told.add(e.toString())) {
      LOG.warn(
          "ledger written=false waiting={} reason=\"{}\"", buffer.waitingBytes(), e.toString());
    }
    LedgerStore broken = store;
    store = null;
    if (broken != null) {
      try {
        broken.close();
      } catch (SQLException closed) {
        LOG.debug("ledger database closed=false", closed);
      }
    }
    listener.waiting(buffer.waitingBytes());
    Duration doubled = pause.multipliedBy(2);
    pause = doubled.compareTo(longestPause) < 0 ? doubled : longestPause;
  }

  /**
   * Compares all Workloads with the rows: what happened while nobody observed is made up for.
   * Observations go through the buffer, as all others do.
   *
   * @return whether the watch has seen all that the rows say; a Workload that is newer in the rows
   *     than the watch isn't gone
   */
  private boolean compare(LedgerStore ledgerStore) throws SQLException {
    Instant now = clock.instant();
    List<CachedWorkload> finished = new ArrayList<>();
    for (CachedWorkload workload : source.workloads().all()) {
      if (AttemptReader.holds(workload)) {
        if (workload.finished()) {
          if (!AttemptReader.finishedBefore(workload, now.minus(options.maxAge()))) {
            finished.add(workload);
          }
        } else {
          append(reader.of(workload, now));
        }
      }
    }
    for (int from = 0; from < finished.size(); from += CHUNK) {
      List<CachedWorkload> chunk = finished.subList(from, Math.min(finished.size(), from + CHUNK));
      Set<String> ended = ledgerStore.ended(chunk.stream().map(AttemptReader::key).toList());
      chunk.stream()
          .filter(workload -> !ended.contains(AttemptReader.key(workload)))
          .forEach(workload -> append(reader.of(workload, now)));
    }
    boolean all = true;
    for (OpenAttempt attempt : ledgerStore.open()) {
      long position = source.workloads().position();
      Optional<CachedWorkload> workload =
          source
              .workloads()
              .get(
                  new WorkloadId(
                      AttemptReader.uid(attempt.key()), attempt.namespace(), attempt.workload()));
      if (workload.isEmpty() && position < attempt.version()) {
        all = false;
      } else if (workload.isEmpty()) {
        append(AttemptReader.gone(attempt.key(), attempt.version(), now));
      } else if (!AttemptReader.holds(workload.get()) || workload.get().finished()) {
        append(reader.of(workload.get(), now));
      }
    }
    return all;
  }

  /**
   * A process that doesn't lead keeps what the leader may not have written. When it is old, it goes
   * to the database that they share, where it changes only what the leader doesn't know.
   */
  private void forget() {
    try {
      List<AttemptObservation> observations = buffer.next();
      Instant old = clock.instant().minus(MEMORY_OF_FOLLOWERS);
      if (!observations.isEmpty() && observations.getLast().observedAt().isBefore(old)) {
        if (options.server().isPresent()) {
          try (LedgerStore shared = database.connect()) {
            shared.add(observations, false);
          }
        }
        buffer.taken();
      }
    } catch (SQLException | IOException e) {
      LOG.debug("ledger forgotten=false", e);
    }
  }

  /** Prices count from when the leader sees them, whether or not the database is there then. */
  private void price(LedgerStore ledgerStore) throws SQLException {
    for (PricesAt next = changedPrices.peek(); next != null; next = changedPrices.peek()) {
      set(ledgerStore, next);
      changedPrices.remove(next);
    }
    if (unpriced.get()) {
      Optional<PricesAt> present = presentPrices();
      if (present.isPresent()) {
        set(ledgerStore, present.get());
        unpriced.set(false);
      }
    }
  }

  private Optional<PricesAt> presentPrices() {
    return source.prices().get().map(prices -> new PricesAt(clock.instant(), prices));
  }

  private static void set(LedgerStore ledgerStore, PricesAt pricesAt) throws SQLException {
    int changes = ledgerStore.setPrices(pricesAt.prices(), pricesAt.since());
    if (changes > 0) {
      LOG.info("ledger prices={} changed={}", pricesAt.prices().size(), changes);
    }
  }

  private void prune(LedgerStore ledgerStore) throws SQLException {
    // what was deleted because a clock was set to a later time would be lost
    Instant steady = startedAt.plusNanos(System.nanoTime() - startedNanos);
    if (steady.isBefore(pruneAt)) {
      return;
    }
    pruneAt = steady.plus(PRUNE);
    Instant now = clock.instant();
    Instant earliest =
        Stream.of(now, steady, ledgerStore.now()).min(Instant::compareTo).orElse(now);
    int deleted = ledgerStore.deleteEndedBefore(earliest.minus(options.maxAge()));
    if (deleted > 0) {
      LOG.info("ledger deleted={} age={}", deleted, options.maxAge());
    }
  }

  private UsageTally tally() {
    UsageTally known = tally;
    if (known == null) {
      known = new UsageTally(clock.instant(), listener);
      tally = known;
    }
    return known;
  }

  /** Tells what open attempts have used meanwhile. */
  private void count(LedgerStore ledgerStore) throws SQLException {
    UsageTally counted = tally();
    Instant now = clock.instant();
    if (!now.isBefore(counted.lookedAt().plus(COUNT_PAUSE))) {
      counted.open(ledgerStore.openUse(counted.since(), now), now);
      counted.forgetRemoved(source.queues());
    }
  }

  /**
   * What was used; waits for the database, for half a minute at most.
   *
   * @throws SQLException if the database can't be asked, or too many ask
   */
  public UsageRows usage(UsageQuery query) throws SQLException {
    awaitWritten();
    UsageRows rows = asked(store -> store.usage(query, clock.instant(), QUERY_LIMIT));
    return new UsageRows(rows.rows(), rows.incomplete(), options.currency(), options.labels());
  }

  /** Lets what was observed be written first, if this process writes and that is soon done. */
  private void awaitWritten() {
    if (!source.leading().getAsBoolean() || !thread.isAlive() || buffer.waitingBytes() == 0) {
      return;
    }
    CompletableFuture<Void> written =
        Objects.requireNonNull(
            wanted.updateAndGet(known -> known == null ? new CompletableFuture<>() : known));
    LockSupport.unpark(thread);
    try {
      written.get(WRITTEN_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException | ExecutionException e) {
      LOG.debug("ledger written=false asked=true", e);
    }
  }

  /**
   * Deletes the attempts of a namespace that have ended, for good: also from what replicas
   * remember.
   *
   * @return how many
   * @throws SQLException if the database can't be asked, or too many ask
   */
  public int delete(String namespace) throws SQLException {
    awaitWritten();
    // nothing that ends later is taken for deleted because a clock was set to a later time
    return asked(
        ledgerStore ->
            ledgerStore.delete(namespace, Attempt.earlier(clock.instant(), ledgerStore.now())));
  }

  /**
   * Attempts of a namespace that have ended, with {@code rows} for each flavor and resource, and in
   * {@code continue} what the next call is given, empty if there are no more
   * (docs/ledger.md#attempts-of-a-namespace).
   *
   * @param after what the last call said; empty for the first page
   * @throws IllegalArgumentException if {@code after} isn't what a call said
   * @throws SQLException if the database can't be asked, or too many ask
   */
  public ObjectNode attempts(String namespace, String after) throws SQLException {
    if (!after.matches("[0-9]{0,18}")) {
      throw new IllegalArgumentException("continue: must be what the last answer says");
    }
    awaitWritten();
    long number = after.isEmpty() ? 0 : Long.parseLong(after);
    LedgerStore.AttemptPage page = asked(store -> store.attempts(namespace, number, EXPORTED));
    return AttemptRows.page(page.attempts(), page.next() == 0 ? "" : Long.toString(page.next()));
  }

  private <T> T asked(Question<T> question) throws SQLException {
    if (!queries.tryAcquire()) {
      throw new SQLException("too many ask; try again");
    }
    try (LedgerStore ledgerStore = database.connect()) {
      return question.ask(ledgerStore);
    } finally {
      queries.release();
    }
  }

  private interface Question<T> {
    T ask(LedgerStore store) throws SQLException;
  }

  /** Lets prices that changed count from now on. */
  public void pricesChanged() {
    presentPrices().ifPresentOrElse(this::remember, () -> unpriced.set(true));
    LockSupport.unpark(thread);
  }

  /** Most changes of a flavor are none of its prices. */
  private synchronized void remember(PricesAt pricesAt) {
    if (!pricesAt.prices().equals(latestPrices)) {
      latestPrices = pricesAt.prices();
      if (changedPrices.size() >= WAITING_PRICES) {
        changedPrices.pollLast();
      }
      changedPrices.add(pricesAt);
    }
  }

  /** Writes what waits, if that takes no longer than the limit; then writes nothing more. */
  public void stop(Duration limit) {
    long end = System.nanoTime() + limit.toNanos();
    flushing = true;
    while (thread.isAlive()
        && source.leading().getAsBoolean()
        && buffer.waitingBytes() > 0
        && System.nanoTime() < end) {
      LockSupport.unpark(thread);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
    ended(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
  }

  /** Ends the thread; returns whether it ended within the limit. */
  private boolean ended(Duration limit) {
    ending = true;
    LockSupport.unpark(thread);
    try {
      return thread.getState() == Thread.State.NEW || thread.join(limit);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    boolean ended = ended(Duration.ofSeconds(5));
    if (!ended) {
      LOG.warn("ledger closed=false reason=\"the database doesn't answer\"");
    }
    try (ObservationBuffer open = buffer) {
      LedgerStore last = store;
      if (ended && last != null) {
        last.close();
      }
    } catch (SQLException e) {
      LOG.debug("ledger database closed=false", e);
    }
  }
}
