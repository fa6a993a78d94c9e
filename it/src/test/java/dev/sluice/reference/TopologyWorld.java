package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.engine.EngineProbe;
import dev.sluice.core.model.ClusterNode;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.Decision;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.PlacementDecision;
import dev.sluice.core.model.ReservingWorkload;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyRequest;
import dev.sluice.core.model.TopologySpec;
import dev.sluice.core.model.WorkloadId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A made-up world with topologies: flavors f and g have the same nodes, named by hostname; flavor h
 * has other nodes, named by rack.
 */
final class TopologyWorld {

  private static final String HOST = TopologySpec.HOSTNAME;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  /** A Workload and how it stands. */
  private static final class Job {
    final WorkloadId id;
    final String queue;
    final RequestShape shape;
    final long priority;
    final Instant queuedAt;
    long version;
    List<PodSetAssignment> places = List.of();
    boolean confirmed;

    Job(WorkloadId id, String queue, RequestShape shape, long priority, Instant queuedAt) {
      this.id = id;
      this.queue = queue;
      this.shape = shape;
      this.priority = priority;
      this.queuedAt = queuedAt;
    }
  }

  private final long seed;
  private final Dice dice;
  private final boolean preempting;
  private final Map<String, TopologySpec> topologies = new LinkedHashMap<>();
  private final Map<String, String> flavorOf = new LinkedHashMap<>();
  private final Map<String, Boolean> cohorts = new HashMap<>();
  private final Map<String, ClusterNode> nodes = new LinkedHashMap<>();
  private final Map<String, SortedMap<String, Long>> others = new HashMap<>();
  private final Map<String, Job> jobs = new LinkedHashMap<>();
  private final Set<String> claims = new HashSet<>();
  private EngineProbe engine = new EngineProbe();
  private long version = 1;
  int admissions;
  int preemptions;
  int waiting;

  TopologyWorld(long seed, boolean preempting) {
    this.seed = seed;
    this.dice = new Dice(seed);
    this.preempting = preempting;
    topologies.put("f", new TopologySpec("hosts", List.of("rack", HOST)));
    topologies.put("g", new TopologySpec("hosts", List.of("rack", HOST)));
    topologies.put("h", new TopologySpec("racks", List.of("block", "rack")));
    int queues = 1 + dice.below(4);
    for (int i = 0; i < queues; i++) {
      flavorOf.put("q" + i, dice.pick(new String[] {"f", "g", "h"}));
      cohorts.put("q" + i, dice.chanceOfHalf());
    }
    int count = 3 + dice.below(8);
    for (int i = 0; i < count; i++) {
      node("n" + i);
    }
    declare();
  }

  private void node(String name) {
    Map<String, String> labels = new TreeMap<>();
    labels.put("pool", dice.chance(70) ? "a" : "b");
    labels.put("block", "b" + dice.below(2));
    labels.put("rack", "r" + dice.below(3));
    labels.put(HOST, name);
    SortedMap<String, Long> allocatable = new TreeMap<>();
    allocatable.put("cpu", 1L + dice.below(8));
    allocatable.put("pods", 2L + dice.below(8));
    nodes.put(name, new ClusterNode(name, labels, List.of(), allocatable, dice.chance(95)));
  }

  private static Flavor flavor(String name, TopologySpec topology) {
    return new Flavor(
        name, Map.of("pool", name.equals("h") ? "b" : "a"), List.of(), List.of(), topology.name());
  }

  /** Tells the engine everything that is, as after a start. */
  private void declare() {
    engine.fold(new SchedulerEvent.TimePassed(START));
    engine.fold(new SchedulerEvent.NamespaceChanged("ns", Map.of()));
    List<Runnable> declarations = new ArrayList<>();
    topologies.forEach(
        (name, topology) -> {
          declarations.add(() -> engine.fold(new SchedulerEvent.TopologyChanged(topology)));
          declarations.add(
              () -> engine.fold(new SchedulerEvent.FlavorChanged(flavor(name, topology))));
        });
    nodes.values().forEach(node -> declarations.add(() -> tell(node)));
    flavorOf.forEach((queue, flavor) -> declarations.add(() -> queue(queue, flavor)));
    jobs.values().forEach(job -> declarations.add(() -> tell(job)));
    while (!declarations.isEmpty()) {
      declarations.remove(dice.below(declarations.size())).run();
    }
    engine.fold(new SchedulerEvent.DecidingEnabled(true));
  }

