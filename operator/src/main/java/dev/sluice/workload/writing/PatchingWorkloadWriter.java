package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Backoff;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes Workloads with prebuilt merge patches over the client's connections, never blocking the
 * caller. Answers are handed on, so that what was written is known before the watch tells it.
 */
public final class PatchingWorkloadWriter implements WorkloadWriter {

  /** Field owner of what is not status. */
  static final String OWNER = "kueue";

  private static final Logger LOG = LoggerFactory.getLogger(PatchingWorkloadWriter.class);
  private static final String STATUS_OWNER = "kueue-admission";
  private static final String RECLAIMABLE_OWNER = "kueue-reclaimable-pods";
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
  private static final int DECISION_ATTEMPTS = 8;
  private static final int ADVICE_ATTEMPTS = 3;
  private static final Outcome SHUT_DOWN =
      new Outcome.Refused(503, "the operator is shutting down");

  private final PriorityWriteQueue queue;
  private final ApiClient client;
  private final RandomGenerator random;
  private final Set<RetryingWrite> open = ConcurrentHashMap.newKeySet();
  private final WorkloadParser parser;
  private final Consumer<CachedWorkload> answers;

  /**
   * Creates a writer.
   *
   * @param client should allow at least one concurrent request more than {@code decisionsInFlight}
   * @param answers is called with every Workload that a response contains
   * @param decisionsInFlight maximum number of concurrent writes of decisions
   * @param random adds jitter to pauses
   */
  public PatchingWorkloadWriter(
      ApiClient client,
      WorkloadParser parser,
      Consumer<CachedWorkload> answers,
      int decisionsInFlight,
      InstantSource clock,
      RandomGenerator random) {
    this.parser = parser;
    this.answers = answers;
    this.random = random;
    this.queue = new PriorityWriteQueue(decisionsInFlight, clock);
    this.client = client;
  }

  private static void after(Duration pause, Runnable task) {
    CompletableFuture.delayedExecutor(pause.toMillis(), TimeUnit.MILLISECONDS).execute(task);
  }

  /** Passes on the Workload of a response and returns its version; 0 if it is not a Workload. */
  private long answered(byte[] body) {
    try {
      CachedWorkload workload = parser.parse(body);
      if (!workload.id().uid().isEmpty() && !workload.id().name().isEmpty()) {
        answers.accept(workload);
      }
      return workload.version();
    } catch (IOException | RuntimeException e) {
      LOG.error("workload answer=unreadable", e);
      return 0;
    }
  }

  /** The number of writes that wait to be sent. */
  public int waiting() {
    return queue.waiting();
  }

  /** The number of writes that have been sent and have no outcome yet. */
  public int inFlight() {
    return queue.inFlight();
  }

  @Override
  public CompletableFuture<Outcome> patchStatus(
      WorkloadId id, long version, JsonNode status, Urgency urgency) {
    ObjectNode body = JsonNodeFactory.instance.objectNode().set("status", status);
    return submit(ApiWrite.Patch.of(id, version, "/status", statusOwner(status), body), urgency);
  }

  private static String statusOwner(JsonNode status) {
    return status.size() == 1 && status.has("reclaimablePods") ? RECLAIMABLE_OWNER : STATUS_OWNER;
  }

