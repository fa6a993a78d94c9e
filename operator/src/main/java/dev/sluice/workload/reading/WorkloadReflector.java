package dev.sluice.workload.reading;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.Backoff;
import dev.sluice.kube.client.ResponseStream;
import dev.sluice.kube.client.ResponseStream.ResourceExpiredException;
import dev.sluice.kube.client.StreamingListParser;
import dev.sluice.kube.reflect.ListWatch;
import dev.sluice.kube.reflect.ListWatch.MetadataFieldReader;
import dev.sluice.kube.reflect.ListWatch.ReadOptions;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadListener;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.record.WorkloadReader;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the cache of Workloads up to date: lists them in pages, then watches. A watch that ends is
 * resumed from the last version that was seen; the list is repeated only when the API server has
 * discarded the events since that version.
 *
 * <p>{@link #caughtUp} needs the newest version of the store, which a consistent read gives. Other
 * kinds advance that version, too, so a watch of Workloads may stay behind it without any event.
 * Then the list is repeated if there are few Workloads; otherwise a short watch replaces the
 * present one, because the server sends a bookmark with its version at the end of a watch. If no
 * bookmark comes, the list is repeated. A list is consistent, so the result is certain in each
 * case.
 */
public final class WorkloadReflector implements WorkloadReader {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final RawRequests requests;
  private final ReflectorOptions settings;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final ReflectorCounters counters = new ReflectorCounters();
  private final WorkloadParser parser;
  private final WorkloadCache index;
  private final OutageLogger outageLogger;
  private final ResourceVersionWaiter resourceVersionWaiter = new ResourceVersionWaiter();
  private final ListWatch listWatch;
  private final WorkloadHandler handler;
  private final CompletableFuture<Void> synced = new CompletableFuture<>();
  private final CompletableFuture<Void> started = new CompletableFuture<>();
  private final AtomicBoolean begun = new AtomicBoolean();
  private volatile boolean listNext = true;
  private volatile boolean following;

  /** Whether the present watch is a short one; used by the reading thread. */
  private boolean hurried;

  /**
   * A reader over the connections of {@code client}, which stays the caller's.
   *
   * @param index the cache to fill; the writer may also apply responses to it
   * @param random adds jitter to pauses
   * @param errors receives Workloads that can't be parsed
   */
  public WorkloadReflector(
      KubernetesClient client,
      WorkloadParser parser,
      WorkloadCache index,
      ReflectorOptions settings,
      InstantSource clock,
      RandomGenerator random,
      ReadErrorLog errors) {
    this.requests = new RawRequests(client, PATIENCE);
    this.parser = parser;
    this.index = index;
    this.settings = settings;
    this.clock = clock;
    this.random = random;
    this.listWatch =
        new ListWatch(
            requests.http(),
            requests.collection(),
            ReadOptions.unlimited(JsonMappers.JSON, settings.pageSize(), settings.silence()),
            clock);
    this.outageLogger = new OutageLogger(clock);
    this.handler =
        new WorkloadHandler(parser, index, new MalformedObjectLog(counters, errors), started) {
          @Override
          public void watchBegins() {
            beginFollowing();
          }

          @Override
          public void reached(String version) throws IOException {
            super.reached(version);
            resourceVersionWaiter.advanceTo(index.position());
          }
        };
  }

  @Override
  public void listen(WorkloadListener listener) {
    index.listen(listener);
  }

  @Override
  public void unlisten(WorkloadListener listener) {
    index.unlisten(listener);
  }

  @Override
  public WorkloadLister store() {
    return index;
  }

  /** The counters of the reflector. */
  public ReflectorCounters counters() {
    return counters;
  }

  /**
   * Begins to list. What is read gets into the cache, and to the listeners, when {@link #start} has
   * been called.
   */
  public void begin() {
    if (!begun.getAndSet(true)) {
      Thread.ofPlatform().name("workload-reader").daemon().start(this::read);
      Thread.ofPlatform().name("workload-reader-watchdog").daemon().start(listWatch::watchOver);
    }
  }

  @Override
  public CompletableFuture<Void> start() {
    started.complete(null);
    begin();
    return synced;
  }

  private void read() {
    Backoff backoff = new Backoff(settings.firstPause(), settings.longestPause(), random);
    while (!isClosed()) {
      try {
        if (listNext) {
          list();
        }
        if (follow()) {
          backoff.reset();
        } else {
          pause(backoff.next());
        }
      } catch (ResourceExpiredException e) {
        // a server that forgets versions at once must not be asked for list after list
        listNext = true;
        pause(backoff.next());
      } catch (IOException | RuntimeException e) {
        failed(e);
        pause(backoff.next());
      } catch (Error e) {
        // Whatever one object leads to, the others are read on.
        failed(new IOException("an object can't be read", e));
        pause(backoff.next());
      }
    }
  }

  private void list() throws IOException {
    listWatch.list(handler, Instant.MAX);
    listNext = false;
    outageLogger.over();
    resourceVersionWaiter.advanceTo(index.position());
    if (!synced.isDone()) {
      index.synced();
      synced.complete(null);
    }
  }

  /**
   * Reads a watch to its end. Returns whether it had events or lasted for more than a second; then
   * the next watch may begin without a pause.
   */
  private boolean follow() throws IOException {
    hurried = resourceVersionWaiter.isWaiting();
    int seconds =
        hurried
            ? settings.hurriedWatchSeconds()
            : settings.watchSeconds() * 3 / 4 + random.nextInt(settings.watchSeconds() / 2 + 1);
    Instant begun = clock.instant();
    int events = 0;
    try {
      events = listWatch.watch(handler, seconds, listWatch.left());
    } catch (IOException e) {
      if (!listWatch.wasCut()) {
        throw e;
      }
    } finally {
      following = false;
    }
    if (hurried && resourceVersionWaiter.isWaiting()) {
      listNext = true;
    }
    boolean lasted = Duration.between(begun, clock.instant()).compareTo(Duration.ofSeconds(1)) > 0;
    return events > 0 || lasted || listWatch.wasCut();
  }

  /** A watch has begun; it is replaced at once if it lasts too long or too short by now. */
  private void beginFollowing() {
    following = true;
    if (resourceVersionWaiter.isWaiting() == hurried) {
      outageLogger.over();
    } else {
      listWatch.cut();
    }
  }

  private void failed(Exception cause) {
    if (!isClosed()) {
      counters.failure();
      outageLogger.failed(cause);
    }
  }

  @Override
  public CompletableFuture<Void> caughtUp() {
    CompletableFuture<Void> result = new CompletableFuture<>();
    Thread.ofVirtual().name("workload-reader-newest").start(() -> catchUp(result));
    return result;
  }

  private void catchUp(CompletableFuture<Void> result) {
    Backoff backoff = new Backoff(settings.firstPause(), settings.longestPause(), random);
    while (!isClosed()) {
      try {
        long newest = newestVersion();
        if (!resourceVersionWaiter.await(newest, index.position(), result)) {
          shortenWatch();
        }
        if (isClosed()) {
          resourceVersionWaiter.cancel();
        }
        return;
      } catch (IOException e) {
        failed(e);
        pause(backoff.next());
      }
    }
    result.cancel(false);
  }

  @Override
  public CompletableFuture<Void> refresh(String namespace, String name) {
    return requests
        .http()
        .sendAsync(requests.read(new WorkloadId("", namespace, name)), byte[].class)
        .thenAccept(this::refreshed);
  }

  private void refreshed(HttpResponse<byte[]> response) {
    try {
      if (response.isSuccessful()) {
        index.answered(parser.parse(response.body()));
      } else if (response.code() != 404) {
        throw new IOException("HTTP " + response.code());
      }
    } catch (IOException e) {
      throw new CompletionException(e);
    }
  }

  private long newestVersion() throws IOException {
    try (ResponseStream answer =
        ResponseStream.open(requests.http(), requests.newest(), PATIENCE, clock)) {
      byte[] frame = StreamingListParser.split(answer, (bytes, length) -> {});
      return JsonMappers.JSON.readTree(frame).path("metadata").path("resourceVersion").asLong();
    }
  }

  private void shortenWatch() {
    if (index.size() < settings.relistBelow()) {
      listNext = true;
    }
    if (following) {
      listWatch.cut();
    }
  }

  private boolean isClosed() {
    return listWatch.isClosed();
  }

  private void pause(Duration duration) {
    if (listWatch.pause(duration)) {
      resourceVersionWaiter.cancel();
    }
  }

  @Override
  public void close() {
    listWatch.close();
    synced.cancel(false);
    started.cancel(false);
    resourceVersionWaiter.cancel();
  }

  /** Callers that wait until a version has been seen. Usable from any thread. */
  private static final class ResourceVersionWaiter {

    private final List<Waiter> waiters = new ArrayList<>();
    private long furthest;

    private record Waiter(long version, CompletableFuture<Void> done) {}

    /** Completes {@code done} when {@code version} is reached; true if it is already. */
    boolean await(long version, long position, CompletableFuture<Void> done) {
      synchronized (this) {
        furthest = Math.max(furthest, position);
        if (furthest < version) {
          waiters.add(new Waiter(version, done));
          return false;
        }
      }
      done.complete(null);
      return true;
    }

    /** Completes all waits up to {@code position}. */
    void advanceTo(long position) {
      List<CompletableFuture<Void>> done = List.of();
      synchronized (this) {
        furthest = Math.max(furthest, position);
        if (!waiters.isEmpty()) {
          done = take(position);
        }
      }
      done.forEach(waiter -> waiter.complete(null));
    }

    private List<CompletableFuture<Void>> take(long position) {
      List<CompletableFuture<Void>> taken = new ArrayList<>();
      for (Iterator<Waiter> each = waiters.iterator(); each.hasNext(); ) {
        Waiter waiter = each.next();
        if (waiter.version() <= position) {
          taken.add(waiter.done());
          each.remove();
        }
      }
      return taken;
    }

    /** Whether any caller waits. */
    synchronized boolean isWaiting() {
      return !waiters.isEmpty();
    }

    /** Fails all waits, because no further version will be seen. */
    void cancel() {
      List<Waiter> all;
      synchronized (this) {
        all = List.copyOf(waiters);
        waiters.clear();
      }
      all.forEach(waiter -> waiter.done().cancel(false));
    }
  }

  /**
   * Brings listed and watched Workloads into the cache. A listing may begin before the cache may be
   * changed: what is read until then is kept aside.
   */
  private static class WorkloadHandler implements ListWatch.Handler {

    private static final Logger LOG = LoggerFactory.getLogger(WorkloadHandler.class);

    private final WorkloadParser parser;
    private final WorkloadCache cache;
    private final MalformedObjectLog malformedObjectLog;
    private final CompletableFuture<Void> started;
    private final List<CachedWorkload> aside = new ArrayList<>();

    /** Changes the cache when {@code started} is complete. */
    WorkloadHandler(
        WorkloadParser parser,
        WorkloadCache cache,
        MalformedObjectLog malformedObjectLog,
        CompletableFuture<Void> started) {
      this.parser = parser;
      this.cache = cache;
      this.malformedObjectLog = malformedObjectLog;
      this.started = started;
    }

    @Override
    public void listingBegins() {
      aside.clear();
      cache.listingBegins();
    }

    @Override
    public void object(byte[] bytes, int offset, int length, boolean deleted) {
      try {
        CachedWorkload workload = parser.parse(bytes, offset, length);
        if (deleted) {
          cache.deleted(workload);
        } else {
          seen(workload);
        }
      } catch (IOException
          | RuntimeException
          | StackOverflowError
          | LinkageError
          | AssertionError e) {
        malformedObjectLog.report(bytes, offset, length, e);
        unreadable(bytes, offset, length, deleted);
      }
    }

    private void unreadable(byte[] bytes, int offset, int length, boolean deleted) {
      try {
        cache.unreadable(
            new WorkloadId(
                MetadataFieldReader.of(bytes, offset, length, "uid"),
                MetadataFieldReader.of(bytes, offset, length, "namespace"),
                MetadataFieldReader.of(bytes, offset, length, "name")),
            deleted);
      } catch (IOException e) {
        LOG.debug("workload unnamed=true reason=\"{}\"", e.toString());
      }
    }

    private void seen(CachedWorkload workload) {
      if (started.isDone()) {
        addAside();
        cache.seen(workload);
      } else {
        aside.add(workload);
      }
    }

    private void addAside() {
      aside.forEach(cache::seen);
      aside.clear();
    }

    @Override
    public void reached(String version) throws IOException {
      cache.reached(number(version));
    }

    @Override
    public void listingEnds(String version) throws IOException {
      long number = number(version);
      started.join();
      addAside();
      cache.listingEnds(number);
    }

    private static long number(String version) throws IOException {
      try {
        return Long.parseLong(version);
      } catch (NumberFormatException e) {
        throw new IOException("the resourceVersion is no number", e);
      }
    }
  }

  /**
   * Counts and logs Workloads that could not be parsed; the cache keeps their last valid version.
   */
  private static final class MalformedObjectLog {

    private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
    private final ReflectorCounters counters;
    private final ReadErrorLog errors;

    MalformedObjectLog(ReflectorCounters counters, ReadErrorLog errors) {
      this.counters = counters;
      this.errors = errors;
    }

    void report(byte[] bytes, int offset, int length, Throwable cause) {
      counters.unreadableObject();
      errors.report(ReadErrorLog.Fault.of(tree(bytes, offset, length), cause));
    }

    private JsonNode tree(byte[] bytes, int offset, int length) {
      try {
        return mapper.readTree(bytes, offset, length);
      } catch (IOException e) {
        return MissingNode.getInstance();
      }
    }
  }

  /** Tells of a stretch of failures once at its beginning and once at its end. */
  private static final class OutageLogger {

    private static final Logger LOG = LoggerFactory.getLogger(OutageLogger.class);

    private final InstantSource clock;
    private Optional<Instant> since = Optional.empty();
    private int failures;

    public OutageLogger(InstantSource clock) {
      this.clock = clock;
    }

    public synchronized void failed(Exception cause) {
      failures++;
      if (since.isEmpty()) {
        since = Optional.of(clock.instant());
        LOG.warn("workloads reading=interrupted cause=\"{}\"", cause.toString());
      }
    }

    public synchronized void over() {
      since.ifPresent(
          begin ->
              LOG.info(
                  "workloads reading=resumed failures={} after={}s",
                  failures,
                  Duration.between(begin, clock.instant()).toSeconds()));
      since = Optional.empty();
      failures = 0;
    }
  }

  /**
   * The requests by which single Workloads and their newest version are read, over the client's
   * connections.
   */
  private static final class RawRequests {

    private static final String JSON = "application/json";

    private final HttpClient http;
    private final String group;
    private final Duration patience;

    /**
     * Requests over the connections of {@code client}.
     *
     * @param patience how long a single object may take
     */
    public RawRequests(KubernetesClient client, Duration patience) {
      this.http = client.getHttpClient();
      this.group = client.getMasterUrl() + "apis/kueue.x-k8s.io/v1beta2/";
      this.patience = patience;
    }

    /** The address of all Workloads. */
    public String collection() {
      return group + "workloads";
    }

    public HttpClient http() {
      return http;
    }

    /** The newest version of the collection: a consistent read of as little as possible. */
    public HttpRequest newest() {
      return bounded(get(group + "workloads?limit=1"));
    }

    public HttpRequest read(WorkloadId id) {
      return bounded(get(group + "namespaces/" + id.namespace() + "/workloads/" + id.name()));
    }

    private HttpRequest bounded(HttpRequest.Builder request) {
      return request.timeout(patience.toMillis(), TimeUnit.MILLISECONDS).build();
    }

    private HttpRequest.Builder get(String uri) {
      return http.newHttpRequestBuilder().uri(uri).header("Accept", JSON);
    }
  }

  /** Counts what the reflector could not read since its start. */
  public static final class ReflectorCounters {

    private final LongAdder failures = new LongAdder();
    private final LongAdder unreadable = new LongAdder();

    /** Failed listings and watches. */
    public long failures() {
      return failures.sum();
    }

    /** Objects that could not be parsed; the cache kept their last valid version. */
    public long unreadable() {
      return unreadable.sum();
    }

    void failure() {
      failures.increment();
    }

    void unreadableObject() {
      unreadable.increment();
    }
  }

  /**
   * Options of the reflector.
   *
   * @param pageSize objects per page of a listing
   * @param watchSeconds about how long the server keeps a watch; the actual time is scattered
   * @param hurriedWatchSeconds how long a watch lasts that was opened to get a bookmark soon (the
   *     server sends one two seconds before the end)
   * @param silence the longest time without an event before a watch is replaced; bookmarks arrive
   *     each minute
   * @param relistBelow with fewer Workloads than this, catching up is done by listing them
   * @param firstPause the first pause after a failure
   * @param longestPause the longest pause between attempts
   */
  public record ReflectorOptions(
      int pageSize,
      int watchSeconds,
      int hurriedWatchSeconds,
      Duration silence,
      int relistBelow,
      Duration firstPause,
      Duration longestPause) {

    /** The options for production. */
    public static final ReflectorOptions DEFAULT =
        new ReflectorOptions(
            500,
            400,
            3,
            Duration.ofMinutes(3),
            2000,
            Duration.ofMillis(200),
            Duration.ofSeconds(15));
  }
}
