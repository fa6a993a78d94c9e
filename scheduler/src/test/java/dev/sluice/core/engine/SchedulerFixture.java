package dev.sluice.core.engine;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PendingReason;
import dev.sluice.core.model.QueueRules;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyOptions;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A small world for tests of the engine, in the API's words. All amounts are of cpu. */
final class SchedulerFixture {

  static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  final List<Decision> decisions = new ArrayList<>();
  final Engine engine;
  private final List<SchedulerEvent> told = new ArrayList<>();
  private long version = 1;

  SchedulerFixture() {
    this(EngineOptions.DEFAULT);
  }

  /** One whose queues share fairly, if so. */
  SchedulerFixture(Optional<FairSharing> sharing) {
    this(new EngineOptions(sharing, false));
  }

  /** With the defaults of the engine, and these of topologies. */
  static SchedulerFixture withTopology(TopologyOptions topology) {
    EngineOptions defaults = EngineOptions.DEFAULT;
    return new SchedulerFixture(
        new EngineOptions(
            defaults.fairSharing(),
            defaults.blockAdmission(),
            defaults.admissionFairSharing(),
            defaults.order(),
            topology));
  }

  /** One whose engine decides by these rules. */
  SchedulerFixture(EngineOptions rules) {
    this(rules, true);
  }

  /** One that decides, or only listens until it is told otherwise. */
  SchedulerFixture(EngineOptions rules, boolean deciding) {
    engine = new Engine(rules, decisions::add);
    tell(new SchedulerEvent.TimePassed(START));
    tell(new SchedulerEvent.NamespaceChanged("ns", Map.of()));
    tell(new SchedulerEvent.DecidingEnabled(deciding));
  }

  void tell(SchedulerEvent schedulerEvent) {
    told.add(schedulerEvent);
    engine.apply(schedulerEvent);
  }

  /** All events that this fixture applied to the engine, in order. */
  List<SchedulerEvent> told() {
    return told;
  }

  void flavor(String name, Taint... taints) {
    tell(
        new SchedulerEvent.FlavorChanged(
            new Flavor(name, Map.of("type", name), List.of(taints), List.of())));
  }

  static ResourceGroup.FlavorQuotas quota(String flavor, long nominal, long borrow, long lend) {
    return new ResourceGroup.FlavorQuotas(flavor, Map.of("cpu", new Quota(nominal, borrow, lend)));
  }

  static ResourceGroup.FlavorQuotas quota(String flavor, long nominal) {
    return quota(flavor, nominal, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
  }

  /** A ClusterQueue and a LocalQueue of the same name in namespace {@code ns}. */
  void queue(String name, String cohort, ResourceGroup.FlavorQuotas... quotas) {
    queue(name, cohort, QueueingStrategy.BEST_EFFORT_FIFO, quotas);
  }

  void queue(
      String name, String cohort, QueueingStrategy strategy, ResourceGroup.FlavorQuotas... quotas) {
    queue(name, cohort, strategy, PreemptionPolicies.NEVER, FlavorFungibility.DEFAULT, quotas);
  }

  void queue(
      String name,
      String cohort,
      PreemptionPolicies policies,
      ResourceGroup.FlavorQuotas... quotas) {
    queue(
        name,
        cohort,
        QueueingStrategy.BEST_EFFORT_FIFO,
        policies,
        FlavorFungibility.DEFAULT,
        quotas);
  }

  void queue(
      String name,
      String cohort,
      QueueingStrategy strategy,
      PreemptionPolicies policies,
      FlavorFungibility fungibility,
      ResourceGroup.FlavorQuotas... quotas) {
    queue(name, cohort, strategy, policies, fungibility, BigDecimal.ONE, quotas);
  }

  /** A BestEffortFIFO queue of a weight of its own. */
  void queue(
      String name,
      String cohort,
      String weight,
      PreemptionPolicies policies,
      ResourceGroup.FlavorQuotas... quotas) {
    queue(
        name,
        cohort,
        QueueingStrategy.BEST_EFFORT_FIFO,
        policies,
        FlavorFungibility.DEFAULT,
        new BigDecimal(weight),
        quotas);
  }

  /** A queue with rules beyond the fields of its API, and its LocalQueue. */
  void queue(
      String name,
      String cohort,
      QueueingStrategy strategy,
      QueueRules rules,
      ResourceGroup.FlavorQuotas... quotas) {
    queue(name, cohort, strategy, rules, PreemptionPolicies.NEVER, quotas);
  }

  void queue(
      String name,
      String cohort,
      QueueingStrategy strategy,
      QueueRules rules,
      PreemptionPolicies policies,
      ResourceGroup.FlavorQuotas... quotas) {
    List<String> resources = quotas[0].quotas().keySet().stream().sorted().toList();
    tell(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                    name,
                    cohort,
                    List.of(new ResourceGroup(resources, List.of(quotas))),
                    strategy,
                    new LabelSelector.Requirements(List.of()),
                    StopPolicy.NONE,
                    false,
                    policies,
                    FlavorFungibility.DEFAULT,
                    List.of(),
                    List.of())
                .with(strategy, rules)));
    tell(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", name), name, StopPolicy.NONE)));
  }

