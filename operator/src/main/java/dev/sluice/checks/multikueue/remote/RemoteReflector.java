package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.checks.multikueue.remote.RemoteBudget.RemoteLimitException;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.kube.client.BoundedAnswers.AnswerTooLongException;
import dev.sluice.kube.client.ResponseStream.ResourceExpiredException;
import dev.sluice.kube.client.ResponseStream.ResponseTimeoutException;
import dev.sluice.kube.reflect.ListWatch;
import dev.sluice.kube.reflect.ListWatch.MetadataFieldReader;
import dev.sluice.kube.reflect.ListWatch.ReadOptions;
import io.fabric8.kubernetes.client.http.HttpClient;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Lists and watches objects of one kind in a worker cluster, within the limits of its budget.
 * Renews the watch when the server ends it regularly, lists again when the resource version has
 * expired, and fails on every other error. An object that can't be read is noted and left out: the
 * last known version stays.
 */
final class RemoteReflector implements AutoCloseable {

  private static final int PAGE_SIZE = 500;
  private static final int WATCH_SECONDS = 300;
  private static final Key NO_KEY = new Key("", "");

  /** A watch without events that ends before this time counts as failed. */
  private static final Duration SHORTEST_WATCH = Duration.ofSeconds(1);

  private static final int MOST_EXPIRED = 3;

  private final String path;
  private final String selector;
  private final RemoteObjects objects;
  private final RemoteBudget budget;
  private final InstantSource clock;
  private final ListWatch listWatch;

  /**
   * Creates a reflector that is not running.
   *
   * @param http connections to the worker, which stay the caller's
   * @param root where the worker's API server is
   * @param path path of the kind, such as {@code apis/kueue.x-k8s.io/v1beta2/workloads}
   * @param selector the label that the objects have, as {@code key=value}; empty for all objects
   * @param objects the store of the objects
   */
  RemoteReflector(
      HttpClient http,
      String root,
      String path,
      String selector,
      RemoteObjects objects,
      InstantSource clock) {
    this.path = path;
    this.selector = selector;
    this.objects = objects;
    this.budget = objects.budget();
    this.clock = clock;
    this.listWatch =
        new ListWatch(
            http,
            root
                + (root.endsWith("/") ? "" : "/")
                + path
                + (selector.isEmpty()
                    ? ""
                    : "?labelSelector=" + URLEncoder.encode(selector, StandardCharsets.UTF_8)),
            new ReadOptions(
                budget.mapper(),
                PAGE_SIZE,
                budget.limits().objectBytes(),
                budget.limits().readBytes(),
                budget.limits().pages(),
                RemoteLimits.SILENCE,
                body -> new PacedInput(body, budget)),
            clock);
  }

  /**
   * Lists and watches; returns only after it was closed.
   *
   * @param timeout the longest time until the watch must be established, and of each later listing
   * @throws RemoteLimitException when the worker sends more than is read from one
   * @throws ResponseTimeoutException when the watch is not established in time
   * @throws IOException when anything else fails
   */
  void run(Duration timeout, RemoteSession.Events events) throws IOException {
    RemoteHandler handler = new RemoteHandler(events);
    boolean listed = false;
    int expired = 0;
    while (!listWatch.isClosed()) {
      try {
        if (!listed) {
          listWatch.list(handler, clock.instant().plus(timeout));
          listed = true;
        }
        int received = watch(handler, handler.established ? timeout : listWatch.left());
        if (received == 0 && !handler.lasted()) {
          throw new IOException("the watch ended at once");
        }
        handler.progressed = true;
      } catch (ResourceExpiredException e) {
        listed = false;
        expired = handler.progressed ? 1 : expired + 1;
        handler.progressed = false;
        if (expired > MOST_EXPIRED) {
          throw new IOException("the worker forgets at once what it has sent", e);
        }
      } catch (AnswerTooLongException e) {
        throw new RemoteLimitException(path + ": " + e.getMessage());
      } catch (IOException e) {
        if (!listWatch.isClosed()) {
          throw listWatch.isLate() ? new ResponseTimeoutException("not listed in time", e) : e;
        }
      }
    }
  }

  /** Watches; returns the number of events. */
  private int watch(RemoteHandler handler, Duration timeout) throws IOException {
    try {
      return listWatch.watch(handler, WATCH_SECONDS, timeout);
    } finally {
      if (handler.lasted()) {
        handler.tellProgress();
      }
    }
  }

  /** Makes {@link #run} fail if the server is late; to be called regularly. */
  void probe() {
    listWatch.probe();
  }

  @Override
  public void close() {
    listWatch.close();
  }

  /**
   * Keeps the objects of the worker. The lock of the budget is held while one is read and handed
   * over, so that there is one tree at a time of what a worker sends.
   */
  private final class RemoteHandler implements ListWatch.Handler {

    private final RemoteSession.Events events;