  private void tell(ClusterNode node) {
    engine.fold(new SchedulerEvent.NodeChanged(node));
    engine.fold(
        new SchedulerEvent.NodeUsageChanged(
            node.name(), others.getOrDefault(node.name(), new TreeMap<>())));
  }

  private void queue(String name, String flavor) {
    Quota much = new Quota(1000, ResourceAmounts.UNLIMITED, ResourceAmounts.UNLIMITED);
    engine.fold(
        new SchedulerEvent.ClusterQueueChanged(
            new ClusterQueueSpec(
                name,
                Boolean.TRUE.equals(cohorts.get(name)) ? "all" : "",
                List.of(
                    new ResourceGroup(
                        List.of("cpu"),
                        List.of(new ResourceGroup.FlavorQuotas(flavor, Map.of("cpu", much))))),
                QueueingStrategy.BEST_EFFORT_FIFO,
                new LabelSelector.Requirements(List.of()),
                StopPolicy.NONE,
                false,
                preempting
                    ? new PreemptionPolicies(
                        PreemptionPolicies.WithinClusterQueue.LOWER_PRIORITY,
                        PreemptionPolicies.ReclaimWithinCohort.ANY,
                        false,
                        OptionalInt.empty())
                    : PreemptionPolicies.NEVER,
                FlavorFungibility.DEFAULT,
                List.of(),
                List.of())));
    engine.fold(
        new SchedulerEvent.LocalQueueChanged(
            new LocalQueueSpec(new LocalQueueId("ns", name), name, StopPolicy.NONE)));
  }

  private void tell(Job job) {
    job.version = version++;
    if (job.places.isEmpty()) {
      engine.fold(
          new SchedulerEvent.WorkloadPending(
              new PendingWorkload(
                  job.id,
                  job.version,
                  job.queue,
                  job.shape,
                  job.priority,
                  job.queuedAt,
                  job.queuedAt,
                  Optional.empty(),
                  false,
                  Optional.empty())));
      return;
    }
    job.confirmed = true;
    engine.fold(
        new SchedulerEvent.WorkloadReserving(
            new ReservingWorkload(
                job.id,
                job.version,
                job.queue,
                job.queue,
                job.places,
                job.priority,
                job.queuedAt,
                false,
                true,
                true,
                START)));
  }

  void play(int steps) {
    for (int step = 0; step < steps; step++) {
      act(step);
      if (dice.chance(60)) {
        engine.cycle();
        judge();
      }
    }
    for (int i = 0; i < 1000 && engine.cycle(); i++) {
      judge();
    }
    if (!preempting) {
      jobs.values().stream().filter(job -> job.places.isEmpty()).forEach(this::mustWait);
    }
  }

  private void act(int step) {
    int what = dice.below(100);
    List<Job> all = new ArrayList<>(jobs.values());
    List<String> names = new ArrayList<>(nodes.keySet());
    if (what < 45) {
      submit(step);
    } else if (what < 60 && !all.isEmpty()) {
      Job job = all.get(dice.below(all.size()));
      jobs.remove(job.id.uid());
      engine.fold(new SchedulerEvent.WorkloadReleased(job.id, version++));
    } else if (what < 70 && !names.isEmpty()) {
      String name = names.get(dice.below(names.size()));
      others.put(name, new TreeMap<>(Map.of("cpu", (long) dice.below(3), "pods", 1L)));
      tell(known(nodes, name));
    } else if (what < 75 && !names.isEmpty()) {
      String name = names.get(dice.below(names.size()));
      nodes.remove(name);
      engine.fold(new SchedulerEvent.NodeRemoved(name));
    } else if (what < 80) {
      String name = "m" + step;
      node(name);
      tell(known(nodes, name));
    } else if (what < 83) {
      engine = new EngineProbe();
      declare();
    } else {
      all.stream().filter(job -> !job.places.isEmpty() && !job.confirmed).forEach(this::answer);
    }
  }

  /** The API server's answer to an admission. */
  private void answer(Job job) {
    if (dice.chance(80)) {
      job.confirmed = true;
      long written = version++;
      engine.fold(new SchedulerEvent.AdmissionWritten(job.id, written));
      job.version = written;
    } else {
      job.places = List.of();
      engine.fold(new SchedulerEvent.AdmissionRefused(job.id, job.version, true));
      tell(job);
    }
  }

