package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.Backoff;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
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

  private final PriorityWriteQueue lanes;
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
    this.lanes = new PriorityWriteQueue(decisionsInFlight, clock);
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
    return lanes.waiting();
  }

  /** The number of writes that have been sent and have no outcome yet. */
  public int inFlight() {
    return lanes.inFlight();
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
    lanes.submit(urgency, new InLane(progress));
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
    return lanes
        .drain()
        .orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS)
        .exceptionally(
            late -> {
              lanes.dropWaiting();
              LOG.warn("workload writes abandoned={}", open.size());
              open.forEach(progress -> progress.abandon(SHUT_DOWN));
              return null;
            });
  }
}
