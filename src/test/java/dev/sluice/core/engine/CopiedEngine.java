package dev.sluice.core.engine;

import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.WorkloadId;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * An engine that was never exported, and beside it one that is exported and restored at random
 * instants, again and again. Both are told the same; whatever can be seen of them must be the same.
 */
public final class CopiedEngine {

  /** How often, of a hundred events or cycles, the copy becomes a value and an engine again. */
  private static final int COPIED = 12;

  private final Random random;
  private final EngineOptions options;
  private final List<Decision> decisions = new ArrayList<>();
  private final List<Decision> copied = new ArrayList<>();
  private final Map<String, WorkloadId> known = new LinkedHashMap<>();
  private final Engine engine;
  private Engine copy;
  private int copies;

  /** Two engines with the same options; the seed says when the second one is copied. */
  public CopiedEngine(EngineOptions options, long seed) {
    this.options = options;
    this.random = new Random(seed);
    this.engine = new Engine(options, decisions::add);
    this.copy = new Engine(options, copied::add);
  }

  /** How often the copy was made. */
  public int copies() {
    return copies;
  }

  /** Folds a fact in. */
  public void fold(SchedulerEvent schedulerEvent) {
    switch (schedulerEvent) {
      case SchedulerEvent.WorkloadPending(var workload) ->
          known.put(workload.id().uid(), workload.id());
      case SchedulerEvent.WorkloadReserving(var workload) ->
          known.put(workload.id().uid(), workload.id());
      default -> {}
    }
    copy();
    engine.apply(schedulerEvent);
    copy.apply(schedulerEvent);
    same("idle after " + schedulerEvent, engine.idle(), copy.idle());
  }

  private void copy() {
    if (random.nextInt(100) >= COPIED) {
      return;
    }
    copies++;
    EngineState state = copy.export();
    copy = Engine.restore(options, state, copied::add);
    same("state of the copy", state, copy.export());
  }

  /** Runs one cycle of both; false if there was nothing to look at. */
  public boolean cycle() {
    copy();
    boolean looked = engine.cycle();
    same("cycle", looked, copy.cycle());
    same("decisions", decisions, copied);
    copied.clear();
    same("evaluated queues", engine.evaluatedQueues(), copy.evaluatedQueues());
    if (looked) {
      same("statistics", engine.statistics(), copy.statistics());
    }
    same("idle", engine.idle(), copy.idle());
    if (random.nextInt(100) < 30) {
      same("explanations", unreported(engine), unreported(copy));
    }
    if (random.nextInt(100) < 20) {
      look();
    }
    return looked;
  }

  private static List<PendingExplanation> unreported(Engine engine) {
    return engine.unreported().take(Integer.MAX_VALUE).stream()
        .sorted(Comparator.comparing(each -> each.id().uid()))
        .toList();
  }

  private void look() {
    SchedulerViews views = views(engine);
    SchedulerViews ofCopy = views(copy);
    same("ClusterQueues", Set.copyOf(views.clusterQueues()), Set.copyOf(ofCopy.clusterQueues()));
    same("LocalQueues", Set.copyOf(views.localQueues()), Set.copyOf(ofCopy.localQueues()));
    same("cohorts", Set.copyOf(views.cohorts()), Set.copyOf(ofCopy.cohorts()));
    for (ClusterQueueView queue : views.clusterQueues()) {
      same(
          "order of " + queue.name(),
          engine.queries().pendingIn(queue.name()),
          copy.queries().pendingIn(queue.name()));
    }
    same("totals", engine.queries().pendingTotals(), copy.queries().pendingTotals());
    for (WorkloadId id : known.values()) {
      same("reason of " + id, engine.queries().pendingReason(id), copy.queries().pendingReason(id));
    }
  }

  /** The views as somebody sees them who has seen none before. */
  private static SchedulerViews views(Engine engine) {
    engine.changes().all = true;
    ViewPublisher views = new ViewPublisher();
    views.publish(engine);
    return views;
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
    return views(engine);
  }

  private void same(String what, Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError(what + " differ: " + difference(expected, actual));
    }
  }

  /** The first difference of two values, with the way to it. */
  private static String difference(Object expected, Object actual) {
    if (expected instanceof Record && expected.getClass() == actual.getClass()) {
      for (RecordComponent each : expected.getClass().getRecordComponents()) {
        Object one = componentOf(expected, each);
        Object other = componentOf(actual, each);
        if (!one.equals(other)) {
          return each.getName() + " " + difference(one, other);
        }
      }
    }
    if (expected instanceof List<?> one
        && actual instanceof List<?> other
        && one.size() == other.size()) {
      for (int i = 0; i < one.size(); i++) {
        if (!one.get(i).equals(other.get(i))) {
          return i + " " + difference(one.get(i), other.get(i));
        }
      }
    }
    return "\n  never exported " + expected + "\n  restored       " + actual;
  }

  private static Object componentOf(Object record, RecordComponent component) {
    try {
      component.getAccessor().setAccessible(true);
      return component.getAccessor().invoke(record);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