    /** The keys of a listing that has begun. */
    private Optional<Set<Key>> listed = Optional.empty();

    /** Bytes of that listing, without what namespaces have beyond their share. */
    private long listedBytes;

    private boolean established;

    /** Whether a watch told of something, or lasted, since a version had expired. */
    private boolean progressed;

    /** Whether that was told, since the beginning. */
    private boolean progressTold;

    /** When the latest watch began; empty while none has. */
    private Optional<Instant> began = Optional.empty();

    RemoteHandler(RemoteSession.Events events) {
      this.events = events;
    }

    @Override
    public void watchBegins() {
      began = Optional.of(clock.instant());
      if (!established) {
        established = true;
        events.established();
      }
    }

    boolean lasted() {
      return began
          .filter(begin -> !clock.instant().isBefore(begin.plus(SHORTEST_WATCH)))
          .isPresent();
    }

    void tellProgress() {
      if (!progressTold) {
        progressTold = true;
        events.progressed();
      }
    }

    @Override
    public void listingBegins() {
      began = Optional.empty();
      listed = Optional.of(new HashSet<>());
      listedBytes = 0;
    }

    @Override
    public void object(byte[] json, int offset, int length, boolean deleted)
        throws RemoteLimitException {
      if (listed.isEmpty()) {
        progressed = true;
        tellProgress();
      }
      budget.reading().lock();
      try {
        if (deleted) {
          objects.deleted(key(json, offset, length), events);
        } else {
          Key key = seen(json, offset, length);
          listed.ifPresent(keys -> keys.add(key));
        }
      } finally {
        budget.reading().unlock();
      }
    }

    /** Keeps an object, if it can be read; returns its key, as far as that can be read. */
    private Key seen(byte[] json, int offset, int length) throws RemoteLimitException {
      try {
        JsonNode tree = budget.mapper().readTree(json, offset, length);
        Key key = Key.of(tree);
        if (!(tree instanceof ObjectNode object) || !key.isPossible()) {
          throw new IOException("it has no name, or an impossible one");
        }
        if (!isSelected(object)) {
          throw new RemoteLimitException(
              path + ": objects without the label " + selector + ", which were not asked for");
        }
        if (objects.seen(object, events)) {
          count(length);
        } else {
          budget.unreadable(path, key, beyondShare());
        }
        return key;
      } catch (RemoteLimitException e) {
        throw e;
      } catch (IOException | RuntimeException | StackOverflowError e) {
        Key key = key(json, offset, length);
        budget.unreadable(path, key, e);
        count(length);
        return key;
      }
    }

    private IOException beyondShare() {
      return new IOException(
          "objects of its namespace take more than "
              + budget.limits().keptBytesOfNamespace()
              + " bytes together");
    }

    private void count(int length) throws RemoteLimitException {
      listedBytes += listed.isPresent() ? length : 0;
      if (listedBytes > budget.limits().listedBytes()) {
        throw new RemoteLimitException(
            path + ": a list of more than " + budget.limits().listedBytes() + " bytes");
      }
    }

    /** Whether an object has the label that was asked for; an API server sends no others. */
    private boolean isSelected(JsonNode object) {
      int equals = selector.indexOf('=');
      return equals < 0
          || object
              .path("metadata")
              .path("labels")
              .path(selector.substring(0, equals))
              .asText()
              .equals(selector.substring(equals + 1));
    }

    @Override
    public void tooLong() {
      budget.unreadable(
          path,
          NO_KEY,
          new AnswerTooLongException(
              "an object of more than " + budget.limits().objectBytes() + " bytes"));
    }

    @Override
    public void malformed(JsonProcessingException cause) {
      budget.unreadable(path, NO_KEY, cause);
    }

    @Override
    public void listingEnds(String version) {
      budget.reading().lock();
      try {
        objects.retain(listed.orElseThrow(), events);
      } finally {
        budget.reading().unlock();
      }
      listed = Optional.empty();
    }
  }

  /** The key of an object that can't be read; without a name if that can't be read either. */
  private static Key key(byte[] json, int offset, int length) {
    try {
      Key key =
          new Key(
              MetadataFieldReader.of(json, offset, length, "namespace"),
              MetadataFieldReader.of(json, offset, length, "name"));
      return key.isPossible() ? key : NO_KEY;
    } catch (IOException e) {
      return NO_KEY;
    }
  }

  /** What a worker sends, read as fast as its budget allows. */
  private static final class PacedInput extends FilterInputStream {

    private static final int CHUNK = 1 << 16;

    private final RemoteBudget budget;

    PacedInput(InputStream in, RemoteBudget budget) {
      super(in);
      this.budget = budget;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int count = super.read(bytes, offset, Math.min(length, CHUNK));
      if (count > 0) {
        Duration pause = budget.read(count);
        if (!pause.isZero()) {
          LockSupport.parkNanos(pause.toNanos());
        }
      }
      return count;
    }
  }
}
