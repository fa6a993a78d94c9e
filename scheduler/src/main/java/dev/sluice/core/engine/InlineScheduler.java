package dev.sluice.core.engine;

import dev.sluice.core.engine.SchedulerThread.EngineListener;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The engine on the caller's thread: for simulations, in which time is an event like any other. In
 * production {@link SchedulerThread} runs the engine. Not thread-safe.
 */
public final class InlineScheduler {

  /** As many as {@link SchedulerThread} runs without a decision before it waits for events. */
  private static final int MAX_CYCLES_WITHOUT_DECISION = 100;

  private final Engine engine;
  private final ViewPublisher viewPublisher = new ViewPublisher();
  private final long[] decided = {0};
  private EngineListener listener = EngineListener.NONE;

  /**
   * An engine that doesn't decide yet.
   *
   * @param options options of the engine
   * @param decisions receives each decision, in order; must not call this object
   */
  public InlineScheduler(EngineOptions options, Consumer<Decision> decisions) {
    this.engine =
        new Engine(
            options,
            decision -> {
              told(decision);
              decisions.accept(decision);
            });
  }

  /**
   * An engine that goes on from a state (docs/engine-state.md), with the options of that state. It
   * decides, also if the state is that of an engine that only listens, as on a replica that doesn't
   * lead.
   *
   * @param state a state that an engine exported
   * @param decisions receives each decision, in order; must not call this object
   */
  public InlineScheduler(EngineState state, Consumer<Decision> decisions) {
    this.engine =
        Engine.restore(
            state.options(),
            state,
            decision -> {
              told(decision);
              decisions.accept(decision);
            });
    apply(new SchedulerEvent.DecidingEnabled(true));
  }

  private void told(Decision decision) {
    decided[0]++;
    listener.decided(decision);
  }

  /** The whole state as a value. */
  public EngineState export() {
    return engine.export();
  }

  /** The budgets and what was spent of each. */
  public List<BudgetAccount.OfBudget> budgets() {
    return engine.budgets();
  }

  /** Sets the listener for events, cycles and decisions from now on. */
  public void listen(EngineListener engineListener) {
    listener = engineListener;
  }

  /** Applies an event. */
  public void apply(SchedulerEvent schedulerEvent) {
    listener.applies(schedulerEvent);
    engine.apply(schedulerEvent);
  }

  /**
   * Runs cycles until there is nothing to evaluate, or until many in a row decided nothing: then
   * only an event, or the time, can change the result.
   *
   * @return how many cycles ran
   */
  public int decide() {
    int cycles = 0;
    int withoutDecision = 0;
    while (withoutDecision < MAX_CYCLES_WITHOUT_DECISION) {
      long before = decided[0];
      listener.cycles();
      boolean evaluated = engine.cycle();
      listener.cycled(engine.statistics());
      if (!evaluated) {
        break;
      }
      cycles++;
      withoutDecision = decided[0] > before ? 0 : withoutDecision + 1;
    }
    return cycles;
  }

  /**
   * The first time to come at which the engine looks at something again though no event tells it
   * anything but the time; {@link Instant#MAX} if there is none.
   *
   * @param pauses whether also for Workloads that are tried again and again after pauses
   */
  public Instant nextTimer(boolean pauses) {
    return engine.nextTimer(pauses);
  }

  /**
   * The Workloads that have to go, because capacity that they use is kept from now on; and those
   * that are to be asked for a checkpoint, because it is kept soon.
   */
  public List<ReservedCapacity.Overstay> overstays() {
    return engine.overstays();
  }

  /** The views, published now. */
  public SchedulerViews views() {
    viewPublisher.publish(engine);
    return viewPublisher;
  }

  /** Why a Workload is pending; empty if it isn't. */
  public Optional<SchedulerQueries.PendingReport> pendingReason(WorkloadId id) {
    return engine.queries().pendingReason(id);
  }

  /** Takes the explanations that were not reported yet. */
  public List<PendingExplanation> takeExplanations() {
    return engine.unreported().take(Integer.MAX_VALUE);
  }
}
