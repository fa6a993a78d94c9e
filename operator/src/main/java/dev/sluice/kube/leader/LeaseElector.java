package dev.sluice.kube.leader;

import dev.sluice.kube.client.ApiErrorText;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Election of a leader by a Lease. A follower watches the lease and takes it at once when its
 * holder lets go of it, or when it was not renewed for its duration, by the follower's own clock
 * since it last saw a change: clocks of different machines are not compared. A leader that can't
 * renew before the deadline has lost, at that moment, whatever its requests are still waiting for.
 * Whoever has lost doesn't try again: the process is to end.
 */
public final class LeaseElector implements Leadership, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LeaseElector.class);
  private static final Duration JUST_AFTER = Duration.ofMillis(50);

  private static final AutoCloseable NO_WATCH = () -> {};

  /** How long a renewal that is under way is waited for at the end. */
  private static final Duration SETTLING = Duration.ofSeconds(2);

  /**
   * How the election goes.
   *
   * @param identity who this process is; unlike any other process, past ones included
   * @param leaseDuration how long followers wait for a leader that is silent
   * @param renewDeadline how long a leader goes on without having renewed; less than leaseDuration
   * @param retryPeriod between two looks at the lease
   */
  public record Settings(
      String identity, Duration leaseDuration, Duration renewDeadline, Duration retryPeriod) {

    public Settings {
      if (renewDeadline.compareTo(leaseDuration) >= 0) {
        throw new IllegalArgumentException(
            "renewDeadline: %s has to be less than leaseDuration, %s"
                .formatted(renewDeadline, leaseDuration));
      }
      if (retryPeriod.compareTo(renewDeadline) >= 0) {
        throw new IllegalArgumentException(
            "retryPeriod: %s has to be less than renewDeadline, %s"
                .formatted(retryPeriod, renewDeadline));
      }
    }
  }

  private enum Stage {
    FOLLOWING,
    LEADING,
    OVER
  }

  private final Settings settings;
  private final LeaseStore store;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Listener listener;
  private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.FOLLOWING);
  private final ScheduledExecutorService executor =
      Executors.newScheduledThreadPool(
          2, Thread.ofPlatform().daemon().name("leader-election-", 0).factory());
  private final ReentrantLock turns = new ReentrantLock();
  private final AtomicReference<AutoCloseable> watch = new AtomicReference<>(NO_WATCH);
  private volatile long leadsUntil;
  private volatile long term;
  private @Nullable Lease seen;
  private long seenAt;

  /**
   * An elector that is not started.
   *
   * @param clock the time that is written into the lease, for people
   * @param nanoTime the clock by which leases run out, in nanoseconds, such as System::nanoTime
   * @param listener is told when leadership starts and when it is lost
   */
  public LeaseElector(
      Settings settings,
      LeaseStore store,
      InstantSource clock,
      LongSupplier nanoTime,
      Listener listener) {
    this.settings = settings;
    this.store = store;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.listener = listener;
  }

  /** Takes part in the election from now on. */
  public void start() {
    executor.execute(this::runAndReschedule);
    executor.execute(this::watchLease);
  }

  /** A follower that can't watch finds out at its next look. */
  private void watchLease() {
    try {
      watch.set(store.watch(this::leaseChanged));
    } catch (RuntimeException e) {
      LOG.debug("lease watched=false reason=\"{}\"", ApiErrorText.of(e));
    }
    if (stage.get() != Stage.FOLLOWING) {
      endWatch();
    }
  }

  /** A follower looks at once at a lease that nobody holds any more. */
  private void leaseChanged(Lease lease) {
    if (holder(lease).isEmpty() && stage.get() == Stage.FOLLOWING) {
      try {
        executor.execute(this::lookAtFreeLease);
      } catch (RejectedExecutionException e) {
        LOG.debug("lease free=true taken=false reason=\"the election is over here\"");
      }
    }
  }

  /** Does nothing while another look is under way, which finds the same. */
  private void lookAtFreeLease() {
    if (turns.tryLock()) {
      try {
        if (stage.get() == Stage.FOLLOWING) {
          var unused = turn();
        }
      } finally {
        turns.unlock();
      }
    }
  }

  private void endWatch() {
    try {
      watch.getAndSet(NO_WATCH).close();
    } catch (Exception e) {
      LOG.debug("lease watch closed=false reason=\"{}\"", ApiErrorText.of(e));
    }
  }

  @Override
  public boolean leading() {
    return stage.get() == Stage.LEADING && nanoTime.getAsLong() - leadsUntil < 0;
  }

  @Override
  public long term() {
    return term;
  }

  private void runAndReschedule() {
    Duration pause;
    turns.lock();
    try {
      pause = turn();
    } finally {
      turns.unlock();
    }
    if (stage.get() != Stage.OVER && !executor.isShutdown()) {
      executor.schedule(this::runAndReschedule, pause.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  /** One look at the lease; returns when to look again. */
  Duration turn() {
    try {
      return switch (Objects.requireNonNull(stage.get())) {
        case LEADING -> renew();
        case FOLLOWING -> tryToAcquire();
        case OVER -> settings.retryPeriod();
      };
    } catch (RuntimeException | Error e) { // a look that ended so must not be the last one
      LOG.warn("lease not reachable role={} reason=\"{}\"", role(), ApiErrorText.of(e));
      checkDeadline();
      return settings.retryPeriod();
    }
  }

  private Duration tryToAcquire() {
    Lease lease = store.read().orElse(null);
    long now = nanoTime.getAsLong();
    if (lease != null && !Objects.equals(version(lease), seen == null ? null : version(seen))) {
      seen = lease;
      seenAt = now;
    }
    Duration left = lease == null ? Duration.ZERO : timeLeft(lease, now);
    if (left.isPositive()) {
      Duration until = left.plus(JUST_AFTER);
      return until.compareTo(settings.retryPeriod()) < 0 ? until : settings.retryPeriod();
    }
    Optional<Lease> written = store.write(claim(lease));
    if (written.isPresent()) {
      lead(written.get(), now);
    }
    return settings.retryPeriod();
  }

  private Duration renew() {
    long before = nanoTime.getAsLong();
    checkDeadline();
    if (stage.get() != Stage.LEADING) {
      return settings.retryPeriod();
    }
    Optional<Lease> written = store.write(claim(seen));
    if (written.isPresent()) {
      lead(written.get(), before);
      return settings.retryPeriod();
    }
    Optional<Lease> current = store.read();
    if (current.isPresent() && !holder(current.get()).equals(settings.identity())) {
      lose("the lease is held by " + holder(current.get()));
    } else {
      seen = current.orElse(null);
    }
    return JUST_AFTER;
  }

  /** How long the lease still binds others, as seen from here. */
  private Duration timeLeft(Lease lease, long now) {
    if (holder(lease).isEmpty()) {
      return Duration.ZERO;
    }
    Integer seconds = lease.getSpec().getLeaseDurationSeconds();
    Duration duration = seconds == null ? settings.leaseDuration() : Duration.ofSeconds(seconds);
    return duration.minusNanos(now - seenAt);
  }

  private Lease claim(@Nullable Lease previous) {
    ZonedDateTime now = clock.instant().truncatedTo(ChronoUnit.MICROS).atZone(ZoneOffset.UTC);
    LeaseSpec spec = previous == null ? null : previous.getSpec();
    boolean mine = previous != null && holder(previous).equals(settings.identity());
    int transitions =
        spec == null || spec.getLeaseTransitions() == null ? 0 : spec.getLeaseTransitions();
    return (previous == null ? new LeaseBuilder() : new LeaseBuilder(previous))
        .editOrNewMetadata()
        .addToAnnotations(SharedObjectsGuard.HOLDER, settings.identity())
        .endMetadata()
        .editOrNewSpec()
        .withHolderIdentity(settings.identity())
        .withLeaseDurationSeconds(Math.toIntExact(settings.leaseDuration().toSeconds()))
        .withAcquireTime(mine && spec != null ? spec.getAcquireTime() : now)
        .withRenewTime(now)
        .withLeaseTransitions(previous == null || mine ? transitions : transitions + 1)
        .endSpec()
        .build();
  }

  private void lead(Lease lease, long since) {
    seen = lease;
    seenAt = since;
    LeaseSpec spec = lease.getSpec();
    term = spec == null || spec.getLeaseTransitions() == null ? 0 : spec.getLeaseTransitions();
    leadsUntil = since + settings.renewDeadline().toNanos();
    executor.schedule(
        this::checkDeadline,
        settings.renewDeadline().toMillis()
            - TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - since),
        TimeUnit.MILLISECONDS);
    if (stage.compareAndSet(Stage.FOLLOWING, Stage.LEADING)) {
      LOG.info("leading identity={}", settings.identity());
      listener.started();
      endWatch();
    }
  }

  private void checkDeadline() {
    if (stage.get() == Stage.LEADING && nanoTime.getAsLong() - leadsUntil >= 0) {
      lose("the lease was not renewed within " + settings.renewDeadline().toSeconds() + "s");
    }
  }

  private void lose(String reason) {
    if (stage.compareAndSet(Stage.LEADING, Stage.OVER)) {
      LOG.error("leading no more identity={} reason=\"{}\"", settings.identity(), reason);
      listener.lost();
    }
  }

  /**
   * Ends the part in the election, without a word to the listener. A leader lets go of the lease,
   * so that others needn't wait: it has to have stopped writing before.
   */
  @Override
  public void close() {
    executor.shutdownNow();
    boolean led = leading();
    stage.set(Stage.OVER);
    endWatch();
    Lease last = led && completed() ? seen : null;
    if (last != null && !release(last)) {
      // A renewal may have been cut off after it was written.
      retryRelease();
    }
  }

  /**
   * Ends the part in the election, without a word to the listener, and leaves the lease to run out:
   * for a leader whose writes may not have ended.
   */
  public void abandon() {
    executor.shutdownNow();
    stage.set(Stage.OVER);
    endWatch();
  }

  private void retryRelease() {
    try {
      store
          .read()
          .filter(lease -> holder(lease).equals(settings.identity()))
          .ifPresent(this::release);
    } catch (RuntimeException e) {
      LOG.warn("lease released=false reason=\"{}\"", ApiErrorText.of(e));
    }
  }

  private boolean completed() {
    try {
      return executor.awaitTermination(SETTLING.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Whether that worked. */
  private boolean release(Lease lease) {
    Lease free =
        new LeaseBuilder(lease)
            .editSpec()
            .withHolderIdentity("")
            .withLeaseDurationSeconds(1)
            .endSpec()
            .build();
    try {
      return store.write(free).isPresent();
    } catch (RuntimeException e) {
      LOG.warn("lease released=false reason=\"{}\"", ApiErrorText.of(e));
      return false;
    }
  }

  private static String holder(Lease lease) {
    String holder = lease.getSpec() == null ? null : lease.getSpec().getHolderIdentity();
    return holder == null ? "" : holder;
  }

  private static @Nullable String version(Lease lease) {
    return lease.getMetadata().getResourceVersion();
  }

  /** Where the lease is kept. Calls may block, for a bounded time. */
  public interface LeaseStore {

    /**
     * The lease as it stands, if it exists.
     *
     * @throws RuntimeException if that can't be found out
     */
    Optional<Lease> read();

    /**
     * Creates the lease, or replaces exactly the version that {@code lease} names.
     *
     * @return the lease as it stands now; empty if somebody else was faster
     * @throws RuntimeException if it is unknown what became of it
     */
    Optional<Lease> write(Lease lease);

    /**
     * Tells of changes of the lease from now on, as well as that can be done: changes may be
     * missed, so that the lease has to be read from time to time all the same.
     *
     * @param changed is given the lease after each change, on any thread; it must not block
     * @return closing it ends that
     * @throws RuntimeException if nothing can be told
     */
    default AutoCloseable watch(Consumer<Lease> changed) {
      return () -> {};
    }
  }
}
