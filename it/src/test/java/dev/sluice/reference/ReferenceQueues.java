package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.CohortSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.LocalQueueSpec;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.core.model.PreemptionRules.PreemptionConfig;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import dev.sluice.core.topology.TopologyOptions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What is declared and who is there: which queue a Workload waits in, whether it is set aside, and
 * who comes first (docs/scheduling-semantics.md#what-is-pending).
 */
final class ReferenceQueues {

  final Map<String, Flavor> flavors = new TreeMap<>();
  final Map<String, ClusterQueueSpec> queues = new TreeMap<>();
  final Map<String, CohortSpec> cohorts = new TreeMap<>();
  final Map<LocalQueueId, LocalQueueSpec> localQueues = new TreeMap<>();
  final Map<String, Map<String, String>> namespaces = new TreeMap<>();
  final Map<String, ReferenceEntry> workloads = new TreeMap<>();

  /** Who preempted last, by ClusterQueue, until it is deleted. */
  final Map<String, String> sticky = new HashMap<>();

  /** How often what is held in a ClusterQueue changed. */
  final Map<String, Long> changes = new HashMap<>();

  /** How often a head of a ClusterQueue kept quota free for the last time. */
  final Map<String, Long> drops = new HashMap<>();

  /** Who came back in line with a defect since the last cycle. */
  private final Set<ReferenceEntry> defective = new HashSet<>();

  /** Those who came back since the last cycle because of a declaration. */
  private final Set<ReferenceEntry> redeclared = new HashSet<>();

  /** Who came back in line since the last cycle that held somebody again. */
  private final Set<ReferenceEntry> broughtBack = new HashSet<>();

  final ReferenceNodes nodes;

  final ReferenceBudgets budgets = new ReferenceBudgets(this);
  final ReferenceReservations reservations = new ReferenceReservations(this);

  final ReferenceRepeats repeats;

  Instant now = Instant.EPOCH;

  ReferenceQueues(TopologyOptions topologies, TopologyFlaw flaw, PreemptionLimit limit) {
    this.nodes = new ReferenceNodes(topologies, flaw, flavors);
    this.repeats = new ReferenceRepeats(limit);
  }

  /** Queues of which any flavor has a topology. */
  List<String> queuesWithTopologies() {
    return queues.values().stream()
        .filter(
            queue ->
                queue.groups().stream()
                    .flatMap(group -> group.flavors().stream())
                    .anyMatch(each -> nodes.isTopologyFlavor(each.flavor())))
        .map(ClusterQueueSpec::name)
        .toList();
  }

  /** The quota tree with all that is held. */
  ReferenceTree tree() {
    return snapshot().tree();
  }

  /** What is held in a ClusterQueue, or how it is looked at, changed. */
  void changed(String queue) {
    changes.merge(queue, 1L, Long::sum);
  }

  /** How often that changed in the tree of a ClusterQueue, or wherever it has targets. */
  long changesInTree(String queue, ReferenceTree tree) {
    return reaches(queue, tree)
        ? changes.values().stream().mapToLong(Long::longValue).sum()
        : sumInTree(changes, queue, tree);
  }

  /** Whether a queue of a tree may take nodes from Workloads of other trees. */
  boolean reaches(String queue, ReferenceTree tree) {
    Set<String> members = tree.tree(queue);
    List<String> withTopologies = queuesWithTopologies();
    return queues.values().stream()
        .filter(each -> members.contains(each.name()) && withTopologies.contains(each.name()))
        .flatMap(each -> each.rules().preemptionConfig().stream())
        .anyMatch(PreemptionConfig::reaches);
  }

  /** How often heads in the tree of a ClusterQueue kept quota free for the last time. */
  long dropsInTree(String queue, ReferenceTree tree) {
    return sumInTree(drops, queue, tree);
  }

  private static long sumInTree(Map<String, Long> counts, String queue, ReferenceTree tree) {
    return tree.tree(queue).stream().mapToLong(each -> counts.getOrDefault(each, 0L)).sum();
  }

  ReferenceSnapshot snapshot() {
    ReferenceTree tree = new ReferenceTree(queues, cohorts);
    List<ReferenceHolder> holders = new ArrayList<>();
    for (ReferenceEntry entry : workloads.values()) {
      if (entry.holding != null) {
        ReferenceHolder holder = entry.holder();
        tree.add(holder.queue(), holder.usage(), isGuaranteed(holder));
        holders.add(isGuaranteed(holder) ? holder.thatNobodyEvicts() : holder);
      }
    }
    Set<String> saving =
        holders.stream()
            .filter(holder -> holder.lossSince().isAfter(holder.reservedAt()))
            .map(ReferenceHolder::queue)
            .collect(Collectors.toSet());
    return new ReferenceSnapshot(tree, holders, new ArrayList<>(), now, repeats::sparedBy, saving);
  }

  /**
   * When something becomes possible because the time of a rule is over: when a holder is no longer
   * protected, or somebody may preempt.
   */
  List<Instant> ends(ReferenceEntry entry, ReferenceTree tree) {
    List<Instant> ends = new ArrayList<>();
    if (entry.holding != null) {
      if (!queues.containsKey(entry.holding.clusterQueue()) || entry.holder().evicted()) {
        return ends;
      }
      PreemptionRules rules = tree.preemptionRules(entry.holding.clusterQueue());
      entry.holder().protectedUntil(rules, false).ifPresent(ends::add);
      entry.holder().protectedUntil(rules, true).ifPresent(ends::add);
    } else if (entry.waits()) {
      queueOf(entry)
          .flatMap(queue -> entry.preemptsFrom(tree.preemptionRules(queue)))
          .ifPresent(ends::add);
    }
    return ends;
  }

  private boolean isGuaranteed(ReferenceHolder holder) {
    ClusterQueueSpec queue = queues.get(holder.queue());
    return holder.guaranteed() && queue != null && queue.rules().countsPreemptible();
  }

  /** Whether pods of admitted Workloads are not ready. */
  boolean awaitsPods() {
    return workloads.values().stream()
        .anyMatch(entry -> entry.holding != null && entry.holding.awaitsPods());
  }

  /** Whether pods of Workloads that are admitted with quota of this queue are not ready. */
  boolean awaitsPods(String queue) {
    return workloads.values().stream()
        .map(entry -> entry.holding)
        .anyMatch(
            holding ->
                holding != null && holding.clusterQueue().equals(queue) && holding.awaitsPods());
  }

  boolean active(ClusterQueueSpec queue) {
    return queue.stopPolicy() == StopPolicy.NONE
        && !queue.terminating()
        && queue.problems().isEmpty()
        && queue.groups().stream()
            .flatMap(group -> group.flavors().stream())
            .allMatch(each -> flavors.containsKey(each.flavor()));
  }

  static final Comparator<ReferenceEntry> AGE =
      Comparator.comparing((ReferenceEntry entry) -> -entry.workload().priority())
          .thenComparing(entry -> entry.workload().queuedAt())
          .thenComparing(entry -> entry.id.uid());

  /** Those of a queue that are not set aside, in order. */
  List<ReferenceEntry> waitingIn(String queue) {
    ClusterQueueSpec spec = queues.get(queue);
    boolean bestEffort =
        spec != null
            && (spec.strategy() == QueueingStrategy.BEST_EFFORT_FIFO
                || spec.strategy() == QueueingStrategy.ROUND_ROBIN);
    Comparator<ReferenceEntry> stickyFirst =
        Comparator.comparing(
            entry -> !(bestEffort && entry.id.uid().equals(sticky.getOrDefault(queue, ""))));
    return workloads.values().stream()
        .filter(entry -> entry.waits() && !entry.aside)
        .filter(entry -> queueOf(entry).equals(Optional.of(queue)))
        .sorted(stickyFirst.thenComparing(AGE))
        .toList();
  }

  Optional<String> queueOf(ReferenceEntry entry) {
    LocalQueueSpec local =
        entry.pending == null ? null : localQueues.get(entry.pending.localQueue());
    return local == null || local.stopPolicy() != StopPolicy.NONE
        ? Optional.empty()
        : Optional.of(local.clusterQueue());
  }

  boolean namespaceMatches(ReferenceEntry entry) {
    ClusterQueueSpec queue = queueOf(entry).map(queues::get).orElse(null);
    Map<String, String> labels = namespaces.get(entry.id.namespace());
    return queue != null && labels != null && queue.namespaceSelector().matches(labels);
  }

  /** Back-off, or a namespace that is not in order. */
  boolean mustStayAside(ReferenceEntry entry) {
    return backingOff(entry)
        || entry.pausesUntil != null
        || setAsideByLimit(entry)
        || !namespaceMatches(entry)
        || setAsideByDefect(entry)
        || setAsideByBudget(entry);
  }

  /** Those who came back since a budget had more left, which others may have spent since then. */
  void holdAgain() {
    broughtBack.stream().filter(this::isHeldAgain).forEach(entry -> entry.aside = true);
    inLine();
  }

  /** Whether this one is in line only if nothing holds it when the next cycle begins. */
  boolean comesBack(ReferenceEntry entry) {
    return (budgets.released || reservations.released) && broughtBack.contains(entry);
  }

  /** Whether the next cycle sets this one aside once more before it looks at anybody. */
  boolean isHeldAgain(ReferenceEntry entry) {
    return comesBack(entry)
        && entry.waits()
        && queueOf(entry).isPresent()
        && (setAsideByBudget(entry) || !namespaceMatches(entry));
  }

  /**
   * Whoever came back is in line as everybody from here on: a budget is asked about heads alone.
   */
  void inLine() {
    broughtBack.clear();
  }

  private boolean setAsideByBudget(ReferenceEntry entry) {
    return namespaceMatches(entry)
        && entry.workload().defect().isEmpty()
        && !atLocalLimit(entry)
        && queueOf(entry).filter(queue -> budgets.refuses(entry, queue)).isPresent();
  }

  /** The ClusterQueues of all who hold quota, each as often as Workloads hold quota of it. */
  List<String> queuesOfHolders() {
    return workloads.values().stream()
        .filter(entry -> entry.holding != null)
        .map(entry -> Objects.requireNonNull(entry.holding).clusterQueue())
        .toList();
  }

  /** Whether only so many Workloads of a LocalQueue may hold quota. */
  boolean isLimited(LocalQueueId id) {
    LocalQueueSpec local = localQueues.get(id);
    return local != null && local.maxWorkloads().isPresent();
  }

  /** Whether as many Workloads of its LocalQueue hold quota as may. */
  boolean atLocalLimit(ReferenceEntry entry) {
    LocalQueueId id = entry.workload().localQueue();
    LocalQueueSpec local = localQueues.get(id);
    return local != null
        && local.maxWorkloads().isPresent()
        && workloads.values().stream()
                .filter(other -> other.holding != null)
                .filter(other -> Objects.requireNonNull(other.holding).localQueue().equals(id))
                .count()
            >= local.maxWorkloads().getAsInt();
  }

  private boolean setAsideByLimit(ReferenceEntry entry) {
    return atLocalLimit(entry)
        && queueOf(entry)
            .map(queues::get)
            .filter(queue -> queue.strategy() == QueueingStrategy.STRICT_FIFO)
            .isEmpty();
  }

  /** Those of a LocalQueue that has room for more are looked at again. */
  List<ReferenceEntry> freed(LocalQueueId localQueue) {
    List<ReferenceEntry> returned = new ArrayList<>();
    for (ReferenceEntry entry : workloads.values()) {
      if (entry.waits()
          && entry.aside
          && entry.workload().localQueue().equals(localQueue)
          && !mustStayAside(entry)) {
        entry.aside = false;
        returned.add(entry);
      }
    }
    return returned;
  }

  boolean mustWaitForLimit(ReferenceEntry entry) {
    return entry.waits() && queueOf(entry).isPresent() && setAsideByLimit(entry);
  }

  boolean setAsideByDefect(ReferenceEntry entry) {
    return entry.workload().defect().isPresent()
        && queueOf(entry)
            .map(queues::get)
            .filter(queue -> queue.strategy() == QueueingStrategy.STRICT_FIFO)
            .isEmpty();
  }

  boolean backingOff(ReferenceEntry entry) {
    return entry.workload().held()
        || entry.waitsForSlice
        || entry.awaitsNews
        || entry.workload().notBefore().filter(until -> until.isAfter(now)).isPresent()
        || (entry.retryAt != null && entry.retryAt.isAfter(now));
  }

  void bringBackThoseInOrder() {
    bringBack();
  }

  /** The same because of a declaration: what counts is what holds when the next cycle begins. */
  void bringBackThoseDeclaredInOrder() {
    redeclared.addAll(bringBack());
  }

  private Set<ReferenceEntry> bringBack() {
    Set<ReferenceEntry> back = new HashSet<>();
    for (ReferenceEntry entry : workloads.values()) {
      if (entry.waits() && entry.aside && !mustStayAside(entry)) {
        entry.aside = false;
        back.add(entry);
        broughtBack.add(entry);
        if (entry.workload().defect().isPresent()) {
          defective.add(entry);
        }
      }
    }
    return back;
  }

  /**
   * What counts of several changes of a ClusterQueue between two cycles is the last one: who came
   * back in line with a defect for a StrictFIFO queue that isn't one any more stays aside, and so
   * does one whose namespace doesn't match any more.
   */
  void cycleBegins() {
    redeclared.stream()
        .filter(entry -> entry.waits() && queueOf(entry).isPresent() && !namespaceMatches(entry))
        .forEach(entry -> entry.aside = true);
    redeclared.clear();
    defective.stream()
        .filter(entry -> entry.waits() && setAsideByDefect(entry))
        .forEach(entry -> entry.aside = true);
    defective.clear();
  }

  /** Whether one that doesn't fit pauses, and is not looked at before. */
  static boolean pauses(QueueingStrategy strategy) {
    return strategy == QueueingStrategy.ROUND_ROBIN || strategy == QueueingStrategy.STRICT_PRIORITY;
  }

  /** It was tried in vain where it has to pause then: as long as the queue says. */
  void pause(ReferenceEntry entry, ClusterQueueSpec queue) {
    AttemptBackoff backoff = queue.rules().attemptBackoff();
    long seconds = backoff.base().toSeconds();
    for (int i = 0; i < entry.attempts && seconds < backoff.max().toSeconds(); i++) {
      seconds *= 2;
    }
    entry.attempts++;
    entry.pausesUntil = now.plusSeconds(Math.min(seconds, backoff.max().toSeconds()));
    entry.aside = true;
  }

  /** Those whose pause is over are looked at again. */
  void endPauses() {
    for (ReferenceEntry entry : workloads.values()) {
      if (entry.waits() && entry.pausesUntil != null && !entry.pausesUntil.isAfter(now)) {
        entry.pausesUntil = null;
        entry.aside = false;
      }
    }
  }

  /** Nobody in this queue pauses any longer, and how often they were tried is forgotten. */
  void endAllPauses(String queue) {
    for (ReferenceEntry entry : workloads.values()) {
      if (entry.waits() && queueOf(entry).equals(Optional.of(queue))) {
        entry.attempts = 0;
        if (entry.pausesUntil != null) {
          entry.pausesUntil = null;
          entry.aside = false;
        }
      }
    }
  }

  /** A Workload comes into its queue as if it were new. */
  void enter(ReferenceEntry entry) {
    defective.remove(entry);
    redeclared.remove(entry);
    broughtBack.remove(
        entry); // in line as everybody: nobody looks whether a budget has enough left
    entry.returned = false;
    entry.retryAt = null;
    entry.awaitsNews = false;
    entry.attempts = 0;
    entry.pausesUntil = null;
    entry.progress = Map.of();
    entry.walked = 0;
    entry.walkedInVain = Optional.empty();
    entry.skips = Set.of();
    entry.aside = backingOff(entry);
  }

  /** Its queue went or came: it starts anew there, but a rest isn't over by that. */
  void reenter(ReferenceEntry entry) {
    Instant rest = entry.retryAt;
    boolean awaitsNews = entry.awaitsNews;
    enter(entry);
    entry.retryAt = rest;
    entry.awaitsNews = awaitsNews;
    entry.aside = backingOff(entry);
  }
}
