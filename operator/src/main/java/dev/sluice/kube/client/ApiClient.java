package dev.sluice.kube.client;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests about single objects at one API server, as JSON. Writes are prebuilt merge patches: only
 * what changes is sent, so that what others wrote stays. From any thread.
 */
public final class ApiClient {

  private static final Logger LOG = LoggerFactory.getLogger(ApiClient.class);

  /** The objects of a page of a list. */
  private static final int PAGE = 500;

  private final KubernetesClient client;
  private final String server;
  private final Options options;
  private final RequestSlots slots;

  /**
   * How requests are sent.
   *
   * @param atATime how many requests may be under way at once
   * @param timeout how long one attempt may take
   * @param limiter the rate of requests; clients of one server may share it
   * @param writes decides at the moment when a write is sent whether it may be sent
   * @param latency is told how long writes take
   * @param answers bounds the answers of a server that isn't trusted; empty for no bounds
   */
  public record Options(
      int atATime,
      Duration timeout,
      RequestLimiter limiter,
      WriteGate writes,
      WriteLatency latency,
      Optional<BoundedAnswers> answers) {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** Half a minute for each attempt, no limit of the rate, and writes at any time. */
    public static Options atATime(int atATime) {
      return new Options(
          atATime,
          TIMEOUT,
          RequestLimiter.unlimited(),
          WriteGate.open(),
          new WriteLatency(System::nanoTime),
          Optional.empty());
    }

    /** The same with another timeout. */
    public Options within(Duration newTimeout) {
      return new Options(atATime, newTimeout, limiter, writes, latency, answers);
    }

    /** The same with a limit of the rate. */
    public Options limitedBy(RequestLimiter newLimiter) {
      return new Options(atATime, timeout, newLimiter, writes, latency, answers);
    }

    /** The same with writes only while this holds. */
    public Options writingWhile(BooleanSupplier condition) {
      return writingThrough(new WriteGate(condition));
    }

    /** The same with writes only through this gate. */
    public Options writingThrough(WriteGate gate) {
      return new Options(atATime, timeout, limiter, gate, latency, answers);
    }

    /** The same, telling how long writes take. */
    public Options timedBy(WriteLatency newLatency) {
      return new Options(atATime, timeout, limiter, writes, newLatency, answers);
    }

    /** The same, reading no more than this of answers. */
    public Options reading(BoundedAnswers bounds) {
      return new Options(atATime, timeout, limiter, writes, latency, Optional.of(bounds));
    }
  }

  /** Requests over the connections of {@code client}, which stays the caller's to close. */
  public ApiClient(KubernetesClient client, Options options) {
    this.client = client;
    String url = client.getMasterUrl().toString();
    this.server = url.endsWith("/") ? url : url + "/";
    this.options = options;
    this.slots = new RequestSlots(options.atATime());
  }

  /** Whether the requests go over the connections of this client. */
  public boolean isOf(KubernetesClient other) {
    return client == other;
  }

  /** Patches metadata and spec of an object; blocks until the outcome is there. */
  public ApiOutcome patch(HasMetadata object, JsonNode patch) {
    return send(ApiRequest.patch(ObjectPath.of(object).object(), patch)).join();
  }

  /**
   * Patches the status of an object; the patch is of the whole object. Blocks until the outcome is
   * there.
   */
  public ApiOutcome patchStatus(HasMetadata object, JsonNode patch) {
    return send(ApiRequest.patch(ObjectPath.of(object).status(), patch)).join();
  }

  /**
   * Sends a request when its turn comes; the future never completes with an exception. A request
   * whose future was cancelled before its turn, or one that follows from it, is not sent.
   */
  public CompletableFuture<ApiOutcome> send(ApiRequest request) {
    CompletableFuture<ApiOutcome> result = new Answer<>(null);
    slots.submit(slot -> new Attempt(request, result, slot).begin());
    return result;
  }

