package dev.sluice.forecast.feed;

import dev.sluice.core.engine.EngineState;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.forecast.simulate.Simulation;
import dev.sluice.forecast.simulate.SimulationResult;
import dev.sluice.forecast.starts.StartForecast;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what would become of a Workload that doesn't exist, when somebody asks
 * (docs/simulate.md#bounds). Computes on a thread of its own, from a copy of the engine's state.
 * Thread-safe.
 */
public final class WorkloadSimulator {

  private static final Logger LOG = LoggerFactory.getLogger(WorkloadSimulator.class);

  /** So many questions may wait; whoever asks beyond that gets no answer. */
  private static final int MOST_WAITING = 4;

  /**
   * A computation is ended after so long, or when three quarters of the caller's patience are over;
   * what is known then is told.
   */
  private static final Duration LONGEST = Duration.ofSeconds(2);

  /**
   * After a computation no other begins for so many times as long as the processor was busy with
   * it: questions take a quarter of a core at most, however often they are asked.
   */
  private static final int PAUSE_PER_COMPUTATION = 3;

  /** A computation that has less time isn't begun. */
  private static final Duration SHORTEST = Duration.ofMillis(200);

  /** The quantiles of a start need no more plays. */
  private static final int PLAYS = 11;

  private final StartEstimator starts;
  private final RunBounds runBounds;
  private final InstantSource clock;
  private final Executor oneByOne;
  private final LongSupplier processorNanos;
  private final Semaphore mayWait = new Semaphore(MOST_WAITING);

  /** Who waits for an answer. */
  private final Set<String> askers = ConcurrentHashMap.newKeySet();

  /** Used by the thread that computes. */
  private Instant notBefore = Instant.EPOCH;

  /**
   * A simulator.
   *
   * @param starts knows the engine's state, how long Workloads run, and how wrong estimates were
   * @param runBounds how long a Workload runs at most
   * @param oneByOne runs the computations, one at a time
   * @param processorNanos how much processor time the calling thread has used
   */
  public WorkloadSimulator(
      StartEstimator starts,
      RunBounds runBounds,
      InstantSource clock,
      Executor oneByOne,
      LongSupplier processorNanos) {
    this.starts = starts;
    this.runBounds = runBounds;
    this.clock = clock;
    this.oneByOne = oneByOne;
    this.processorNanos = processorNanos;
  }

  /**
   * Who asks.
   *
   * @param tenant whose question it is; a tenant gets one answer at a time
   * @param patience how long the tenant waits
   */
  public record Asker(String tenant, Duration patience) {}

  /**
   * What would become of a Workload; empty if too many ask, if the tenant has asked already, or if
   * there is no answer in time.
   *
   * @param workload the record, which says how long it runs
   * @param pendingWorkload what the engine would be told
   */
  public Optional<SimulationResult> of(
      CachedWorkload workload, PendingWorkload pendingWorkload, Asker asker) {
    if (!askers.add(asker.tenant())) {
      return Optional.empty();
    }
    if (!mayWait.tryAcquire()) {
      askers.remove(asker.tenant());
      return Optional.empty();
    }
    Duration patience = asker.patience();
    Duration share = patience.multipliedBy(3).dividedBy(4);
    Instant end = clock.instant().plus(share.compareTo(LONGEST) < 0 ? share : LONGEST);
    CompletableFuture<Optional<SimulationResult>> answer =
        starts
            .state()
            .thenApplyAsync(state -> inTurn(workload, pendingWorkload, state, end), oneByOne)
            .whenComplete(
                (_, _) -> {
                  mayWait.release();
                  askers.remove(asker.tenant());
                });
    try {
      return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (ExecutionException e) {
      LOG.warn("workload={} simulated=false", workload.id(), e.getCause());
      return Optional.empty();
    }
  }

  /** Waits for the end of the pause after the last computation; empty if that is too late. */
  private Optional<SimulationResult> inTurn(
      CachedWorkload workload, PendingWorkload pendingWorkload, EngineState state, Instant end) {
    Instant begun = clock.instant();
    if (!notBefore.isBefore(end.minus(SHORTEST))) {
      return Optional.empty();
    }
    long used = processorNanos.getAsLong();
    try {
      if (begun.isBefore(notBefore)) {
        Thread.sleep(Duration.between(begun, notBefore));
      }
      return compute(workload, pendingWorkload, state, end);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } finally {
      long computing = processorNanos.getAsLong() - used;
      notBefore = clock.instant().plusNanos(PAUSE_PER_COMPUTATION * computing);
    }
  }

  private Optional<SimulationResult> compute(
      CachedWorkload workload, PendingWorkload pendingWorkload, EngineState state, Instant end) {
    StartForecast.Options usual = StartForecast.Options.DEFAULT;
    return Simulation.of(
            state,
            pendingWorkload,
            runBounds.of(workload),
            starts.knowledge(Optional.of(workload)),
            new StartForecast.Options(PLAYS, usual.horizon(), usual.stopping(), usual.seed()),
            () -> clock.instant().isBefore(end))
        .map(result -> corrected(result, workload));
  }

  private SimulationResult corrected(SimulationResult result, CachedWorkload workload) {
    return result
        .start()
        .map(
            played ->
                result.withStart(
                    starts.corrected(played, result.pendingReport().clusterQueue(), workload)))
        .orElse(result);
  }
}
