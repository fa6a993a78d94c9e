package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.waiting.CycleHeads.QueueHead;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Held Workloads that may start after a release of quota in their trees: a preemption gate is
 * closed, a budget has too little left, or a reservation keeps what they would get. Before each
 * cycle those return to their queues that may start. Where a queue has many of them it is enough
 * that the first one returns, in queue order: a cycle evaluates one Workload of each queue, and the
 * next one returns before the next cycle, unless it is held back by then. Confined to the scheduler
 * thread.
 */
final class GatedWorkloads {

  /** A held Workload. */
  private static final class Gated {
    private static final Comparator<Gated> BY_AGE =
        Comparator.comparing(each -> each.workload, QueuedWorkload.BY_PRIORITY_AND_AGE);

    private final QueuedWorkload workload;

    /** How long it runs at most. */
    private final long longest;

    /** Whether it is held since the last release. */
    private boolean since = true;

    private @Nullable Gated olderGated;
    private @Nullable Gated youngerGated;

    private Gated(QueuedWorkload workload, long longest) {
      this.workload = workload;
      this.longest = longest;
    }
  }

  /** Held members of a class that are of one LocalQueue: reservations treat them alike. */
  private static final class Group {
    private final Tree tree;
    private final EquivalenceClass equivalenceClass;

    /** Whether they may return later, because only a reservation holds them. */
    private final boolean onlyReserved;

    /** Those held since the last release. */
    private final Set<Gated> since = new LinkedHashSet<>();

    /** The oldest of those held before, each of which knows the next one. */
    private @Nullable Gated oldestGated;

    /** None of those held before runs shorter. */
    private long shortest = Long.MAX_VALUE;

    /**
     * How long those may run at most that could start at all looks since the last release; {@link
     * Long#MIN_VALUE} if none could.
     */
    private long mayStart = Long.MIN_VALUE;

    /** None of those before it could start; null if none could at all. */
    private @Nullable Gated first;

    /** The last release of the tree that it knows of. */
    private long asOf;

    /** What they ask for; null until somebody holds any back. */
    private HeldBack.@Nullable Request request;

    private Group(Tree tree, EquivalenceClass equivalenceClass, boolean onlyReserved) {
      this.tree = tree;
      this.equivalenceClass = equivalenceClass;
      this.onlyReserved = onlyReserved;
      this.asOf = tree.numberOfReleases;
    }

    private void insertSince() {
      List<Gated> sorted = new ArrayList<>(since);
      since.clear();
      sorted.sort(Gated.BY_AGE);
      Gated last = null;
      for (Gated each : sorted) {
        last = insert(each, last);
      }
    }

    /** After a release all may start, until a look finds otherwise. */
    private void update() {
      if (asOf != tree.numberOfReleases) {
        asOf = tree.numberOfReleases;
        mayStart = Long.MAX_VALUE;
        first = oldestGated;
      }
    }

    private boolean mayStart(Gated gated) {
      update();
      return gated.longest <= mayStart && !gated.since;
    }

    private HeldBack.Request request(HeldBack heldBack, ClusterQueueCache queue, Gated gated) {
      HeldBack.Request known = request;
      if (known == null) {
        known = heldBack.request(queue, gated.workload);
        request = known;
      }
      return known;
    }

    /** Inserts one that is younger than {@code last}, and returns it. */
    private Gated insert(Gated gated, @Nullable Gated last) {
      Gated olderGated = last;
      Gated youngerGated = last == null ? oldestGated : last.youngerGated;
      while (youngerGated != null && Gated.BY_AGE.compare(youngerGated, gated) < 0) {
        olderGated = youngerGated;
        youngerGated = youngerGated.youngerGated;
      }
      gated.since = false;
      gated.olderGated = olderGated;
      gated.youngerGated = youngerGated;
      if (olderGated == null) {
        oldestGated = gated;
      } else {
        olderGated.youngerGated = gated;
      }
      if (youngerGated != null) {
        youngerGated.olderGated = gated;
      }
      shortest = Math.min(shortest, gated.longest);
      return gated;
    }

    private void limit(long longest) {
      update();
      mayStart = Math.min(mayStart, longest);
    }

    private boolean isEmpty() {
      return oldestGated == null && since.isEmpty();
    }

    /** The oldest one that could start so far. */
    private @Nullable Gated first() {
      update();
      Gated next = mayStart < shortest ? null : first;
      while (next != null && next.longest > mayStart) {
        // Those before it can't start either until the next release.
        next = next.youngerGated;
      }
      first = next;
      if (next == null) {
        mayStart = Long.MIN_VALUE;
      }
      return next;
    }