  /**
   * Reads the objects of a collection, one at a time: however many there are, and however large,
   * room is needed for one. Blocks. Such reads are few, and need no slot.
   *
   * @param path the collection, and what is selected of it
   * @param each gets each object
   * @throws IOException if the API server doesn't answer or refuses, or an object can't be read
   */
  public void list(String path, Consumer<JsonNode> each) throws IOException {
    HttpClient http = client.getHttpClient();
    String paged = path + (path.contains("?") ? "&" : "?") + "limit=" + PAGE;
    String next = "";
    try (CurrentStream stream = new CurrentStream(options.timeout(), InstantSource.system())) {
      Thread.ofVirtual().name("list-watchdog").start(stream::watchOver);
      do {
        HttpRequest page =
            http(
                http,
                ApiRequest.get(
                    next.isEmpty()
                        ? paged
                        : paged + "&continue=" + URLEncoder.encode(next, StandardCharsets.UTF_8)));
        try (ResponseStream opened =
            stream.open(
                () -> ResponseStream.open(http, page, options.timeout(), InstantSource.system()))) {
          byte[] frame =
              StreamingListParser.split(
                  opened,
                  (bytes, length) -> each.accept(JsonMappers.JSON.readTree(bytes, 0, length)));
          next = JsonMappers.JSON.readTree(frame).path("metadata").path("continue").asText();
        }
      } while (!next.isEmpty());
    }
  }

  /** What is waited for: whoever gives up what follows from an answer doesn't need the answer. */
  private static final class Answer<T> extends CompletableFuture<T> {

    private final @Nullable Answer<?> sourceAnswer;

    Answer(@Nullable Answer<?> sourceAnswer) {
      this.sourceAnswer = sourceAnswer;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
      return new Answer<>(this);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      boolean cancelled = super.cancel(mayInterruptIfRunning);
      if (cancelled && sourceAnswer != null) {
        sourceAnswer.cancel(mayInterruptIfRunning);
      }
      return cancelled;
    }
  }

  /** One request from the moment when it has a slot. The slot is given back in any case. */
  private final class Attempt {

    private final ApiRequest request;
    private final CompletableFuture<ApiOutcome> result;
    private final RequestSlots.Slot slot;
    private final AtomicBoolean writing = new AtomicBoolean();
    private volatile long sent;

    Attempt(ApiRequest request, CompletableFuture<ApiOutcome> result, RequestSlots.Slot slot) {
      this.request = request;
      this.result = result;
      this.slot = slot;
    }

    void begin() {
      guarded(
          () -> {
            Duration pause = result.isDone() ? Duration.ZERO : options.limiter().reserve();
            if (pause.isZero()) {
              send();
            } else {
              CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS)
                  .execute(() -> guarded(this::send));
            }
          });
    }

    private void send() {
      if (result.isDone()) {
        slot.release();
        return;
      }
      if (request.isWrite()) {
        if (!options.writes().enter()) {
          end(ApiOutcome.Unreachable.notSent("this process does not lead, or ends"));
          return;
        }
        sent = options.latency().began();
        writing.set(true);
      }
      HttpClient http = client.getHttpClient();
      var unused =
          answered(http, http(http, request))
              .whenComplete((outcome, failure) -> guarded(() -> end(outcome(outcome, failure))));
    }

    private CompletableFuture<ApiOutcome> answered(HttpClient http, HttpRequest sent) {
      if (options.answers().isEmpty()) {
        return http.sendAsync(sent, byte[].class).thenApply(ApiOutcome::of);
      }
      // Some servers send the head in time, and never the end.
      return options
          .answers()
          .get()
          .send(http, sent)
          .orTimeout(options.timeout().toMillis(), TimeUnit.MILLISECONDS)
          .thenApply(answer -> ApiOutcome.of(answer.head(), answer.body()));
    }

    /** Whatever goes wrong, errors included, is the outcome of this request alone. */
    private void guarded(Runnable step) {
      try {
        step.run();
      } catch (Throwable e) {
        end(ApiOutcome.Unreachable.unanswered(e));
      }
    }

