package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerThread.ViewListener;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import dev.sluice.workload.status.StatusPatch.AdmissionPatches;
import dev.sluice.workload.status.StatusPatch.AdmissionPatches.WaitingReason;
import dev.sluice.workload.writing.WorkloadWriter.Outcome;
import dev.sluice.workload.writing.WorkloadWriter.Urgency;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the reasons for waiting to the status of pending Workloads: takes unreported explanations
 * from the engine and writes them one after the other, as the writer accepts best-effort writes,
 * and the fewer the longer writes take. What the API server has no time for is written later. The
 * observer hears of a reason as soon as it is taken, once for each write and each change of the
 * reason meanwhile: people are told by events while the status still waits for its turn. It runs
 * when the engine publishes views, and stops when there is nothing to report.
 */
public final class PendingReasonReporter implements ViewListener, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PendingReasonReporter.class);
  private static final int BATCH = 100;

  /** The most explanations that wait to be written; the engine keeps the others. */
  private static final int MOST_TAKEN = 10_000;

  private static final int ATTEMPTS = 3;
  private static final Duration REST = Duration.ofMillis(200);
  private static final long TAKE_AGAIN_NANOS = Duration.ofMillis(500).toNanos();

  /** After how long a reason is tried again that the API server had no time for. */
  private static final Duration REST_AFTER_FAILURE = Duration.ofSeconds(1);

  /** The longest pause between two writes. */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

  private final SchedulerQueries queries;
  private final WorkloadLister store;
  private final WorkloadWriter writer;
  private final WorkloadTranslator translator;
  private final Function<Explanation, String> text;
  private final boolean readiness;
  private final AdmissionObserver observer;
  private final InstantSource clock;
  private final DoubleSupplier leisure;
  private final Map<WorkloadId, PendingExplanation> taken = new LinkedHashMap<>();

  /** Those that the API server had no time for: the engine explains each of them once. */
  private final Map<WorkloadId, PendingExplanation> unwritten = new LinkedHashMap<>();

  private long restUntil;
  private final Semaphore pendingReports = new Semaphore(0);
  private final Thread thread;
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * Creates a reporter that is not started.
   *
   * @param text renders an explanation for a condition
   * @param readiness whether admission waits for ready pods
   * @param observer hears of the reasons
   * @param leisure the part of their budget that writes without hurry may use at present, above 0
   *     and at most 1
   */
  public PendingReasonReporter(
      SchedulerQueries queries,
      WorkloadLister store,
      WorkloadWriter writer,
      WorkloadTranslator translator,
      Function<Explanation, String> text,
      boolean readiness,
      AdmissionObserver observer,
      InstantSource clock,
      DoubleSupplier leisure) {
    this.queries = queries;
    this.store = store;
    this.writer = writer;
    this.translator = translator;
    this.text = text;
    this.readiness = readiness;
    this.observer = observer;
    this.clock = clock;
    this.leisure = leisure;
    this.thread = Thread.ofVirtual().name("pending-reasons").unstarted(this::run);
  }

  /** Starts the reporter. */
  public void start() {
    thread.start();
  }

  @Override
  public void changed(
      Set<String> clusterQueues, Set<LocalQueueId> localQueues, Set<String> cohorts) {
    if (pendingReports.availablePermits() == 0) {
      pendingReports.release();
    }
  }

  private void run() {
    try {
      do {
        if (unwritten.isEmpty()) {
          pendingReports.acquire();
        } else {
          var unused =
              pendingReports.tryAcquire(restUntil - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        pendingReports.drainPermits();
        reportAll();
      } while (!closed.await(REST.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void reportAll() throws InterruptedException {
    try {
      take();
      long last = System.nanoTime();
      for (Optional<PendingExplanation> next = next();
          next.isPresent() && closed.getCount() > 0;
          next = next()) {
        report(next.get());
        if (taken.isEmpty() || System.nanoTime() - last > TAKE_AGAIN_NANOS) {
          take();
          last = System.nanoTime();
        }
      }
    } catch (ExecutionException e) {
      failed(e.getCause());
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  /** The one that waits for longest; those that failed come after the others, and after a rest. */
  private Optional<PendingExplanation> next() {
    boolean rests = System.nanoTime() - restUntil < 0;
    Iterator<PendingExplanation> oldest =
        (taken.isEmpty() && !rests ? unwritten : taken).values().iterator();
    if (!oldest.hasNext()) {
      return Optional.empty();
    }
    PendingExplanation next = oldest.next();
    oldest.remove();
    return Optional.of(next);
  }

  private void failed(@Nullable Throwable fault) {
    LOG.error("pending-reasons=failed", fault);
    if (!taken.isEmpty()) {
      // The others that were taken still have to be written.
      pendingReports.release();
    }
  }

  /** Takes what the engine has to explain. A newer explanation replaces one that waits. */
  private void take() throws InterruptedException, ExecutionException {
    List<PendingExplanation> unreported;
    do {
      unreported = queries.unreportedExplanations(BATCH).get();
      for (PendingExplanation explain : unreported) {
        PendingExplanation failed = unwritten.remove(explain.id());
        PendingExplanation waits = taken.put(explain.id(), explain);
        PendingExplanation before = waits == null ? failed : waits;
        if (before == null || before.explanation().reason() != explain.explanation().reason()) {
          isStillPending(explain)
              .filter(workload -> !patch(workload, explain.explanation()).isEmpty())
              .ifPresent(workload -> observer.explained(explain, workload));
        }
      }
    } while (unreported.size() == BATCH
        && taken.size() + unwritten.size() < MOST_TAKEN
        && closed.getCount() > 0);
  }

  /**
   * Reports a Workload that changed but is still pending, because the engine returns each
   * explanation only once.
   */
  private void report(PendingExplanation decision) throws InterruptedException, ExecutionException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      Optional<CachedWorkload> found = isStillPending(decision);
      if (found.isEmpty()) {
        return;
      }
      CachedWorkload workload = found.get();
      ObjectNode patch = patch(workload, decision.explanation());
      if (patch.isEmpty()) {
        return;
      }
      Outcome outcome =
          writer.patchStatus(workload.id(), workload.version(), patch, Urgency.BEST_EFFORT).get();
      var unused = closed.await(pause(leisure.getAsDouble()).toMillis(), TimeUnit.MILLISECONDS);
      if (outcome instanceof Outcome.Refused refused) {
        refused(decision, refused);
      }
      if (!(outcome instanceof Outcome.Conflict)) {
        return;
      }
    }
  }

  private void refused(PendingExplanation decision, Outcome.Refused refused) {
    if (refused.code() == ApiOutcome.TOO_MANY_REQUESTS
        || refused.code() >= HttpURLConnection.HTTP_INTERNAL_ERROR) {
      unwritten.put(decision.id(), decision);
      restUntil = System.nanoTime() + REST_AFTER_FAILURE.toNanos();
    } else {
      LOG.warn(
          "workload={} pending-reason=refused code={} reason=\"{}\"",
          decision.id(),
          refused.code(),
          refused.message());
    }
  }

  /** None while the API server has time for everything, and a second while writes take long. */
  static Duration pause(double leisure) {
    double part = Math.min(1, 1 / leisure - 1);
    return Duration.ofMillis(Math.round(part * LONGEST_PAUSE.toMillis()));
  }

  private Optional<CachedWorkload> isStillPending(PendingExplanation decision) {
    return store
        .get(decision.id().namespace(), decision.id().name())
        .filter(workload -> workload.id().equals(decision.id()))
        .filter(workload -> translator.of(workload) instanceof SchedulerEvent.WorkloadPending);
  }

  private ObjectNode patch(CachedWorkload workload, Explanation explanation) {
    return AdmissionPatches.waiting(
        workload,
        new WaitingReason(
            explanation.reason().apiReason(), text.apply(explanation), explanation.gated()),
        translator.totals(workload),
        readiness,
        clock.instant());
  }

  @Override
  public void close() {
    closed.countDown();
    thread.interrupt();
  }
}