    private void drop(Gated gated) {
      update();
      if (gated.since) {
        since.remove(gated);
        tree.anyEmpty |= isEmpty();
        return;
      }
      Gated olderGated = gated.olderGated;
      Gated youngerGated = gated.youngerGated;
      if (first == gated) {
        first = youngerGated;
      }
      if (olderGated == null) {
        oldestGated = youngerGated;
      } else {
        olderGated.youngerGated = youngerGated;
      }
      if (youngerGated != null) {
        youngerGated.olderGated = olderGated;
      }
      if (oldestGated == null) {
        shortest = Long.MAX_VALUE;
        tree.anyEmpty |= since.isEmpty();
      }
    }
  }

  private record GroupKey(
      EquivalenceClass equivalenceClass, LocalQueueId localQueue, boolean onlyReserved) {}

  /** Those of a quota tree. */
  private static final class Tree {
    private static final Comparator<ClusterQueueCache> BY_NAME =
        Comparator.comparing(ClusterQueueCache::name);

    private final Map<ClusterQueueCache, Map<GroupKey, Group>> queues = new TreeMap<>(BY_NAME);

    /** Groups of which any is held since the last release. */
    private final Set<Group> withSince = new LinkedHashSet<>();

    /** Counts releases, as far as they change who may start. */
    private long numberOfReleases;

    /** Whether a group may be empty. */
    private boolean anyEmpty;

    /** Whether quota was released since the last look. */
    private boolean released;
  }

  private record Place(ClusterQueueCache queue, GroupKey key, Gated gated) {}

  private final WaitingWorkloads.CycleContext context;
  private final Consumer<ClusterQueueCache> activation;
  private final BiPredicate<ClusterQueueCache, EquivalenceClass> lacksStill;
  private final Map<QuotaNode, Tree> trees = new HashMap<>();
  private final Map<QueuedWorkload, Place> places = new HashMap<>();

  /** Roots of the trees of which some may start. */
  private final Set<QuotaNode> open = new LinkedHashSet<>();

  /** In how many trees quota was released since the last look. */
  private int releases;

  /** Whether it is found out who may start. */
  private boolean looking;

  /**
   * Workloads that were gated, and have not been the head of a cycle since; none while nobody holds
   * any back.
   */
  private final Map<QueuedWorkload, ClusterQueueCache> returned = new LinkedHashMap<>();

  /**
   * There are none yet.
   *
   * @param context what those that return depend on
   * @param activation activates a queue whose head may have changed
   * @param lacksStill whether the next cycle can't find that an inadmissible class fits
   */
  GatedWorkloads(
      WaitingWorkloads.CycleContext context,
      Consumer<ClusterQueueCache> activation,
      BiPredicate<ClusterQueueCache, EquivalenceClass> lacksStill) {
    this.context = context;
    this.activation = activation;
    this.lacksStill = lacksStill;
  }

  /**
   * Those that wait for a release, those that may start after one, and those that returned and
   * weren't evaluated yet, as a value.
   */
  WaitingExport.GatedWorkloadsExport export(ExportedNames names) {
    return new WaitingExport.GatedWorkloadsExport(
        export(names, false),
        export(names, true),
        exportReturned(names),
        open.stream()
            .filter(rootNode -> trees.get(rootNode) instanceof Tree tree && !tree.released)
            .map(ExportedNames::nameOf)
            .toList());
  }

  private List<WaitingExport.GatedExport> export(ExportedNames names, boolean mayStart) {
    List<WaitingExport.GatedExport> exported = new ArrayList<>();
    places.forEach(
        (workload, place) -> {
          Group group = groupOf(place);
          boolean starts = group != null && group.mayStart(place.gated);
          if (starts == mayStart && names.isQueued(workload)) {
            exported.add(new WaitingExport.GatedExport(place.queue.name(), workload.id().uid()));
          }
        });
    exported.sort(
        Comparator.comparing(WaitingExport.GatedExport::clusterQueue)
            .thenComparing(WaitingExport.GatedExport::uid));
    return exported;
  }

  private List<WaitingExport.GatedExport> exportReturned(ExportedNames names) {
    List<WaitingExport.GatedExport> exported = new ArrayList<>();
    returned.forEach(
        (workload, queue) -> {
          if (names.isQueued(workload)) {
            exported.add(new WaitingExport.GatedExport(queue.name(), workload.id().uid()));
          }
        });
    return exported;
  }