  /** Tells the engine how much time has passed since the start. */
  void passed(Duration sinceStart) {
    tell(new SchedulerEvent.TimePassed(START.plus(sinceStart)));
  }

  /** One that must not be admitted before a time. */
  void submitResting(String name, String queue, long cpu, Instant until) {
    tell(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                version++,
                queue,
                shape(cpu),
                0,
                START,
                START,
                Optional.of(until),
                false,
                Optional.empty())));
  }

  private void queue(
      String name,
      String cohort,
      QueueingStrategy strategy,
      PreemptionPolicies policies,
      FlavorFungibility fungibility,
      BigDecimal weight,
      ResourceGroup.FlavorQuotas... quotas) {
    tell(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                name,
                cohort,
                List.of(new ResourceGroup(List.of("cpu"), List.of(quotas))),
                strategy,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                policies,
                fungibility,
                weight,
                List.of(),
                List.of(),
                false)));
    tell(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", name), name, StopPolicy.NONE)));
  }

  void cohort(String name, String parent, ResourceGroup.FlavorQuotas... quotas) {
    List<ResourceGroup> groups =
        quotas.length == 0
            ? List.of()
            : List.of(new ResourceGroup(List.of("cpu"), List.of(quotas)));
    tell(new SchedulerEvent.CohortChanged(new CohortSpec(name, parent, groups)));
  }

  WorkloadId submit(String name, String queue, long cpu) {
    return submit(name, queue, cpu, 0, 0);
  }

  WorkloadId submit(String name, String queue, long cpu, long priority, int second) {
    return submit(name, queue, shape(cpu), priority, second);
  }

  WorkloadId submit(String name, String queue, RequestShape shape, long priority) {
    return submit(name, queue, shape, priority, 0);
  }

  WorkloadId submit(String name, String queue, RequestShape shape, long priority, int second) {
    WorkloadId id = new WorkloadId("uid-" + name, "ns", name);
    Instant created = START.plusSeconds(second);
    tell(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                id,
                version++,
                queue,
                shape,
                priority,
                created,
                created,
                Optional.empty(),
                false,
                Optional.empty())));
    return id;
  }

  /** One with a preemption gate, which is closed or open; the same again to change that. */
  void submitGated(String name, String queue, long cpu, long priority, boolean closed) {
    tell(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                version++,
                queue,
                shape(cpu),
                priority,
                START,
                START,
                Optional.empty(),
                false,
                Optional.empty(),
                closed,
                true)));
  }

  static RequestShape shape(long cpu) {
    return new RequestShape(
        List.of(
            new PodSetRequest(
                "main", 1, 0, new TreeMap<>(Map.of("cpu", cpu)), NodeConstraints.ANYWHERE, "")));
  }

  /** A pod set of so many pods of 1 cpu each, which may start with {@code min}. */
  static PodSetRequest pods(String name, int count, int min) {
    return new PodSetRequest(
        name, count, count - min, new TreeMap<>(Map.of("cpu", 1L)), NodeConstraints.ANYWHERE, "");
  }

  /** How many pods each pod set of one was admitted with. */
  List<Integer> counts(String name) {
    return admission(name).podSets().stream().map(PodSetAssignment::count).toList();
  }

  /** The API server says of a Workload of flavor f that it runs, and whether anybody stops it. */
  void running(String name, String queue, long cpu, long priority, boolean evictable) {
    tell(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                version++,
                queue,
                queue,
                List.of(
                    new PodSetAssignment(
                        "main",
                        new TreeMap<>(Map.of("cpu", "f")),
                        new TreeMap<>(Map.of("cpu", cpu)),
                        1)),
                priority,
                START,
                false,
                true,
                true,
                START,
                evictable)));
  }

  /** One whose pods nobody would stop. */
  void submitNotEvictable(String name, String queue, long cpu, long priority) {
    tell(
        new SchedulerEvent.WorkloadPending(
            new PendingWorkload(
                new WorkloadId("uid-" + name, "ns", name),
                version++,
                queue,
                shape(cpu),
                priority,
                START,
                START,
                Optional.empty(),
                false,
                Optional.empty(),
                false,
                false)));
  }

  /** The API server says of one that was admitted here that its pods are ready, or not. */
  void podsReady(String name, boolean ready) {
    reserving(name, true, ready);
  }

  /** The API server says of one that got quota here how it stands. */
  void reserving(String name, boolean admitted, boolean podsReady) {
    reserving(admission(name), admitted, podsReady);
  }

  /** The API server says of one that got quota somewhere that it is admitted. */
  void reserved(Decision.Admit admit) {
    reserving(admit, true, true);
  }

  private void reserving(Decision.Admit admit, boolean admitted, boolean podsReady) {
    tell(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                admit.id(),
                version++,
                admit.clusterQueue(),
                admit.clusterQueue(),
                admit.podSets(),
                0,
                admit.queuedAt(),
                false,
                admitted,
                podsReady,
                admit.at())));
  }

  /** Runs cycles until nothing is left to look at, and names who was admitted on the way. */
  List<String> admitted() {
    int before = decisions.size();
    while (engine.cycle()) {
      // each cycle looks at one head of each queue
    }
    List<String> names = new ArrayList<>();
    for (Decision decision : decisions.subList(before, decisions.size())) {
      if (decision instanceof Decision.Admit admit) {
        names.add(admit.id().name());
        tell(new SchedulerEvent.AdmissionWritten(admit.id(), version++));
      }
    }
    return names;
  }

  void finish(String name) {
    tell(new SchedulerEvent.WorkloadReleased(new WorkloadId("uid-" + name, "ns", name), version++));
  }

  Decision.Admit admission(String name) {
    for (Decision decision : decisions) {
      if (decision instanceof Decision.Admit admit && admit.id().name().equals(name)) {
        return admit;
      }
    }
    throw new AssertionError(name + " was not admitted: " + decisions);
  }

  private int seen;

  /** Who is to be evicted for whom, and why, since the last call. */
  List<String> preempted() {
    List<String> result = new ArrayList<>();
    for (Decision decision : decisions.subList(seen, decisions.size())) {
      if (decision instanceof Decision.Preempt preempt) {
        for (Decision.Target target : preempt.targets()) {
          result.add(
              target.id().name()
                  + " for "
                  + preempt.id().name()
                  + ": "
                  + target.reason().apiReason());
        }
      }
    }
    seen = decisions.size();
    return result;
  }

  Decision.Preempt lastPreemption() {
    for (Decision decision : decisions.reversed()) {
      if (decision instanceof Decision.Preempt preempt) {
        return preempt;
      }
    }
    throw new AssertionError("nothing was preempted: " + decisions);
  }

  /** Why one waits, as far as was found out. */
  Optional<PendingReason> waitsFor(String name) {
    return explanation(name).map(Explanation::reason);
  }

  /** Why one waits, in full, as far as was found out. */
  Optional<Explanation> explanation(String name) {
    return engine
        .queries()
        .pendingReason(new WorkloadId("uid-" + name, "ns", name))
        .flatMap(SchedulerQueries.PendingReport::explanation);
  }

  long nextVersion() {
    return version++;
  }
}
