package dev.sluice.kube.leader;

import dev.sluice.kube.leader.LeaseElector.LeaseStore;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Says whether objects that every operator of the API writes (the certificate's Secret, the
 * authorities in registrations and definitions, the registrations themselves) may be written: not
 * while the lease is held by a process that isn't Sluice. Replicas of Sluice share them. A holder
 * that has not renewed the lease for as long as it promised counts as gone, measured from the
 * moment at which this process saw that version of the lease first. Usable from any thread.
 *
 * <p>One {@link #againstAnyOperator} says the same to a process that is no operator: Sluice is
 * another holder then, too.
 */
public final class SharedObjectsGuard {

  /** The annotation by which a holder of the lease says that it is Sluice. */
  static final String HOLDER = "sluice.dev/holder";

  private final LeaseStore store;
  private final LongSupplier nanoTime;
  private final Duration assumed;
  private final Function<Lease, Optional<String>> others;
  private @Nullable String version;
  private long since;

  /**
   * A guard that has seen no lease yet.
   *
   * @param nanoTime the clock by which leases run out, such as System::nanoTime
   * @param assumed how long a lease binds that doesn't say so
   */
  public SharedObjectsGuard(LeaseStore store, LongSupplier nanoTime, Duration assumed) {
    this(store, nanoTime, assumed, SharedObjectsGuard::otherHolder);
  }

  private SharedObjectsGuard(
      LeaseStore store,
      LongSupplier nanoTime,
      Duration assumed,
      Function<Lease, Optional<String>> others) {
    this.store = store;
    this.nanoTime = nanoTime;
    this.assumed = assumed;
    this.others = others;
  }

  /**
   * A guard of a process that takes no part in the election: every holder keeps it from writing.
   */
  public static SharedObjectsGuard againstAnyOperator(
      LeaseStore store, LongSupplier nanoTime, Duration assumed) {
    return new SharedObjectsGuard(store, nanoTime, assumed, SharedObjectsGuard::holder);
  }

  /** The lease is held by another process; the message names the holder. */
  public static final class HeldByOtherException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String holder;
    private final boolean renewed;

    HeldByOtherException(String holder, boolean renewed) {
      super(
          "the lease is held by "
              + holder
              + ", which isn't Sluice; nothing that both would write is written until it gives the"
              + " lease up or doesn't renew it");
      this.holder = holder;
      this.renewed = renewed;
    }

    /** The identity of the holder. */
    public String holder() {
      return holder;
    }

    /** Whether the holder was seen to renew the lease, so that it is alive for certain. */
    public boolean isRenewed() {
      return renewed;
    }
  }

  /**
   * Returns if shared objects may be written now. Reads the lease.
   *
   * @throws HeldByOtherException if not
   * @throws RuntimeException if the lease can't be read
   */
  public synchronized void check() {
    Lease lease = store.read().orElse(null);
    Optional<String> other = lease == null ? Optional.empty() : others.apply(lease);
    if (lease == null || other.isEmpty()) {
      version = null;
      return;
    }
    String read = lease.getMetadata().getResourceVersion();
    long now = nanoTime.getAsLong();
    boolean first = version == null;
    boolean renewed = !first && !read.equals(version);
    if (first || renewed) {
      version = read;
      since = now;
    }
    if (now - since <= binds(lease, assumed).toNanos()) {
      throw new HeldByOtherException(other.get(), renewed);
    }
  }

  /**
   * Returns when shared objects may be written, at most as long after the call as the holder's
   * lease binds.
   *
   * @param pause between two looks
   * @throws HeldByOtherException as soon as the holder renews the lease
   * @throws InterruptedException when the thread is interrupted meanwhile
   */
  public void await(Duration pause) throws InterruptedException {
    while (true) {
      try {
        check();
        return;
      } catch (HeldByOtherException e) {
        if (e.isRenewed()) {
          throw e;
        }
        Thread.sleep(pause);
      }
    }
  }

  /** Who holds the lease, if that is somebody and doesn't say that it is Sluice. */
  public static Optional<String> otherHolder(Lease lease) {
    var annotations = lease.getMetadata().getAnnotations();
    String said = annotations == null ? null : annotations.get(HOLDER);
    return holder(lease).filter(holder -> !holder.equals(said));
  }

  /**
   * Who holds the lease at a moment, Sluice or another, by the time that its last renewal says;
   * empty if nobody does, or hasn't renewed it for as long as it binds.
   *
   * @param assumed how long a lease binds that doesn't say so
   */
  public static Optional<String> holderAt(Instant now, Lease lease, Duration assumed) {
    return holder(lease)
        .filter(
            holder -> {
              var renewed = lease.getSpec().getRenewTime();
              return renewed != null
                  && !now.isAfter(renewed.toInstant().plus(binds(lease, assumed)));
            });
  }

  private static Duration binds(Lease lease, Duration assumed) {
    Integer seconds = lease.getSpec().getLeaseDurationSeconds();
    return seconds == null ? assumed : Duration.ofSeconds(seconds);
  }

  private static Optional<String> holder(Lease lease) {
    return Optional.ofNullable(lease.getSpec())
        .map(spec -> spec.getHolderIdentity())
        .filter(holder -> !holder.isEmpty());
  }
}
