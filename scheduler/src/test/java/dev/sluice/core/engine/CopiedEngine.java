package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.CycleStatistics;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.queue.PendingTotals;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

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

  /** The engine that was never exported, to be asked only. */
  Engine original() {
    return engine;
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
    same("totals", engine.queries().pendingTotals(false), copy.queries().pendingTotals(false));
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

  /**
   * Copies each quota tree alone, and lets Workloads of the tree end: the copy decides on the tree
   * as a copy of everything does.
   *
   * @return how many decisions were compared
   */
  public int compareTrees() {
    EngineState state = copy.export();
    Set<String> roots = new TreeSet<>();
    for (EngineState.ClusterQueueExport queue : state.clusterQueues()) {
      roots.add(queue.spec().map(ClusterQueueSpec::cohort).orElse(""));
      roots.add(queue.name());
    }
    state.specs().cohorts().forEach(cohort -> roots.add(cohort.name()));
    int compared = 0;
    for (String root : roots) {
      EngineState part = state.ofTree(root);
      if (!part.clusterQueues().isEmpty()) {
        compared += compareTree(state, part);
      }
    }
    return compared;
  }

  private int compareTree(EngineState state, EngineState part) {
    List<Decision> ofAll = new ArrayList<>();
    List<Decision> ofPart = new ArrayList<>();
    Engine all = Engine.restore(options, state, ofAll::add);
    Engine tree = Engine.restore(options, part, ofPart::add);
    Set<String> queues = new TreeSet<>();
    part.clusterQueues().forEach(queue -> queues.add(queue.name()));
    List<WorkloadId> holders = new ArrayList<>();
    part.workloads().workloads().stream()
        .filter(workload -> workload.reservation().isPresent())
        .forEach(workload -> holders.add(workload.id()));
    int compared = 0;
    for (int round = 0; round < 5; round++) {
      if (!settles(all) || !settles(tree)) {
        return compared;
      }
      ofAll.removeIf(decision -> !queues.contains(queueOf(decision)));
      same("decisions on " + queues, byQueue(ofAll), byQueue(ofPart));
      compared += ofPart.size();
      ofPart.stream()
          .filter(Decision.Admit.class::isInstance)
          .forEach(decision -> holders.add(decision.id()));
      ofAll.clear();
      ofPart.clear();
      if (!holders.isEmpty()) {
        SchedulerEvent ends =
            new SchedulerEvent.WorkloadReleased(
                holders.remove(random.nextInt(holders.size())), Long.MAX_VALUE);
        all.apply(ends);
        tree.apply(ends);
      }
    }
    return compared;
  }

  private static boolean settles(Engine engine) {
    for (int i = 0; i < 200; i++) {
      if (!engine.cycle()) {
        return true;
      }
    }
    return false;
  }

  private static String queueOf(Decision decision) {
    return switch (decision) {
      case Decision.Admit admit -> admit.clusterQueue();
      case Decision.Preempt preempt -> preempt.clusterQueue();
      case PlacementDecision placement -> "";
    };
  }

  private static Map<String, List<Decision>> byQueue(List<Decision> decisions) {
    Map<String, List<Decision>> byQueue = new TreeMap<>();
    for (Decision decision : decisions) {
      if (!queueOf(decision).isEmpty()) {
        byQueue.computeIfAbsent(queueOf(decision), any -> new ArrayList<>()).add(decision);
      }
    }
    return byQueue;
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