  private void submit(int step) {
    List<String> queues = List.copyOf(flavorOf.keySet());
    String queue = queues.get(dice.below(queues.size()));
    List<String> levels = topology(flavor(queue)).levels();
    String level = levels.get(dice.below(2));
    boolean led = dice.chance(15);
    TopologyRequest asked =
        switch (dice.below(led ? 2 : 5)) {
          case 0 -> TopologyRequest.required(level);
          case 1 -> TopologyRequest.preferred(level);
          case 2 -> TopologyRequest.NONE;
          case 3 -> TopologyRequest.unconstrained();
          default -> TopologyRequest.sliced(new TopologyRequest.Slice(level, 2));
        };
    List<PodSetRequest> podSets = new ArrayList<>();
    if (led) {
      podSets.add(podSet("leader", 1, asked, "group"));
    }
    int count = asked.slices().isEmpty() ? 1 + dice.below(6) : 2 + 2 * dice.below(3);
    podSets.add(podSet("main", led ? 1 + count : count, asked, led ? "group" : ""));
    WorkloadId id = new WorkloadId("uid-" + step, "ns", "w" + step);
    Job job = new Job(id, queue, new RequestShape(podSets), dice.below(3), START.plusSeconds(step));
    jobs.put(id.uid(), job);
    tell(job);
  }

  private PodSetRequest podSet(String name, int count, TopologyRequest asked, String group) {
    return new PodSetRequest(
        name,
        count,
        0,
        new TreeMap<>(Map.of("cpu", 1L + dice.below(4))),
        NodeConstraints.ANYWHERE,
        group,
        asked);
  }

  private void judge() {
    Set<String> targets = new HashSet<>();
    for (Decision decision : engine.takeDecisions()) {
      Job job = known(jobs, decision.id().uid());
      String what = "seed " + seed + ": " + decision;
      switch (decision) {
        case Decision.Admit admit -> {
          admissions++;
          claims.remove(job.id.uid());
          assertThat(job.places).as(what).isEmpty();
          judge(job, admit.podSets(), what);
          job.places = admit.podSets();
          job.confirmed = false;
        }
        case Decision.Preempt preempt -> {
          preemptions++;
          Set<String> gone = new HashSet<>();
          preempt.targets().forEach(target -> gone.add(target.id().uid()));
          // What others preempt for is theirs.
          if (claims.isEmpty() || claims.equals(Set.of(job.id.uid()))) {
            assertThat(place(job, Set.of())).as(what).isEmpty();
          }
          claims.add(job.id.uid());
          for (String uid : gone) {
            assertThat(known(jobs, uid).priority).as(what).isLessThan(job.priority);
          }
          targets.addAll(gone);
        }
        case PlacementDecision other -> throw new AssertionError(what);
      }
    }
    stop(targets);
  }

  /** Targets stop at once, and queue again. */
  private void stop(Set<String> gone) {
    for (String uid : gone) {
      Job target = known(jobs, uid);
      target.places = List.of();
      tell(target);
    }
  }

  private void judge(Job job, List<PodSetAssignment> podSets, String what) {
    String flavor = flavor(job.queue);
    TopologySpec spec = topology(flavor);
    Map<String, SortedMap<String, Long>> used = used(flavor, Set.of());
    Set<String> racks = new HashSet<>();
    for (int i = 0; i < podSets.size(); i++) {
      PodSetRequest asked = job.shape.podSets().get(i);
      TopologyAssignment places = podSets.get(i).topology().assignment().orElseThrow();
      assertThat(places.pods()).as(what).isEqualTo(asked.count());
      Map<String, Integer> byLevel = new HashMap<>();
      for (TopologyAssignment.Domain domain : places.domains()) {
        String leaf = leaf(flavor, domain);
        assertThat(leaf).as(what).isNotEmpty();
        count(used, leaf, asked.nodeRequests(), domain.count());
        int level = spec.levels().indexOf(asked.topology().level());
        racks.add(cut(leaf, level));
        for (TopologyRequest.Slice slice : asked.topology().slices()) {
          byLevel.merge(
              cut(leaf, spec.levels().indexOf(slice.level())), domain.count(), Integer::sum);
        }
      }
      for (TopologyRequest.Slice slice : asked.topology().slices()) {
        assertThat(byLevel.values()).as(what).allMatch(sum -> sum % slice.size() == 0);
      }
    }
    if (job.shape.podSets().getFirst().topology().mode() == TopologyRequest.Mode.REQUIRED) {
      assertThat(racks).as(what).hasSize(1);
    }
    Map<String, SortedMap<String, Long>> room = capacity(flavor);
    for (PodSetAssignment podSet : podSets) {
      for (TopologyAssignment.Domain domain :
          podSet.topology().assignment().orElseThrow().domains()) {
        String leaf = leaf(flavor, domain);
        known(used, leaf)
            .forEach(
                (resource, amount) ->
                    assertThat(amount)
                        .as(what + ": " + leaf + " " + resource)
                        .isLessThanOrEqualTo(known(room, leaf).getOrDefault(resource, 0L)));
      }
    }
  }

