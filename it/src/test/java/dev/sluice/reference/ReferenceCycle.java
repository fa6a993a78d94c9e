package dev.sluice.reference;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.ScanProgress;
import dev.sluice.core.model.Decision.PodSetAssignment;
import dev.sluice.core.model.Decision.PreemptionReason;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionProtection.PreemptionHistory;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload.ReplacedSlice;
import dev.sluice.reference.Decided.Admission;
import dev.sluice.reference.Decided.Preemption;
import dev.sluice.reference.ReferenceAssigner.Mode;
import dev.sluice.reference.ReferenceAssigner.Result;
import dev.sluice.reference.ReferencePreemption.Victim;
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
 * One cycle: the head of every queue is nominated, the nominated are put in order, and each is
 * processed after those before it (docs/scheduling-semantics.md#the-cycle).
 */
final class ReferenceCycle {

  private final ReferenceQueues world;
  private final ReferenceParking parking;
  private final Map<String, Long> generations;
  private final ReferenceEngine.Rules rules;
  private final ReferenceNominator nominator;
  private final long number;

  /** What is held, and admitted by this cycle: nobody is admitted beyond that. */
  private final ReferenceSnapshot held;

  /** The same, and what this cycle promised or keeps free. */
  private final ReferenceSnapshot planned;

  /** Whom this cycle has evicted so far. */
  private final List<ReferenceHolder> gone = new ArrayList<>();

  /** The order in which a cycle decides on its heads without fair sharing. */
  static Comparator<ReferenceNominated> order(ReferenceQueues world) {
    return Comparator.comparing((ReferenceNominated each) -> -each.queue().rules().priority())
        .thenComparing(each -> !world.repeats.comesFirst(each.entry().id.uid()))
        .thenComparing(each -> each.result().borrowLevel())
        .thenComparing(ReferenceNominated::entry, ReferenceQueues.AGE);
  }

  /** Whether it preempted the same one again and again, and goes before the others. */
  private boolean comesFirst(ReferenceNominated nominated) {
    return world.repeats.comesFirst(nominated.entry().id.uid());
  }

  /** How far each head had come before this cycle looked at it. */
  private final Map<ReferenceEntry, Walk> before = new HashMap<>();

  private record Walk(
      Map<ReferenceAssigner.Progress, Integer> progress,
      long generation,
      long cycle,
      int walked,
      Set<Map<ReferenceAssigner.Progress, Integer>> skips,
      Map<ReferenceAssigner.Progress, Integer> resumed) {}

  /** How often something changed in the tree of each queue before this cycle. */
  private final Map<String, Long> changesBefore = new HashMap<>();

  /** The requests of which a variant got quota in this cycle, or another one's place. */
  private final Set<String> decidedRequests = new HashSet<>();

  private static final int MOST_REFILLS = 8;

  /** Who joined after the cycle had begun, and wasn't processed yet. */
  private final Set<ReferenceEntry> joined = new HashSet<>();

  private int refilled;
  private List<Object> lastTurn = List.of();

  /** The root of the tree whose turn it is. */
  private String lastTree = "";

  private boolean looked;
  private boolean turnedAway;

  ReferenceCycle(
      ReferenceQueues world,
      ReferenceParking parking,
      Map<String, Long> generations,
      ReferenceEngine.Rules rules,
      long number) {
    this.world = world;
    this.parking = parking;
    this.generations = generations;
    this.rules = rules;
    this.nominator = new ReferenceNominator(rules, world.reservations);
    this.number = number;
    this.planned = world.snapshot();
    this.held = planned.copy();
    world.queues.keySet().forEach(queue -> changesBefore.put(queue, changes(queue)));
  }

  /** What was decided, in order. */
  List<Decided> run() {
    parking.cycleBegins();
    List<ReferenceNominated> nominated = new ArrayList<>();
    for (ClusterQueueSpec queue : world.queues.values()) {
      if (world.active(queue) && !held.tree().cyclic(queue.name())) {
        world.waitingIn(queue.name()).stream()
            .filter(entry -> !parking.isParked(entry, queue.name(), held.tree()))
            .findFirst()
            .map(head -> overtaking(head, queue))
            .filter(head -> !parking.isBlocked(queue.name()))
            .map(head -> head.lookedAt())
            .flatMap(head -> nominate(head, queue))
            .ifPresent(nominated::add);
      }
    }
    nominated.sort(order(world));
    if (refills()) {
      nominated.sort(Comparator.comparing(each -> each.queue().name()));
    }
    List<Decided> decided = new ArrayList<>();
    while (!nominated.isEmpty()) {
      ReferenceNominated next =
          rules.sharing().map(sharing -> winner(nominated, sharing)).orElseGet(nominated::getFirst);
      nominated.remove(next);
      if (turnedAway) {
        asBefore(next.entry());
        continue;
      }
      Optional<Decided> found =
          joined.remove(next.entry()) ? processSuccessor(next) : process(next);
      found.ifPresent(decided::add);
      if (found.filter(Admission.class::isInstance).isPresent() && refills()) {
        successor(next).ifPresent(nominated::add);
      }
    }
    return decided;
  }

  private boolean refills() {
    return rules.sharing().filter(FairSharing::refills).isPresent() && !rules.blocking();
  }

  /**
   * The next of a queue, which joins the cycle if it fits; up to eight may be looked at in a cycle.
   */
  private Optional<ReferenceNominated> successor(ReferenceNominated admitted) {
    ClusterQueueSpec queue = admitted.queue();
    if (queue.rules().blocksUntilReady()
        || admitted.entry().shape().slice().filter(slice -> slice.variant().isPresent()).isPresent()
        || refilled == MOST_REFILLS) {
      return Optional.empty();
    }
    Optional<ReferenceEntry> next =
        world.waitingIn(queue.name()).stream()
            .filter(entry -> !parking.isParked(entry, queue.name(), held.tree()))
            .findFirst()
            .filter(entry -> entry.shape().slice().isEmpty())
            .filter(entry -> !world.isLimited(entry.workload().localQueue()));
    if (next.isEmpty()) {
      return Optional.empty();
    }
    refilled++;
    ReferenceEntry entry = next.get();
    if (!world.namespaceMatches(entry)
        || entry.workload().defect().isPresent()
        || world.budgets.refuses(entry, queue.name())
        || atLimit(queue)) {
      return Optional.empty();
    }
    ReferenceNominated nominated = considered(entry, queue);
    if (nominated.inVain() || nominated.result().mode() != Mode.FIT) {
      return Optional.empty();
    }
    joined.add(entry);
    return Optional.of(nominated);
  }

  private ReferenceNominated considered(ReferenceEntry entry, ClusterQueueSpec queue) {
    return considered(entry, queue, planned);
  }

  private ReferenceNominated considered(
      ReferenceEntry entry, ClusterQueueSpec queue, ReferenceSnapshot snapshot) {
    Map<ReferenceAssigner.Progress, Integer> resume =
        keeps(entry, queue) ? entry.progress : Map.of();
    ReferenceNominated nominated = nominator.consider(entry, queue, snapshot, resume, Map.of());
    return nominated.inVain() && !walksOn(nominated) && !resume.isEmpty()
        ? nominator.consider(entry, queue, snapshot, Map.of(), Map.of())
        : nominated;
  }

  /** One that joined takes what is free, and does nothing else. */
  private Optional<Decided> processSuccessor(ReferenceNominated nominated) {
    ReferenceEntry entry = nominated.entry();
    String queue = nominated.queue().name();
    if (atLimit(nominated.queue())
        || !fits(nominated, withoutTargets(nominated))
        || !fits(nominated, held)
        || world.budgets.refuses(entry, queue, nominated.result().usage())
        || world.reservations.refuses(entry, queue, nominated.result(), planned.tree(), Set.of())) {
      return Optional.empty();
    }
    entry.progress = Map.of();
    entry.skips = Set.of();
    plan(nominated);
    return Optional.of(admit(nominated));
  }

  /**
   * The head of a queue. The progress of one behind it that went round in circles is that of the
   * cycle before from now on, and no longer that of each cycle.
   */
  private ReferenceEntry overtaking(ReferenceEntry head, ClusterQueueSpec queue) {
    world.waitingIn(queue.name()).stream()
        .filter(entry -> entry != head && entry.progressCycle == Long.MAX_VALUE)
        .forEach(entry -> entry.progressCycle = number - 1);
    return head;
  }

  /** Whether somebody fits, but pods of admitted Workloads are not ready. */
  boolean turnedAway() {
    return turnedAway;
  }

  private void asBefore(ReferenceEntry entry) {
    Walk walk = Objects.requireNonNull(before.get(entry));
    entry.progress = walk.progress();
    entry.progressGeneration = walk.generation();
    entry.progressCycle = walk.cycle();
    entry.walked = walk.walked();
    entry.skips = walk.skips();
  }

  private long changes(String queue) {
    return world.changesInTree(queue, planned.tree());
  }

  /**
   * Who is next where queues share fairly, as usage stands now. Where others may join, the queues
   * without cohort come first, and a tree ends before the next one begins.
   */
  private ReferenceNominated winner(List<ReferenceNominated> left, FairSharing sharing) {
    int highest =
        left.stream().mapToInt(each -> each.queue().rules().priority()).max().orElseThrow();
    List<ReferenceNominated> urgent =
        left.stream().filter(each -> each.queue().rules().priority() == highest).toList();
    boolean repeated = urgent.stream().anyMatch(this::comesFirst);
    List<Object> turn = List.of(highest, repeated);
    if (!turn.equals(lastTurn)) {
      lastTurn = turn;
      lastTree = "";
    }
    Comparator<ReferenceNominated> byTree =
        Comparator.comparing((ReferenceNominated each) -> path(each).size() > 1)
            .thenComparing(each -> !path(each).getFirst().equals(lastTree));
    List<ReferenceTournament.Head> heads =
        urgent.stream()
            .filter(each -> comesFirst(each) == repeated)
            .sorted(
                sharing.refills()
                    ? byTree.thenComparing(each -> each.queue().name())
                    : Comparator.comparing(each -> 0))
            .map(
                each ->
                    new ReferenceTournament.Head(
                        each.entry(), each.queue().name(), each.result().usage()))
            .toList();
    ReferenceEntry winner =
        new ReferenceTournament(planned.tree(), sharing.nonBorrowingFirst(), heads)
            .winner()
            .entry();
    ReferenceNominated next =
        left.stream().filter(each -> each.entry() == winner).findFirst().orElseThrow();
    lastTree = path(next).getFirst();
    return next;
  }

  /** A queue and its cohorts, from the root down. */
  private List<String> path(ReferenceNominated nominated) {
    return planned.tree().path(nominated.queue().name());
  }

  /** Whether the cycle found anything that it could change. */
  boolean looked() {
    return looked;
  }

  private Optional<ReferenceNominated> nominate(ReferenceEntry head, ClusterQueueSpec queue) {
    if (!world.namespaceMatches(head)) {
      head.aside = true;
      looked = true;
      return Optional.empty();
    }
    if (head.workload().defect().isPresent()) {
      head.aside = world.setAsideByDefect(head);
      looked |= head.aside;
      return Optional.empty();
    }
    if (atLocalLimit(head)) {
      head.aside = queue.strategy() != ClusterQueueSpec.QueueingStrategy.STRICT_FIFO;
      looked |= head.aside;
      return Optional.empty();
    }
    if (world.budgets.refuses(head, queue.name())) {
      head.aside = true;
      looked = true;
      return Optional.empty();
    }
    parking.unpark(head, queue.name());
    if (atLimit(queue)) {
      return Optional.empty();
    }
    if (head.walkedInVain.filter(then -> then != changes(queue.name())).isPresent()) {
      head.walkedInVain = Optional.empty();
      head.walked = 0;
    }
    boolean keep = keeps(head, queue);
    Map<ReferenceAssigner.Progress, Integer> resume = keep ? head.progress : Map.of();
    before.put(
        head,
        new Walk(
            head.progress,
            head.progressGeneration,
            keep ? Long.MAX_VALUE : head.progressCycle,
            head.walked,
            head.skips,
            resume));
    ReferenceNominated nominated = nominator.consider(head, queue, planned, resume, Map.of());
    head.progress = Map.of();
    head.skips = Set.of();
    if (nominated.inVain() && !walksOn(nominated) && !resume.isEmpty()) {
      nominated = nominator.consider(head, queue, planned, Map.of(), Map.of());
      head.walked = rules.longestWalk();
    }
    return Optional.of(nominated);
  }

  /** Whether its search through the flavors goes on where it was. */
  private boolean keeps(ReferenceEntry head, ClusterQueueSpec queue) {
    return head.progressGeneration == generations.getOrDefault(queue.name(), 0L)
        || (head.progressCycle >= number - 1
            && queue.fungibility().scanProgress() == ScanProgress.PRESERVED);
  }

  /**
   * What a Workload gets in one cycle after another, from where its search through the flavors
   * stands, if it is skipped in each of them; until it comes to a flavor again.
   */
  List<ReferenceNominated> walk(ReferenceEntry entry, ClusterQueueSpec queue) {
    List<ReferenceNominated> walk = new ArrayList<>();
    Set<Map<ReferenceAssigner.Progress, Integer>> seen = new HashSet<>();
    Map<ReferenceAssigner.Progress, Integer> resume =
        keeps(entry, queue) ? entry.progress : Map.of();
    while (seen.add(resume)) {
      ReferenceNominated next = nominator.consider(entry, queue, planned, resume, Map.of());
      walk.add(next);
      resume = next.result().untriedFlavorsLeft() ? next.result().progress() : Map.of();
    }
    return walk;
  }

  private boolean atLocalLimit(ReferenceEntry entry) {
    return world.atLocalLimit(entry);
  }

  /**
   * Whether the queue or a cohort above has as many Workloads with quota as it may, or the queue
   * waits for pods.
   */
  private boolean atLimit(ClusterQueueSpec queue) {
    return held.tree().atWorkloadLimit(queue.name(), world.queuesOfHolders())
        || (queue.rules().blocksUntilReady() && world.awaitsPods(queue.name()));
  }

  /** Whether it is looked at again only because flavors are left. */
  private boolean walksOn(ReferenceNominated nominated) {
    return nominated.result().untriedFlavorsLeft()
        && (rules.preempting() || nominated.result().competing())
        && nominated.entry().walked < rules.longestWalk();
  }

  private Optional<Decided> process(ReferenceNominated first) {
    ReferenceNominated nominated = first;
    ReferenceEntry entry = first.entry();
    ClusterQueueSpec queue = first.queue();
    if (atLimit(queue)) {
      asBefore(entry);
      return Optional.empty();
    }
    if (rules.recomputing()
        && first.victims().stream().anyMatch(victim -> gone.contains(victim.holder()))) {
      nominated =
          nominator.consider(
              entry, queue, planned.without(gone), Map.of(), first.result().flavors());
      if (nominated.result().mode() == Mode.FIT) {
        plan(nominated);
        entry.walked = 0;
        return Optional.empty(); // waits for those who were evicted before
      }
    }
    if (rules.nodes().options.recomputes()
        && rules.nodes().flaw != TopologyFlaw.NEVER_RECOMPUTED
        && !nominated.inVain()
        && fitsQuota(nominated, withoutTargets(nominated).tree())
        && !fitsNodes(
            nominated,
            rules.nodes().flaw == TopologyFlaw.EARLIER_TARGETS_STAY
                ? planned.without(nominated.victims().stream().map(Victim::holder).toList())
                : withoutTargets(nominated))) {
      nominated = nominator.consider(entry, queue, planned, Map.of(), first.result().flavors());
    }
    Result result = nominated.result();
    if (!nominated.inVain() && decidedRequests.contains(request(entry))) {
      asBefore(entry);
      return Optional.empty(); // another variant got the quota
    }
    if (nominated.inVain()) {
      if (reserves(nominated)) {
        planned
            .tree()
            .add(queue.name(), reservation(nominated, planned.tree()), isGuaranteed(nominated));
      }
      requeue(nominated);
      return Optional.empty();
    }
    if (world.budgets.refuses(entry, queue.name(), result.usage())
        || world.reservations.refuses(
            entry,
            queue.name(),
            result,
            planned.tree(),
            nominated.victims().stream()
                .map(victim -> victim.holder().id().uid())
                .collect(Collectors.toSet()))) {
      parking.fits(entry, queue.name());
      entry.walked = 0;
      entry.aside = true;
      looked = true;
      return Optional.empty();
    }
    if (!nominated.victims().isEmpty() && entry.workload().gated()) {
      gate(nominated);
      return Optional.empty();
    }
    boolean overlaps =
        nominated.victims().stream().anyMatch(victim -> gone.contains(victim.holder()));
    if (overlaps || !fits(nominated, withoutTargets(nominated))) {
      remember(nominated);
      entry.walked = 0;
      comeAround(entry, queue.name());
      parking.skipped(entry);
      return Optional.empty(); // stays in line
    }
    if (result.mode() == Mode.FIT && !fits(nominated, held)) {
      plan(nominated);
      entry.walked = 0;
      return Optional
          .empty(); // fits once those are gone who were evicted before, and waits for them
    }
    if (result.mode() == Mode.FIT && rules.blocking() && world.awaitsPods()) {
      turnedAway = true;
      looked = true;
      asBefore(entry);
      return Optional.empty();
    }
    plan(nominated);
    if (result.mode() == Mode.FIT && !request(entry).isEmpty()) {
      decidedRequests.add(request(entry));
    }
    List<Victim> victims =
        result.mode() == Mode.FIT ? variantsWithQuota(entry) : nominated.victims();
    return victims.isEmpty()
        ? Optional.of(admit(nominated))
        : preempt(
            nominated, victims.stream().filter(victim -> !gone.contains(victim.holder())).toList());
  }

  /** The request that one is a variant of; empty if it is none. */
  private static String request(ReferenceEntry entry) {
    return entry
        .slice
        .filter(slice -> slice.variant().isPresent())
        .map(slice -> entry.id.namespace() + "/" + slice.job())
        .orElse("");
  }

  /** Who makes way for a preferred variant that fits. */
  private List<Victim> variantsWithQuota(ReferenceEntry entry) {
    Set<String> uids =
        ReferenceSlices.othersWithQuota(world, entry)
            .map(other -> other.id.uid())
            .collect(Collectors.toSet());
    return planned.holders().stream()
        .filter(holder -> uids.contains(holder.id().uid()))
        .filter(holder -> world.queues.containsKey(holder.queue()))
        .map(holder -> new Victim(holder, PreemptionReason.FLAVOR_MIGRATION))
        .toList();
  }

  /**
   * One that is skipped goes on with its next flavor. Once that led it where it was before, and
   * nothing has changed, it stays there until something does.
   */
  private void comeAround(ReferenceEntry entry, String queue) {
    Walk walk = Objects.requireNonNull(before.get(entry));
    if (!entry.progress.equals(walk.resumed())
        && entry.comesAround(changes(queue) + world.dropsInTree(queue, planned.tree()))) {
      Set<Map<ReferenceAssigner.Progress, Integer>> all = entry.skips;
      asBefore(entry);
      entry.skips = all;
    }
  }

  /** It would preempt, but has to wait for a gate: until then, or until the next flush. */
  private void gate(ReferenceNominated nominated) {
    ReferenceEntry entry = nominated.entry();
    entry.walked = 0;
    if (ReferenceQueues.pauses(nominated.queue().strategy())) {
      world.pause(entry, nominated.queue());
      looked = true;
    } else if (nominated.queue().strategy() == ClusterQueueSpec.QueueingStrategy.BEST_EFFORT_FIFO) {
      entry.aside = true;
      looked = true;
    }
  }

  /** The world when all have gone who were evicted, for this one or for others before. */
  private ReferenceSnapshot withoutTargets(ReferenceNominated nominated) {
    List<ReferenceHolder> without = new ArrayList<>(gone);
    nominated.victims().forEach(victim -> without.add(victim.holder()));
    return planned.without(without);
  }

  private boolean fits(ReferenceNominated nominated, ReferenceSnapshot snapshot) {
    return fitsQuota(nominated, snapshot.tree()) && fitsNodes(nominated, snapshot);
  }

  private boolean fitsNodes(ReferenceNominated nominated, ReferenceSnapshot snapshot) {
    ReferenceNodes nodes = rules.nodes();
    List<ReferenceNodes.Use> wanted = uses(nominated);
    List<ReferenceNodes.Use> others = snapshot.allUses(nodes);
    return nodes.fit(wanted, others)
        && nominated.limit().filter(limit -> !nodes.isAsFree(wanted, limit, others)).isEmpty()
        && nodes.areGroupsTheSame(
            nominated.entry().shape(), nominated.result().podSets(), nominated.uses(), others);
  }

  /** What a head uses of nodes beyond what the slice uses that it replaces. */
  private List<ReferenceNodes.Use> uses(ReferenceNominated nominated) {
    ReferenceNodes nodes = rules.nodes();
    List<PodSetAssignment> replaced =
        nominated.entry().replaced.map(ReplacedSlice::podSets).orElse(List.of());
    return nodes.beyond(nodes.uses(nominated.result().podSets()), nodes.uses(replaced));
  }

  static boolean fitsQuota(ReferenceNominated nominated, ReferenceTree tree) {
    String queue = nominated.queue().name();
    return nominated.result().usage().entrySet().stream()
        .allMatch(
            each ->
                each.getValue() <= tree.available(queue, each.getKey())
                    && (!isGuaranteed(nominated)
                        || each.getValue() <= tree.guaranteedLeft(queue, each.getKey())));
  }

  static boolean isGuaranteed(ReferenceNominated nominated) {
    return nominated.entry().workload().shape().guaranteed()
        && nominated.queue().rules().countsPreemptible();
  }

  private void plan(ReferenceNominated nominated) {
    planned
        .tree()
        .add(nominated.queue().name(), nominated.result().usage(), isGuaranteed(nominated));
    TopologyFlaw flaw = rules.nodes().flaw;
    boolean fits = nominated.result().mode() == Mode.FIT;
    if (flaw != (fits ? TopologyFlaw.ADMITTED_TAKE_NO_PLACES : TopologyFlaw.NO_PLACES_ARE_KEPT)) {
      planned.uses().addAll(uses(nominated));
    }
  }

  /** Whether a head waits for quota, and for nothing else: not for others to be evicted, either. */
  boolean lacksQuota(ReferenceEntry head, ClusterQueueSpec queue) {
    return mayBeAdmitted(head, queue) && considered(head, queue).inVain();
  }

  /**
   * What one that isn't the head gets now, without preemption, beside all that the heads of other
   * queues in its tree claim; nothing if it doesn't fit.
   *
   * @param closed flavors that it may not get
   */
  Optional<ReferenceNominated> besideClaims(
      ReferenceEntry entry, ClusterQueueSpec queue, Set<String> closed) {
    if (!mayBeAdmitted(entry, queue)
        || (rules.blocking() && world.awaitsPods())
        || ReferenceSlices.othersWithQuota(world, entry).findAny().isPresent()) {
      return Optional.empty();
    }
    for (String other : planned.tree().tree(queue.name())) {
      if (!other.equals(queue.name())) {
        claim(Objects.requireNonNull(world.queues.get(other)));
      }
    }
    ReferenceNominated nominated =
        new ReferenceNominator(rules.without(closed).withoutPreemption(), world.reservations)
            .consider(entry, queue, planned, Map.of(), Map.of());
    return Optional.of(nominated)
        .filter(each -> each.result().mode() == Mode.FIT)
        .filter(each -> fits(each, planned) && fits(each, held))
        .filter(
            each ->
                !world.budgets.refuses(entry, queue.name(), each.result().usage())
                    && !world.reservations.refuses(
                        entry, queue.name(), each.result(), planned.tree(), Set.of()));
  }

  private void claim(ClusterQueueSpec queue) {
    if (!world.active(queue) || parking.isBlocked(queue.name())) {
      return;
    }
    world.waitingIn(queue.name()).stream()
        .filter(entry -> !parking.isParked(entry, queue.name(), held.tree()))
        .findFirst()
        .filter(head -> mayBeAdmitted(head, queue))
        .map(head -> considered(head, queue, held))
        .ifPresent(
            nominated -> {
              boolean strict = queue.strategy() == ClusterQueueSpec.QueueingStrategy.STRICT_FIFO;
              if (strict && reserves(nominated)) {
                planned
                    .tree()
                    .add(
                        queue.name(), reservation(nominated, held.tree()), isGuaranteed(nominated));
              } else if (!nominated.inVain()) {
                plan(nominated);
              }
            });
  }

  /** Whether nothing but quota and places is asked about. */
  private boolean mayBeAdmitted(ReferenceEntry entry, ClusterQueueSpec queue) {
    return world.namespaceMatches(entry)
        && entry.workload().defect().isEmpty()
        && !atLocalLimit(entry)
        && !world.budgets.refuses(entry, queue.name())
        && !atLimit(queue);
  }

  Admission admit(ReferenceNominated nominated) {
    ReferenceEntry entry = nominated.entry();
    String queue = nominated.queue().name();
    Result result = nominated.result();
    looked = true;
    parking.fits(entry, queue);
    world.changed(queue);
    held.tree().add(queue, result.usage(), isGuaranteed(nominated));
    held.uses().addAll(uses(nominated));
    PendingWorkload workload = entry.workload();
    entry.holding =
        new ReferenceEntry.Holding(
            queue,
            workload.localQueue(),
            result.podSets(),
            workload.priority(),
            workload.queuedAt(),
            world.now,
            false,
            false,
            false,
            workload.evictable(),
            workload.shape().guaranteed(),
            Optional.of(workload.version()),
            workload.shape().slice(),
            new PreemptionProtection(
                workload.shape().preemption(),
                new PreemptionHistory(Optional.empty(), workload.history().preemptedAt())));
    world.budgets.starts(entry.id.uid(), workload.shape().run());
    world.repeats.hasQuota(entry.id.uid());
    return new Admission(entry.id, workload.version(), queue, result.podSets());
  }

  private Optional<Decided> preempt(ReferenceNominated nominated, List<Victim> victims) {
    ReferenceEntry entry = nominated.entry();
    String queue = nominated.queue().name();
    Map<String, Decided.Victim> evicted = new TreeMap<>();
    for (Victim victim : victims) {
      ReferenceHolder holder = victim.holder();
      gone.add(holder);
      if (!holder.evicted()) {
        ReferenceEntry other = Objects.requireNonNull(world.workloads.get(holder.id().uid()));
        other.eviction = Optional.of(other.version);
        world.repeats.add(entry.id.uid(), holder.id().uid(), queue, world.now);
        world.changed(holder.queue());
        evicted.put(
            holder.id().uid(),
            new Decided.Victim(
                holder.id(),
                holder.version(),
                planned.tree().path(holder.queue()),
                holder.priority(),
                victim.reason(),
                holder
                    .protection()
                    .classRules()
                    .or(planned.tree().preemptionRules(holder.queue()))));
      }
    }
    entry.walked = 0;
    if (evicted.isEmpty()) {
      return Optional.empty(); // waits for those who are on their way out
    }
    looked = true;
    world.sticky.put(queue, entry.id.uid());
    return Optional.of(
        new Preemption(
            entry.id,
            entry.version,
            queue,
            planned.tree().path(queue),
            entry.workload().priority(),
            evicted));
  }

  private void remember(ReferenceNominated nominated) {
    ReferenceEntry entry = nominated.entry();
    entry.progress =
        nominated.result().untriedFlavorsLeft() ? nominated.result().progress() : Map.of();
    entry.progressGeneration = generations.getOrDefault(nominated.queue().name(), 0L);
    entry.progressCycle = number;
    entry.skips = Objects.requireNonNull(before.get(entry)).skips();
  }

  /** Whether quota is kept free for one that would have to preempt, but finds no victims. */
  static boolean reserves(ReferenceNominated nominated) {
    return nominated.inVain()
        && nominated.result().mode() != Mode.NO_FIT
        && nominated.queue().preemption().reclaimWithinCohort() != ReclaimWithinCohort.ANY;
  }

  /** What is kept free for one that {@link #reserves}. */
  static Map<FlavorResource, Long> reservation(ReferenceNominated nominated, ReferenceTree tree) {
    String queue = nominated.queue().name();
    Map<FlavorResource, Long> reserved = new HashMap<>();
    nominated
        .result()
        .usage()
        .forEach(
            (pair, request) -> {
              Quota quota = tree.quotaOfQueue(queue, pair);
              long used = tree.usageOfQueue(queue, pair);
              long amount;
              if (nominated.result().borrowLevel() == 0) {
                amount = Math.max(0, Math.min(request, quota.nominal() - used));
              } else if (quota.borrowingLimit() == ResourceAmounts.UNLIMITED) {
                amount = request;
              } else {
                amount =
                    Math.max(0, Math.min(request, quota.nominal() + quota.borrowingLimit() - used));
              }
              reserved.put(pair, amount);
            });
    return reserved;
  }

  private void requeue(ReferenceNominated nominated) {
    ReferenceEntry entry = nominated.entry();
    if (walksOn(nominated)) {
      entry.walked++;
      looked = true;
      remember(nominated);
    } else {
      boolean strict =
          nominated.queue().strategy() == ClusterQueueSpec.QueueingStrategy.STRICT_FIFO;
      // It stays in line, but doesn't walk in circles: a change in its tree lets it walk again.
      boolean blocked =
          parking.blocks() && !parking.stands(nominated.result(), nominated.queue().name());
      boolean inVain = strict && !blocked && entry.walked > 0;
      entry.walked = inVain ? rules.longestWalk() : 0;
      entry.walkedInVain =
          inVain
              ? Optional.of(changesBefore.getOrDefault(nominated.queue().name(), 0L))
              : Optional.empty();
      looked |= !strict;
      if (!strict && reserves(nominated)) {
        world.drops.merge(nominated.queue().name(), 1L, Long::sum);
      }
      parking.park(
          entry,
          nominated.queue().name(),
          nominated.queue().strategy(),
          nominated.result(),
          changesBefore.getOrDefault(nominated.queue().name(), 0L));
    }
  }
}
