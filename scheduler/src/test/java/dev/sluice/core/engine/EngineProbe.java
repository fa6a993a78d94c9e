package dev.sluice.core.engine;

import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The engine without its thread, for tests outside its room. */
public final class EngineProbe {

  private final List<Decision> decisions = new ArrayList<>();
  private final Engine engine;
  private final ViewPublisher viewPublisher = new ViewPublisher();
  private @Nullable EngineListener listener;

  /** One whose events, cycles and decisions this listener is told. */
  public static EngineProbe observed(EngineOptions rules, EngineListener listener) {
    EngineProbe probe = new EngineProbe(rules);
    probe.listener = listener;
    return probe;
  }

  /** One that decides by the defaults of the configuration. */
  public EngineProbe() {
    this(EngineOptions.DEFAULT);
  }

  /** One that decides by these rules. */
  public EngineProbe(EngineOptions rules) {
    this(rules, true);
  }

  private EngineProbe(EngineOptions rules, boolean skipsPlainly) {
    this.engine = new Engine(rules, this::decided, skipsPlainly);
  }

  private void decided(Decision decision) {
    decisions.add(decision);
    if (listener != null) {
      listener.decided(decision);
    }
  }

  /** One in which every head has an outcome of its own, also where nothing depends on it. */
  public static EngineProbe withAllOutcomes(EngineOptions rules) {
    return new EngineProbe(rules, false);
  }

  /** The state as a value. */
  public EngineState export() {
    return engine.export();
  }

  /** Folds a fact in. */
  public void fold(SchedulerEvent schedulerEvent) {
    if (listener != null) {
      listener.roundStarts(engine);
      listener.applies(schedulerEvent);
    }
    engine.apply(schedulerEvent);
  }

  /** Runs one cycle; false if there was nothing to look at. */
  public boolean cycle() {
    if (listener != null) {
      listener.cycles();
    }
    return engine.cycle();
  }

  /** Names of the ClusterQueues of which the last cycle evaluated a head. */
  public Set<String> evaluatedQueues() {
    return engine.evaluatedQueues();
  }

  /** Decisions since the last call, in order. */
  public List<Decision> takeDecisions() {
    List<Decision> taken = List.copyOf(decisions);
    decisions.clear();
    return taken;
  }

  /** Views as they would be published now. */
  public SchedulerViews views() {
    viewPublisher.publish(engine);
    return viewPublisher;
  }

  /** Explanations that nobody was told yet. */
  public List<PendingExplanation> untold() {
    return engine.unreported().take(Integer.MAX_VALUE);
  }

  /** Who has to go for what is kept. */
  public List<ReservedCapacity.Overstay> overstays() {
    return engine.overstays();
  }

  /** What happened in the last cycle. */
  public CycleStatistics statistics() {
    return engine.statistics();
  }

  /** Why a Workload waits. */
  public Optional<SchedulerQueries.PendingReport> whyWaiting(WorkloadId id) {
    return engine.queries().pendingReason(id);
  }

  /** The pending Workloads in sums, in which names of pod sets make no difference. */
  public Map<String, PendingTotals> pendingTotals() {
    return engine.queries().pendingTotals(false);
  }

  /** Those who wait in a ClusterQueue, in queue order. */
  public List<PendingPosition> pendingIn(String clusterQueue) {
    return engine.queries().pendingIn(clusterQueue);
  }
}