  /** Takes a state over, where there is none. */
  void restore(WaitingExport.GatedWorkloadsExport gatedWorkloadsExport, ExportedNames names) {
    restore(gatedWorkloadsExport.ungated(), names, this::add);
    List<QuotaNode> roots = List.copyOf(trees.keySet());
    roots.forEach(this::released);
    for (WaitingExport.TreeRoot each : gatedWorkloadsExport.treesLookedAt()) {
      QuotaNode rootNode = names.root(each);
      if (rootNode != null && trees.get(rootNode) instanceof Tree tree && tree.released) {
        tree.released = false;
        releases--;
      }
    }
    restore(gatedWorkloadsExport.gated(), names, this::add);
    restore(
        gatedWorkloadsExport.returned(), names, (queue, workload) -> returned.put(workload, queue));
  }

  private static void restore(
      List<WaitingExport.GatedExport> exported,
      ExportedNames names,
      BiConsumer<ClusterQueueCache, QueuedWorkload> action) {
    for (WaitingExport.GatedExport each : exported) {
      ClusterQueueCache queue = names.queue(each.clusterQueue());
      QueuedWorkload workload = names.queued(each.uid());
      if (queue != null && workload != null) {
        action.accept(queue, workload);
      }
    }
  }

  /** Adds a held Workload, which returns after any release of quota in its tree if it may start. */
  void add(ClusterQueueCache queue, QueuedWorkload workload) {
    remove(workload);
    Explanation reason = workload.explanation();
    boolean onlyReserved =
        reason != null
            && reason.detail().startsWith(Explanation.CAPACITY_RESERVED)
            && workload.equivalenceClass().shape().slice().isEmpty();
    GroupKey key = new GroupKey(workload.equivalenceClass(), workload.localQueue(), onlyReserved);
    Gated gated = new Gated(workload, context.longest(workload));
    Tree tree = trees.computeIfAbsent(queue.node().root(), any -> new Tree());
    Group group =
        tree.queues
            .computeIfAbsent(queue, any -> new LinkedHashMap<>())
            .computeIfAbsent(
                key, any -> new Group(tree, workload.equivalenceClass(), onlyReserved));
    group.since.add(gated);
    tree.withSince.add(group);
    places.put(workload, new Place(queue, key, gated));
  }

  private void remove(QueuedWorkload workload) {
    Place place = places.remove(workload);
    Group group = place == null ? null : groupOf(place);
    if (place != null && group != null) {
      group.drop(place.gated);
    }
  }

  private Collection<Group> groupsOf(ClusterQueueCache queue) {
    Tree tree = trees.get(queue.node().root());
    return tree == null ? List.of() : tree.queues.getOrDefault(queue, Map.of()).values();
  }

  private @Nullable Group groupOf(Place place) {
    Tree tree = trees.get(place.queue.node().root());
    return tree == null ? null : tree.queues.getOrDefault(place.queue, Map.of()).get(place.key);
  }

  /** Records that quota was released in the tree with a root. */
  void released(QuotaNode rootNode) {
    Tree tree = trees.get(rootNode);
    if (tree == null) {
      return;
    }
    if (!tree.released) {
      if (!open.add(rootNode)) {
        returnAll(tree);
      }
      tree.released = true;
      releases++;
    } else if (tree.withSince.isEmpty()) {
      return;
    }
    tree.numberOfReleases++;
    tree.withSince.forEach(Group::insertSince);
    tree.withSince.clear();
  }

  /** Whether quota was released in any tree since the last look. */
  boolean hasReleases() {
    return releases > 0;
  }

  /**
   * Records that a Workload leaves its class, or is held; to be called before it does. If it is the
   * last one of an inadmissible class that isn't held, another one returns that could start at the
   * last look: what the class lacks is still known then.
   */
  void leavesClass(QueuedWorkload workload) {
    if (!open.isEmpty() && isLastOfInadmissible(workload)) {
      for (QuotaNode rootNode : open) {
        Tree tree = trees.get(rootNode);
        if (tree != null && !tree.released) {
          tree.queues.forEach(
              (queue, groups) -> {
                if (queue.pending() == workload.equivalenceClass().queue()) {
                  returnOne(queue, groups.values(), workload, Optional.empty());
                }
              });
        }
      }
    }
  }

  private static boolean isLastOfInadmissible(QueuedWorkload workload) {
    EquivalenceClass equivalenceClass = workload.equivalenceClass();
    return equivalenceClass.explanation() != null
        && equivalenceClass.size() == 1
        && equivalenceClass.head() == workload;
  }

