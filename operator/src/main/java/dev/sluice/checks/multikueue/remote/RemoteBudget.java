package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.kube.reflect.ReadErrorLog;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all readers of one worker cluster share: the bytes that may be kept of it, how fast it is
 * read, and the log of its objects that can't be read. Thread-safe.
 */
public final class RemoteBudget {

  private static final Logger LOG = LoggerFactory.getLogger(RemoteBudget.class);
  private static final int UNIT = 1024;
  private static final int LINES_PER_MINUTE = 10;
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final String cluster;
  private final RemoteLimits limits;
  private final ObjectMapper mapper;
  private final RequestLimiter limiter;
  private final Runnable unreadable;
  private final LongSupplier nanoTime;
  private final AtomicLong kept = new AtomicLong();

  /** The bytes that are kept, by namespace. */
  private final Map<String, Long> keptByNamespace = new ConcurrentHashMap<>();

  private final ReentrantLock reading = new ReentrantLock();
  private final ReentrantLock logging = new ReentrantLock();
  private long minuteBegan;
  private int linesOfMinute;

  /**
   * A budget of which nothing is used.
   *
   * @param cluster the name of the worker, for the log
   * @param nanoTime a clock that never goes back, in nanoseconds
   * @param unreadable runs for each object of this worker that can't be read; must not block
   */
  public RemoteBudget(
      String cluster, RemoteLimits limits, LongSupplier nanoTime, Runnable unreadable) {
    this.cluster = cluster;
    this.limits = limits;
    this.mapper = limits.mapper();
    this.nanoTime = nanoTime;
    this.unreadable = unreadable;
    this.minuteBegan = nanoTime.getAsLong();
    this.limiter =
        new RequestLimiter(
            limits.bytesPerSecond() / (double) UNIT, limits.burst() / UNIT, nanoTime);
  }

  /** The limits of this worker. */
  RemoteLimits limits() {
    return limits;
  }

  /** Reads trees of objects that keep the limits. */
  ObjectMapper mapper() {
    return mapper;
  }

  /**
   * Held while an object is read and handed over, so that there is one tree at a time of what a
   * worker sends.
   */
  ReentrantLock reading() {
    return reading;
  }

  /**
   * Charges bytes that are kept from now on, instead of others if the number is negative; to be
   * called by one thread at a time.
   *
   * @param namespace of the object; empty for one of the cluster
   * @return whether they may be kept; otherwise the namespace would have more than its share, and
   *     nothing is charged
   * @throws RemoteLimitException when the worker would have more than its share; then nothing is
   *     charged
   */
  boolean charge(String namespace, long bytes) throws RemoteLimitException {
    long ofNamespace = keptByNamespace.getOrDefault(namespace, 0L) + bytes;
    if (bytes > 0 && !namespace.isEmpty() && ofNamespace > limits.keptBytesOfNamespace()) {
      return false;
    }
    if (bytes > 0 && kept.get() + bytes > limits.keptBytes()) {
      throw new RemoteLimitException(
          "its objects take more than " + limits.keptBytes() + " bytes together");
    }
    add(namespace, bytes);
    return true;
  }

  /** Gives bytes back that were charged for an object of a namespace. */
  void release(String namespace, long bytes) {
    add(namespace, -bytes);
  }

  private void add(String namespace, long bytes) {
    kept.addAndGet(bytes);
    keptByNamespace.merge(namespace, bytes, Long::sum);
    keptByNamespace.remove(namespace, 0L);
  }

  /** How many bytes are kept. */
  long kept() {
    return kept.get();
  }

  /** Counts bytes that were read, and returns how long to wait before more is read. */
  Duration read(long bytes) {
    return limiter.reserve(Math.max(1, bytes / UNIT));
  }

  /** Notes that an object can't be read: it is counted, and logged if few were logged lately. */
  void unreadable(String path, RemoteObjects.Key key, Throwable cause) {
    unreadable.run();
    if (mayLog()) {
      LOG.warn(
          "cluster={} unreadable path={} object={}/{} reason=\"{}\"",
          cluster,
          path,
          printable(key.namespace()),
          printable(key.name()),
          ReadErrorLog.Fault.of(mapper.missingNode(), cause).reason());
    }
  }

  private static String printable(String text) {
    return text.replaceAll("\\p{Cntrl}", " ");
  }

  private boolean mayLog() {
    logging.lock();
    try {
      long now = nanoTime.getAsLong();
      if (now - minuteBegan >= MINUTE) {
        minuteBegan = now;
        linesOfMinute = 0;
      }
      return ++linesOfMinute <= LINES_PER_MINUTE;
    } finally {
      logging.unlock();
    }
  }

  /** A worker cluster sends more than is read from one; it is cut off. */
  public static final class RemoteLimitException extends IOException {

    private static final long serialVersionUID = 1L;

    /** With what exceeded which limit. */
    public RemoteLimitException(String message) {
      super(message);
    }
  }
}