    private void end(ApiOutcome outcome) {
      try {
        if (request.isWrite()) {
          LOG.debug(
              "{} {} outcome={} body={}",
              request.method(),
              request.path(),
              outcome.getClass().getSimpleName(),
              request.body());
        }
      } finally {
        if (writing.getAndSet(false)) {
          options.writes().exit();
          options.latency().ended(sent);
        }
        try {
          result.complete(outcome);
        } finally {
          slot.release();
        }
      }
    }
  }

  private HttpRequest http(HttpClient http, ApiRequest request) {
    String path = request.path();
    HttpRequest.Builder builder =
        http.newHttpRequestBuilder()
            .uri(server + (path.startsWith("/") ? path.substring(1) : path))
            .header("Accept", "application/json")
            .timeout(options.timeout().toMillis(), TimeUnit.MILLISECONDS);
    return request.contentType().isEmpty()
        ? builder.build()
        : builder.method(request.method(), request.contentType(), request.body()).build();
  }

  private static ApiOutcome outcome(@Nullable ApiOutcome outcome, @Nullable Throwable failure) {
    if (outcome == null || failure != null) {
      Throwable cause =
          failure == null || failure.getCause() == null ? failure : failure.getCause();
      return ApiOutcome.Unreachable.unanswered(cause);
    }
    return outcome;
  }

  /** Starts tasks in their order, only so many at a time, without blocking a thread. */
  private static final class RequestSlots {

    private static final Logger LOG = LoggerFactory.getLogger(RequestSlots.class);

    private final int atATime;
    private final Deque<Consumer<Slot>> waiting = new ArrayDeque<>();
    private final AtomicInteger calls = new AtomicInteger();
    private int taken;

    RequestSlots(int atATime) {
      this.atATime = atATime;
    }

    /** One slot, held by one task. */
    final class Slot {

      private final AtomicBoolean held = new AtomicBoolean(true);

      /** Gives the slot back; further calls do nothing. */
      void release() {
        if (held.getAndSet(false)) {
          released();
          startPermitted();
        }
      }
    }

    /**
     * Runs the task as soon as a slot is free. The task keeps the slot until {@link Slot#release},
     * or until it throws.
     */
    void submit(Consumer<Slot> task) {
      synchronized (this) {
        waiting.add(task);
      }
      startPermitted();
    }

    private synchronized void released() {
      taken--;
    }

    /** One thread at a time starts tasks, so that tasks that end at once do not fill the stack. */
    private void startPermitted() {
      if (calls.getAndIncrement() != 0) {
        return;
      }
      int seen = 1;
      do {
        for (Optional<Consumer<Slot>> next = next(); next.isPresent(); next = next()) {
          run(next.get());
        }
        seen = calls.addAndGet(-seen);
      } while (seen != 0);
    }

    /** An error of one task must not keep the others from being started. */
    private void run(Consumer<Slot> task) {
      Slot slot = new Slot();
      try {
        task.accept(slot);
      } catch (Throwable e) {
        LOG.error("request result=failed", e);
        slot.release();
      }
    }

    private synchronized Optional<Consumer<Slot>> next() {
      if (taken >= atATime || waiting.isEmpty()) {
        return Optional.empty();
      }
      taken++;
      return Optional.of(waiting.remove());
    }
  }

  /**
   * How long writes take at present, and so how much the API server has to do. Writes that only
   * inform people adapt to it: the longer decisions take to be written, the fewer of the others are
   * sent. From any thread.
   */
  public static final class WriteLatency {

    /** Up to here the server has time for everything; an idle one takes a fifth of it. */
    private static final double USUAL_NANOS = Duration.ofMillis(50).toNanos();

    private static final double WEIGHT = 0.1;
    private static final double LEAST_SHARE = 0.1;
    private static final long MEMORY_NANOS = Duration.ofSeconds(5).toNanos();

    private final LongSupplier nanoTime;
    private final AtomicInteger underWay = new AtomicInteger();
    private double nanos;
    private long last;

    /** Nothing is known yet; {@code nanoTime} is a clock such as {@link System#nanoTime}. */
    public WriteLatency(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
      this.last = nanoTime.getAsLong();
    }

    /** A write is sent: the time of it, for {@link #ended}, which must follow. */
    public long began() {
      underWay.incrementAndGet();
      return nanoTime.getAsLong();
    }

    /** Whether a write is under way. */
    public boolean isWriting() {
      return underWay.get() > 0;
    }

    /**
     * A write that was sent at {@code start} has been answered, or it is certain that it won't be.
     */
    public synchronized void ended(long start) {
      underWay.decrementAndGet();
      last = nanoTime.getAsLong();
      nanos += (last - start - nanos) * WEIGHT;
    }

    /**
     * The part of their budget that writes without hurry may use: 1 while the server answers as
     * usual, less the longer it takes, and never less than a tenth. When nothing was written for
     * five seconds, it is 1 again.
     */
    public synchronized double share() {
      if (nanoTime.getAsLong() - last > MEMORY_NANOS) {
        nanos = 0;
      }
      double ratio = nanos <= USUAL_NANOS ? 1 : USUAL_NANOS / nanos;
      return Math.max(LEAST_SHARE, ratio * ratio);
    }
  }
}