  /** Returns one of the class of a Workload that could start so far, and may start now. */
  private void returnOne(
      ClusterQueueCache queue,
      Collection<Group> groups,
      QueuedWorkload workload,
      Optional<HeldBack> heldBack) {
    for (Group group : groups) {
      if (group.equivalenceClass != workload.equivalenceClass()) {
        continue;
      }
      Gated first = firstHeld(queue, group);
      if (first != null && heldBack.isPresent()) {
        HeldBack.Request request = group.request(heldBack.get(), queue, first);
        group.limit(heldBack.get().longest(queue, List.of(request))[0]);
        first = firstHeld(queue, group);
      }
      if (first != null) {
        returns(queue, group, first, true);
        return;
      }
    }
  }

  /** Records that a Workload is the head of a cycle, or leaves its queue. */
  void notReturned(QueuedWorkload workload) {
    if (!places.isEmpty()) {
      remove(workload);
    }
    if (!returned.isEmpty()) {
      returned.remove(workload);
    }
  }

  /**
   * Returns Workloads to their queues that are still held, and in whose trees quota was released.
   * Those that can't start either, and those that could then and can't any more, wait for another
   * release. Called before each cycle.
   */
  void look() {
    if (open.isEmpty() && returned.isEmpty()) {
      return;
    }
    looking = true;
    returned.entrySet().removeIf(each -> each.getValue().pending().isHeld(each.getKey()));
    for (QuotaNode rootNode : open) {
      Tree tree = trees.get(rootNode);
      if (tree != null && tree.anyEmpty) {
        tree.anyEmpty = false;
        tree.queues.values().forEach(groups -> groups.values().removeIf(Group::isEmpty));
      }
    }
    Set<QuotaNode> roots = new LinkedHashSet<>(open);
    returned.values().forEach(queue -> roots.add(queue.node().root()));
    Optional<HeldBack> heldBack = context.heldBack(roots);
    if (heldBack.isEmpty()) {
      returned.clear();
    } else if (!returned.isEmpty()) {
      new LinkedHashMap<>(returned)
          .forEach((each, queue) -> holdAgain(queue, each, heldBack.get()));
    }
    Iterator<QuotaNode> openRoots = open.iterator();
    while (openRoots.hasNext()) {
      QuotaNode rootNode = openRoots.next();
      Tree tree = trees.get(rootNode);
      if (tree == null || !look(rootNode, tree, heldBack)) {
        openRoots.remove();
      }
    }
    releases = 0;
    looking = false;
  }

  /** The first one that could start so far, without those that aren't held any more. */
  private @Nullable Gated firstHeld(ClusterQueueCache queue, Group group) {
    Gated first = group.first();
    while (first != null && !queue.pending().isHeld(first.workload)) {
      forget(group, first);
      first = group.first();
    }
    return first;
  }

  private void forget(Group group, Gated gated) {
    group.drop(gated);
    places.remove(gated.workload);
  }

  private void holdAgain(ClusterQueueCache queue, QueuedWorkload workload, HeldBack heldBack) {
    if (!heldBack.isHeldBack(queue, workload)) {
      return;
    }
    returned.remove(workload);
    Explanation explanation = heldBack.explanation(queue, workload);
    if (isLastOfInadmissible(workload)
        && trees.get(queue.node().root()) instanceof Tree tree
        && !tree.released) {
      returnOne(queue, groupsOf(queue), workload, Optional.of(heldBack));
    }
    queue.pending().hold(workload, explanation);
    add(queue, workload);
  }

  /** Looks at a tree; returns whether some of it may start that are still held. */
  private boolean look(QuotaNode rootNode, Tree tree, Optional<HeldBack> heldBack) {
    tree.released = false;
    boolean mayReturnLater = heldBack.isPresent() && context.mayReturnLater(rootNode);
    boolean left = false;
    for (Map.Entry<ClusterQueueCache, Map<GroupKey, Group>> each : tree.queues.entrySet()) {
      ClusterQueueCache queue = each.getKey();
      boolean firstOnly = mayReturnLater && isInPlainOrder(queue);
      List<Group> some = new ArrayList<>();
      List<HeldBack.Request> requests = new ArrayList<>();
      for (Group group : each.getValue().values()) {
        Gated first = firstHeld(queue, group);
        if (first != null) {
          some.add(group);
          heldBack.ifPresent(found -> requests.add(group.request(found, queue, first)));
        }
      }
      if (heldBack.isPresent() && !some.isEmpty()) {
        long[] longest = heldBack.get().longest(queue, requests);
        for (int i = 0; i < longest.length; i++) {
          some.get(i).limit(longest[i]);
        }
      }
      for (Group group : some) {
        if (!firstOnly || !group.onlyReserved) {
          returnAll(queue, group, heldBack.isPresent());
        }
      }
      if (!some.isEmpty()) {
        left |= returnFirst(queue, each.getValue().values());
        activation.accept(queue);
      }
    }
    return left;
  }