  @Override
  public CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
    return submit(ApiWrite.Patch.of(id, version, "", OWNER, patch), Urgency.DECISION);
  }

  @Override
  public CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
    String name = workload.path("metadata").path("name").asText("");
    ObjectNode body = workload.deepCopy();
    return submit(new ApiWrite.Create(new WorkloadId("", namespace, name), body), Urgency.DECISION);
  }

  @Override
  public CompletableFuture<Outcome> delete(WorkloadId id) {
    return submit(new ApiWrite.Delete(id), Urgency.DECISION);
  }

  private CompletableFuture<Outcome> submit(ApiWrite apiWrite, Urgency urgency) {
    int attempts = urgency == Urgency.DECISION ? DECISION_ATTEMPTS : ADVICE_ATTEMPTS;
    RetryingWrite progress =
        new RetryingWrite(
            apiWrite,
            attempts,
            new Backoff(FIRST_PAUSE, LONGEST_PAUSE, random),
            client,
            PatchingWorkloadWriter::after,
            this::answered);
    queue.submit(urgency, new InLane(progress));
    return progress.outcome();
  }

  private final class InLane implements PriorityWriteQueue.Task {

    private final RetryingWrite progress;

    InLane(RetryingWrite progress) {
      this.progress = progress;
    }

    @Override
    public void start(Runnable done) {
      open.add(progress);
      var unused =
          progress
              .outcome()
              .whenComplete(
                  (outcome, bug) -> {
                    open.remove(progress);
                    done.run();
                  });
      progress.send();
    }

    @Override
    public void dropped() {
      progress.abandon(SHUT_DOWN);
    }
  }

  /**
   * Refuses further writes, drops best-effort writes, and waits for the writes of decisions.
   * Completes when the outcome of all is certain, or after {@code patience}; then the outcome of
   * the rest stays unknown.
   */
  public CompletableFuture<Void> drain(Duration patience) {
    return queue
        .drain()
        .orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(
            late -> {
              queue.dropWaiting();
              LOG.warn("workload writes abandoned={}", open.size());
              open.forEach(progress -> progress.abandon(SHUT_DOWN));
              return null;
            });
  }

  /**
   * The order in which writes are sent to the API server: decisions first, in their order, up to a
   * given number at a time. Best-effort writes are sent one at a time, only while no decision
   * waits, and at most once a second while decisions are in flight.
   */
  private static final class PriorityWriteQueue {

    private static final Duration BEST_EFFORT_INTERVAL = Duration.ofSeconds(1);

    private final int most;
    private final InstantSource clock;
    private final Deque<Task> decisions = new ArrayDeque<>();
    private final Deque<Task> bestEffort = new ArrayDeque<>();
    private final CompletableFuture<Void> idle = new CompletableFuture<>();
    private int inFlight;
    private boolean bestEffortInFlight;
    private Instant lastBestEffort = Instant.EPOCH;
    private boolean accepting = true;

    /** A write. */
    interface Task {
      /** Sends the write; {@code done} must be called once, when its outcome is known. */
      void start(Runnable done);

      /** Called instead of {@link #start} when the write will not be sent. */
      void dropped();
    }

    PriorityWriteQueue(int most, InstantSource clock) {
      this.most = most;
      this.clock = clock;
    }

    void submit(Urgency urgency, Task task) {
      boolean accepted;
      synchronized (this) {
        accepted = accepting;
        if (accepted) {
          (urgency == Urgency.DECISION ? decisions : bestEffort).add(task);
        }
      }
      if (accepted) {
        startPermitted();
      } else {
        task.dropped();
      }
    }

    private void startPermitted() {
      List<Runnable> starts = new ArrayList<>();
      synchronized (this) {
        while (inFlight < most && !decisions.isEmpty()) {
          Task task = decisions.remove();
          inFlight++;
          starts.add(() -> task.start(this::decisionCompleted));
        }
        if (mayStartBestEffort()) {
          Task task = bestEffort.remove();
          bestEffortInFlight = true;
          lastBestEffort = clock.instant();
          starts.add(() -> task.start(this::bestEffortCompleted));
        }
      }
      starts.forEach(Runnable::run);
    }

    private boolean mayStartBestEffort() {
      return !bestEffort.isEmpty()
          && !bestEffortInFlight
          && decisions.isEmpty()
          && (inFlight == 0 || !lastBestEffort.plus(BEST_EFFORT_INTERVAL).isAfter(clock.instant()));
    }

    private void decisionCompleted() {
      synchronized (this) {
        inFlight--;
      }
      done();
    }

    private void bestEffortCompleted() {
      synchronized (this) {
        bestEffortInFlight = false;
      }
      done();
    }

    private void done() {
      startPermitted();
      boolean nothingLeft;
      synchronized (this) {
        nothingLeft = !accepting && isIdle();
      }
      if (nothingLeft) {
        idle.complete(null);
      }
    }

    private boolean isIdle() {
      return inFlight == 0 && !bestEffortInFlight && decisions.isEmpty();
    }

    /**
     * Accepts no more writes, and drops best-effort writes; completes when all accepted decisions
     * have an outcome.
     */
    CompletableFuture<Void> drain() {
      List<Task> unwanted;
      boolean nothingLeft;
      synchronized (this) {
        accepting = false;
        unwanted = List.copyOf(bestEffort);
        bestEffort.clear();
        nothingLeft = isIdle();
      }
      unwanted.forEach(Task::dropped);
      if (nothingLeft) {
        idle.complete(null);
      }
      return idle;
    }

    /** Drops the decisions that were not sent yet. */
    void dropWaiting() {
      List<Task> waiting;
      synchronized (this) {
        waiting = List.copyOf(decisions);
        decisions.clear();
      }
      waiting.forEach(Task::dropped);
    }

    /** Number of writes that wait to be sent. */
    synchronized int waiting() {
      return decisions.size() + bestEffort.size();
    }

    /** Number of writes in flight. */
    synchronized int inFlight() {
      return inFlight + (bestEffortInFlight ? 1 : 0);
    }
  }

  /**
   * Repeats the request of one write until its outcome is certain. A request may have been carried
   * out although its response was lost or was a server error. Therefore the object is read before
   * the request is repeated. It is read after a conflict, too: the cause may be an earlier attempt
   * of the same write whose response was lost. One with nothing that has changed is a refusal.
   */
  static final class RetryingWrite {

    private final ApiWrite apiWrite;
    private final int mostAttempts;
    private final Backoff backoff;
    private final ApiClient client;
    private final Pauses pauses;
    private final ToLongFunction<byte[]> versionOf;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private int attempts;

    /** The last server error or conflict; empty after any other response. */
    private Outcome.@Nullable Refused failure;

    /** Runs a task after a pause. */
    @FunctionalInterface
    interface Pauses {
      void after(Duration pause, Runnable task);
    }

    /**
     * Creates a write that has not been sent yet.
     *
     * @param mostAttempts after how many attempts a server error or a conflict is the outcome
     * @param versionOf reads the resource version of the object in a response
     */
    RetryingWrite(
        ApiWrite apiWrite,
        int mostAttempts,
        Backoff backoff,
        ApiClient client,
        Pauses pauses,
        ToLongFunction<byte[]> versionOf) {
      this.apiWrite = apiWrite;
      this.mostAttempts = mostAttempts;
      this.backoff = backoff;
      this.client = client;
      this.pauses = pauses;
      this.versionOf = versionOf;
    }

    CompletableFuture<Outcome> outcome() {
      return outcome;
    }

    /** Ends the write with this outcome; whether it was carried out is not known. */
    void abandon(Outcome unknown) {
      end(unknown);
    }

    void send() {
      if (outcome.isDone()) {
        return;
      }
      attempts++;
      failure = null;
      call(apiWrite.request(), this::answered);
    }

    private void answered(ApiOutcome answer) {
      switch (answer) {
        case ApiOutcome.Written written ->
            end(new Outcome.Written(versionOf.applyAsLong(written.body())));
        case ApiOutcome.Gone gone -> end(new Outcome.Gone());
        case ApiOutcome.Conflict(String message) -> {
          failure = new Outcome.Refused(HttpURLConnection.HTTP_CONFLICT, message);
          lookUp();
        }
        case ApiOutcome.Refused refused ->
            end(new Outcome.Refused(refused.code(), refused.message()));
        case ApiOutcome.Unreachable unreachable -> notCarriedOut(unreachable);
      }
    }

    private void notCarriedOut(ApiOutcome.Unreachable answer) {
      if (!answer.sent()) {
        end(refusal(answer));
      } else if (answer.code() == 0) {
        lookUp();
      } else if (answer.code() < HttpURLConnection.HTTP_INTERNAL_ERROR) {
        again(answer);
      } else {
        failure = refusal(answer);
        lookUp();
      }
    }

    private void lookUp() {
      call(apiWrite.read(), this::found);
    }

    private void found(ApiOutcome answer) {
      if (answer instanceof ApiOutcome.Gone) {
        if (apiWrite instanceof ApiWrite.Create) {
          sendAgain();
        } else {
          end(new Outcome.Gone());
        }
      } else if (answer instanceof ApiOutcome.Written written) {
        long version = versionOf.applyAsLong(written.body());
        classify(written.object(), version);
      } else {
        pauseAnd(this::lookUp);
      }
    }

    private void classify(JsonNode object, long version) {
      String uid = object.path("metadata").path("uid").asText("");
      if (!apiWrite.id().uid().isEmpty() && !uid.equals(apiWrite.id().uid())) {
        end(new Outcome.Gone());
      } else if (apiWrite.isAppliedIn(object)) {
        end(new Outcome.Written(version));
      } else if (apiWrite.isSupersededBy(object)) {
        end(new Outcome.Conflict());
      } else {
        sendAgain();
      }
    }

    private void sendAgain() {
      Outcome failed = failure;
      if (failed != null && attempts >= mostAttempts) {
        end(failed);
      } else {
        pauseAnd(this::send);
      }
    }

    /** The server has rejected the request without carrying it out, such as with 429. */
    private void again(ApiOutcome.Unreachable answer) {
      if (attempts >= mostAttempts) {
        end(refusal(answer));
        return;
      }
      pauses.after(backoff.next().plus(answer.retryAfter()), this::send);
    }

    private void pauseAnd(Runnable next) {
      if (outcome.isDone()) {
        return;
      }
      pauses.after(backoff.next(), next);
    }

    private void call(ApiRequest request, Consumer<ApiOutcome> answered) {
      CompletableFuture<ApiOutcome> answer = client.send(request);
      // Nobody waits for the outcome any more: then it is too late to send it.
      var unusedEnd = outcome.whenComplete((any, bug) -> answer.cancel(false));
      var unused =
          answer
              .thenAccept(answered)
              .exceptionally(
                  bug -> {
                    outcome.completeExceptionally(bug);
                    throw new IllegalStateException("write of " + apiWrite.id() + " failed", bug);
                  });
    }

    private void end(Outcome result) {
      outcome.complete(result);
    }

    private static Outcome.Refused refusal(ApiOutcome.Unreachable answer) {
      return new Outcome.Refused(
          answer.code() == 0 ? HttpURLConnection.HTTP_UNAVAILABLE : answer.code(),
          answer.message());
    }
  }
}