  private static String cut(String path, int level) {
    int end = 0;
    for (int i = 0; i <= level; i++) {
      end = path.indexOf('/', end + 1);
    }
    return end < 0 ? path : path.substring(0, Math.max(0, end));
  }

  /** The path of a domain that exists; empty if it doesn't. */
  private String leaf(String flavor, TopologyAssignment.Domain domain) {
    if (flavor.equals("h")) {
      return "/" + String.join("/", domain.values());
    }
    ClusterNode node = nodes.get(domain.values().getFirst());
    return node == null ? "" : ReferenceTopology.path(topology(flavor).levels(), node).orElse("");
  }

  private List<ClusterNode> members(String flavor) {
    String pool = flavor.equals("h") ? "b" : "a";
    return nodes.values().stream()
        .filter(node -> node.usable() && pool.equals(node.labels().get("pool")))
        .toList();
  }

  private Map<String, SortedMap<String, Long>> capacity(String flavor) {
    Map<String, SortedMap<String, Long>> capacity = new HashMap<>();
    for (ClusterNode node : members(flavor)) {
      String path = ReferenceTopology.path(topology(flavor).levels(), node).orElseThrow();
      SortedMap<String, Long> sums = capacity.computeIfAbsent(path, p -> new TreeMap<>());
      node.allocatable().forEach((resource, amount) -> sums.merge(resource, amount, Long::sum));
    }
    return capacity;
  }

  /** What is used of each leaf, without the Workloads that are gone. */
  private Map<String, SortedMap<String, Long>> used(String flavor, Set<String> gone) {
    Map<String, SortedMap<String, Long>> used = new HashMap<>();
    for (ClusterNode node : members(flavor)) {
      String path = ReferenceTopology.path(topology(flavor).levels(), node).orElseThrow();
      SortedMap<String, Long> sums = used.computeIfAbsent(path, p -> new TreeMap<>());
      others
          .getOrDefault(node.name(), new TreeMap<>())
          .forEach((resource, amount) -> sums.merge(resource, amount, Long::sum));
    }
    for (Job job : jobs.values()) {
      String own = flavor(job.queue);
      if (gone.contains(job.id.uid()) || own.equals("h") != flavor.equals("h")) {
        continue;
      }
      for (int i = 0; i < job.places.size(); i++) {
        for (TopologyAssignment.Domain domain :
            job.places.get(i).topology().assignment().orElseThrow().domains()) {
          count(
              used,
              leaf(flavor, domain),
              job.shape.podSets().get(i).nodeRequests(),
              domain.count());
        }
      }
    }
    return used;
  }

  private static void count(
      Map<String, SortedMap<String, Long>> used,
      String leaf,
      SortedMap<String, Long> perPod,
      int pods) {
    SortedMap<String, Long> sums = used.computeIfAbsent(leaf, path -> new TreeMap<>());
    perPod.forEach((resource, amount) -> sums.merge(resource, amount * pods, Long::sum));
    sums.merge("pods", (long) pods, Long::sum);
  }

  private Optional<ReferenceTopology.Places> place(Job job, Set<String> gone) {
    String flavor = flavor(job.queue);
    ReferenceTopology reference =
        new ReferenceTopology(
                topology(flavor).levels(), true, members(flavor), used(flavor, gone), List.of())
            .judgingNodes(others);
    List<PodSetRequest> podSets = job.shape.podSets();
    PodSetRequest last = podSets.getLast();
    return reference.place(
        last.topology(), pods(last), podSets.size() > 1 ? pods(podSets.getFirst()) : null);
  }

  private static ReferenceTopology.Pods pods(PodSetRequest podSet) {
    return new ReferenceTopology.Pods(
        podSet.count(), podSet.nodeRequests(), podSet.nodeConstraints());
  }

  private void mustWait(Job job) {
    waiting++;
    assertThat(place(job, Set.of()))
        .as("seed " + seed + ": " + job.id + " waits for " + job.shape)
        .isEmpty();
  }

  private String flavor(String queue) {
    return known(flavorOf, queue);
  }

  private TopologySpec topology(String flavor) {
    return known(topologies, flavor);
  }

  private static <T> T known(Map<String, T> map, String key) {
    T value = map.get(key);
    if (value == null) {
      throw new AssertionError(key + " is not known");
    }
    return value;
  }
}