  /** Whether the order of those in line depends on nothing but themselves. */
  private static boolean isInPlainOrder(ClusterQueueCache queue) {
    return !queue.queueing().headBlocks()
        && !queue.queueing().backsOff()
        && !queue.pending().isOrderedByUsage()
        && !queue.pending().isPreemptorHeld();
  }

  private void returnAll(ClusterQueueCache queue, Group group, boolean mayBeHeld) {
    for (Gated first = firstHeld(queue, group); first != null; first = firstHeld(queue, group)) {
      returns(queue, group, first, mayBeHeld);
    }
  }

  private void returns(ClusterQueueCache queue, Group group, Gated gated, boolean mayBeHeld) {
    forget(group, gated);
    context.reconsider(new QueueHead(queue, gated.workload));
    if (mayBeHeld) {
      returned.put(gated.workload, queue);
    }
  }

  /**
   * Returns the first of a group to its inadmissible class, if it is its first one then, and if the
   * next cycle may evaluate that; returns whether that was the last of the group that may start.
   */
  private boolean returnToInadmissible(ClusterQueueCache queue, Group group, Gated first) {
    if (lacksStill.test(queue, group.equivalenceClass)
        || !queue.pending().isBefore(first.workload, group.equivalenceClass.head())) {
      return false;
    }
    returns(queue, group, first, true);
    return firstHeld(queue, group) == null;
  }

  /**
   * Returns the first in queue order that may start, unless another Workload comes before it;
   * returns whether more may start.
   */
  private boolean returnFirst(ClusterQueueCache queue, Collection<Group> groups) {
    boolean lacking = false;
    while (true) {
      Group firstGroup = null;
      Gated first = null;
      boolean more = lacking;
      for (Group group : groups) {
        Gated each = firstHeld(queue, group);
        if (each == null) {
          continue;
        }
        if (group.equivalenceClass.explanation() != null) {
          // They don't wait in line, but for what their class lacks: its first one is looked at.
          lacking |= !returnToInadmissible(queue, group, each);
          more |= lacking;
          continue;
        }
        more |= first != null;
        if (first == null || queue.pending().isBefore(each.workload, first.workload)) {
          first = each;
          firstGroup = group;
        }
      }
      if (first == null || firstGroup == null) {
        return lacking;
      }
      QueuedWorkload head = queue.pending().head();
      if (head != null && !queue.pending().isBefore(first.workload, head)) {
        return true;
      }
      returns(queue, firstGroup, first, true);
      if (!queue.pending().isHeld(first.workload)) {
        return more || firstHeld(queue, firstGroup) != null;
      }
    }
  }

  /**
   * Whether one that could start at the last look comes before all in line: the next cycle may
   * evaluate it.
   */
  boolean comesFirst(ClusterQueueCache queue) {
    if (isLeft(queue)) {
      QueuedWorkload head = queue.pending().head();
      for (Group group : groupsOf(queue)) {
        Gated first = group.equivalenceClass.explanation() == null ? firstHeld(queue, group) : null;
        if (first != null && (head == null || queue.pending().isBefore(first.workload, head))) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether some of its tree may be left that could start at the last look. */
  private boolean isLeft(ClusterQueueCache queue) {
    QuotaNode rootNode = queue.node().root();
    return !looking
        && !open.isEmpty()
        && open.contains(rootNode)
        && trees.get(rootNode) instanceof Tree tree
        && !tree.released;
  }

  /** Returns all that could start at the last look: something happens that all of them hear of. */
  void returnAll() {
    for (QuotaNode rootNode : open) {
      Tree tree = trees.get(rootNode);
      if (tree != null && !tree.released) {
        returnAll(tree);
      }
    }
  }

  private void returnAll(Tree tree) {
    tree.queues.forEach(
        (queue, groups) -> groups.values().forEach(group -> returnAll(queue, group, true)));
  }

  /** Forgets all, before the trees are rebuilt. */
  void clear() {
    trees.clear();
    places.clear();
    open.clear();
    releases = 0;
    returned.clear();
  }
}
