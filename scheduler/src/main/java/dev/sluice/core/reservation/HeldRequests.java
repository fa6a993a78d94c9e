package dev.sluice.core.reservation;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.waiting.HeldBack;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which of the held Workloads would be in the way of what is kept whichever flavors they get, and
 * whomever they preempt (docs/reservations.md#who-is-looked-at-again). True for a moment: to be
 * made anew when anything has changed.
 */
final class HeldRequests implements HeldBack {

  /** What a pod set would get at least of one flavor of a resource group. */
  private static final class Option {
    private final String flavor;
    private final PairAmount[] pairAmounts;

    private Option(String flavor, PairAmount[] pairAmounts) {
      this.flavor = flavor;
      this.pairAmounts = pairAmounts;
    }
  }

  /**
   * The choices that each member of a class has to make that is of one LocalQueue: one option of
   * each.
   */
  private static final class Choices implements Request {
    private final LocalQueueId localQueue;
    private final long priority;
    private final Option[][] all;

    /** The same for another LocalQueue; null if there is none. */
    private final @Nullable Choices next;

    /** What is kept near them, and of which of that they are users. */
    private List<ReservedCapacity> near = List.of();

    private boolean[] users = {};

    /** In which look somebody asked last, and what was told. */
    private long look;

    private long heldFrom;

    private Choices(QueuedWorkload workload, Option[][] all, @Nullable Choices next) {
      this.localQueue = workload.localQueue();
      this.priority = workload.equivalenceClass().priority();
      this.all = all;
      this.next = next;
    }

    private void isNear(List<ReservedCapacity> kept, ClusterQueueCache queue) {
      if (near != kept) {
        near = kept;
        users = new boolean[kept.size()];
        for (int i = 0; i < users.length; i++) {
          users[i] = Reservations.isUser(localQueue, priority, queue, kept.get(i));
        }
      }
    }
  }

  /**
   * From which amount on a queue takes what is kept: more takes it, too, and less doesn't, so that
   * few amounts of many are tried.
   */
  private static final class TakenFrom {
    private final int pair;

    /** How much has to be left. */
    private final long needed;

    private long least = Long.MAX_VALUE;
    private long less;

    private TakenFrom(int pair, long needed) {
      this.pair = pair;
      this.needed = needed;
    }
  }

  /**
   * Something that is kept, which one of a queue may be in the way of: runs that last longer than
   * until then disturb.
   *
   * @param number where it stands in what is kept near the queue
   * @param moment the queue of which it is kept, at that time; null if it is kept of flavors
   * @param takenFrom the pairs that are kept of that queue
   */
  private record Block(
      ReservedCapacity reserved,
      int number,
      Occurrence occurrence,
      long at,
      @Nullable QueueMoment moment,
      List<TakenFrom> takenFrom) {}

  private final Reservations reservations;
  private final Reservations.Lookup lookup;
  private final Known known;
  private final long look;

  /** What those of a queue may be in the way of, the first thing that is kept first. */
  private final Map<ClusterQueueCache, List<Block>> blocks = new HashMap<>();

  /** The runs whose use of a pair is out of the quota tree while amounts are tried. */
  private QueueMoment.@Nullable Gone takenOut;

  private int takenOutPair;

  /**
   * The choices of classes, without what is kept of them: as long as the quota trees stay as they
   * are.
   */
  static final class Known {
    private static final int MOST = 100_000;
    private final Map<EquivalenceClass, Choices> choices = new IdentityHashMap<>();
    private long looks;

    void clear() {
      choices.clear();
    }
  }

  /**
   * Works it out as far as that depends on who waits.
   *
   * @param known what was found out of classes before
   * @param roots the roots of the trees of those that will be asked about
   */
  HeldRequests(
      Reservations reservations,
      Reservations.Lookup lookup,
      Known known,
      Collection<QuotaNode> roots) {
    this.reservations = reservations;
    this.lookup = lookup;
    this.known = known;
    this.look = ++known.looks;
    if (known.choices.size() > Known.MOST) {
      known.clear();
    }
    for (QuotaNode rootNode : roots) {
      if (reservations.lends(rootNode)) {
        lookup.queuesBelow(rootNode).forEach(this::blocksOf);
      }
    }
  }

  private List<Block> blocksOf(ClusterQueueCache queue) {
    return blocks.computeIfAbsent(queue, this::findBlocks);
  }

  private List<Block> findBlocks(ClusterQueueCache queue) {
    List<Block> found = new ArrayList<>();
    List<ReservedCapacity> near = reservations.near(queue.node().root());
    for (int i = 0; i < near.size(); i++) {
      for (Occurrence occurrence : near.get(i).occurrences()) {
        Block block = blockOf(queue, near.get(i), i, occurrence);
        if (block != null) {
          found.add(block);
        }
      }
    }
    return found;
  }

  private @Nullable Block blockOf(
      ClusterQueueCache queue, ReservedCapacity reserved, int number, Occurrence occurrence) {
    long at = reservations.from(occurrence);
    if (at == Reservations.NEVER) {
      return null;
    }
    return switch (reserved.scope()) {
      case Scope.OfFlavors _ ->
          leaves(queue, queue, at)
              ? null
              : new Block(reserved, number, occurrence, at, null, List.of());
      case Scope.OfQueue(var name, var shares) -> {
        ClusterQueueCache keptQueue = lookup.queue(name);
        if (keptQueue == null || leaves(keptQueue, queue, at)) {
          yield null;
        }
        QueueMoment moment = reservations.moment(keptQueue, at);
        List<TakenFrom> takenFrom = new ArrayList<>(1);
        for (int pair : queue.pairs()) {
          if (QueueMoment.share(shares, lookup.pair(pair)) > 0) {
            takenFrom.add(
                new TakenFrom(
                    pair,
                    moment.needed(pair, other -> other != reserved, moment.mayTakeBack(queue))));
          }
        }
        yield takenFrom.isEmpty()
            ? null
            : new Block(reserved, number, occurrence, at, moment, takenFrom);
      }
      // Whether it gets places on these nodes is known only when it is placed.
      case Scope.OfNodes _ -> null;
    };
  }

  /** Whether it makes room for what is kept when that begins. */
  private boolean leaves(ClusterQueueCache keptQueue, ClusterQueueCache queue, long at) {
    return reservations.isLater(at) && QueueMoment.allowsPreemption(keptQueue, queue);
  }

  @Override
  public long[] longest(ClusterQueueCache queue, List<Request> requests) {
    long[] longest = new long[requests.size()];
    for (int i = 0; i < longest.length; i++) {
      long from = heldFrom(queue, (Choices) requests.get(i));
      longest[i] =
          from == Reservations.NEVER || from == Long.MIN_VALUE
              ? from
              : from - reservations.present();
    }
    giveBack();
    return longest;
  }

  @Override
  public boolean isHeldBack(ClusterQueueCache queue, QueuedWorkload workload) {
    long from = heldFrom(queue, choicesOf(queue, workload));
    giveBack();
    return from != Reservations.NEVER && from < reservations.end(workload);
  }

  @Override
  public Request request(ClusterQueueCache queue, QueuedWorkload workload) {
    return choicesOf(queue, workload);
  }

  private Choices choicesOf(ClusterQueueCache queue, QueuedWorkload workload) {
    EquivalenceClass equivalenceClass = workload.equivalenceClass();
    Choices first = known.choices.get(equivalenceClass);
    Choices choices = first;
    while (choices != null && !choices.localQueue.equals(workload.localQueue())) {
      choices = choices.next;
    }
    if (choices == null) {
      Option[][] all = first == null ? choices(equivalenceClass, queue) : first.all;
      choices = new Choices(workload, all, first);
      known.choices.put(equivalenceClass, choices);
    }
    return choices;
  }

  /** The latest end of a run that isn't in the way; {@link Reservations#NEVER} if none is. */
  private long heldFrom(ClusterQueueCache queue, Choices choices) {
    if (choices.look != look) {
      choices.look = look;
      choices.isNear(reservations.near(queue.node().root()), queue);
      List<Block> ofQueue = blocksOf(queue);
      long first = Reservations.NEVER;
      for (Option[] choice : choices.all) {
        long last = Long.MIN_VALUE;
        for (Option option : choice) {
          last = Math.max(last, blockedFrom(queue, option, choices, ofQueue));
        }
        first = Math.min(first, last);
      }
      choices.heldFrom = first;
    }
    return choices.heldFrom;
  }

  /** When the first thing begins that is kept of it; {@link Reservations#NEVER} if nothing is. */
  private long blockedFrom(
      ClusterQueueCache queue, Option option, Choices choices, List<Block> ofQueue) {
    long from = Reservations.NEVER;
    for (int i = 0; i < ofQueue.size(); i++) {
      Block block = ofQueue.get(i);
      if (block.at < from && !choices.users[block.number] && blocks(queue, option, block)) {
        from = block.at;
      }
    }
    return from;
  }

  @Override
  public Explanation explanation(ClusterQueueCache queue, QueuedWorkload workload) {
    Block block = Objects.requireNonNull(blockOf(queue, workload));
    giveBack();
    return reservations.held(block.reserved, block.occurrence, reservations.end(workload));
  }

  /** What is in the way of a choice of which no option is left; null if each has one. */
  private @Nullable Block blockOf(ClusterQueueCache queue, QueuedWorkload workload) {
    long end = reservations.end(workload);
    for (Option[] choice : choicesOf(queue, workload).all) {
      Block first = null;
      for (Option option : choice) {
        Block block = blockOf(queue, option, workload, end);
        if (block == null) {
          first = null;
          break;
        }
        first = first == null ? block : first;
      }
      if (first != null) {
        return first;
      }
    }
    return null;
  }

  private @Nullable Block blockOf(
      ClusterQueueCache queue, Option option, QueuedWorkload workload, long end) {
    for (Block block : blocksOf(queue)) {
      if (block.at < end
          && !Reservations.isUser(workload, queue, block.reserved)
          && blocks(queue, option, block)) {
        return block;
      }
    }
    return null;
  }

  private Option[][] choices(EquivalenceClass equivalenceClass, ClusterQueueCache queue) {
    List<Option[]> all = new ArrayList<>();
    // A slice is charged for what it has more than the slice before it.
    if (equivalenceClass.shape().slice().isPresent()) {
      return new Option[0][];
    }
    for (PodSetRequest podSet : equivalenceClass.shape().podSets()) {
      int count = podSet.minCount();
      for (ResourceGroup group : queue.spec().groups()) {
        List<Option> choice = new ArrayList<>();
        for (ResourceGroup.FlavorQuotas flavor : group.flavors()) {
          List<PairAmount> usage = new ArrayList<>();
          podSet
              .perPod()
              .forEach(
                  (resource, each) -> {
                    if (group.resources().contains(resource) && each > 0 && count > 0) {
                      usage.add(
                          new PairAmount(
                              lookup.number(flavor.flavor(), resource),
                              ResourceAmounts.multiply(each, count)));
                    }
                  });
          choice.add(new Option(flavor.flavor(), usage.toArray(PairAmount[]::new)));
        }
        if (choice.stream().noneMatch(option -> option.pairAmounts.length == 0)) {
          all.add(choice.toArray(Option[]::new));
        }
      }
    }
    return all.toArray(Option[][]::new);
  }

  private boolean blocks(ClusterQueueCache queue, Option option, Block block) {
    QueueMoment moment = block.moment;
    if (moment == null) {
      return block.reserved.scope() instanceof Scope.OfFlavors(var flavors)
          && flavors.contains(option.flavor);
    }
    for (PairAmount each : option.pairAmounts) {
      for (int j = 0; j < block.takenFrom.size(); j++) {
        TakenFrom takenFrom = block.takenFrom.get(j);
        if (takenFrom.pair == each.pair() && takes(queue, each, moment, takenFrom)) {
          return true;
        }
      }
    }
    return false;
  }

  private void takeOut(QueueMoment.Gone gone, int pair) {
    if (takenOut != gone || takenOutPair != pair) {
      giveBack();
      gone.takeOut(pair);
      takenOut = gone;
      takenOutPair = pair;
    }
  }

  private void giveBack() {
    QueueMoment.Gone gone = takenOut;
    if (gone != null) {
      gone.giveBack(takenOutPair);
      takenOut = null;
    }
  }

  private boolean takes(
      ClusterQueueCache queue, PairAmount pairAmount, QueueMoment moment, TakenFrom takenFrom) {
    long amount = pairAmount.amount();
    if (amount > takenFrom.less && amount < takenFrom.least) {
      boolean preempting = queue.mayPreempt();
      QueueMoment.Gone gone = preempting ? moment.goneWithEvictable() : moment.gone();
      takeOut(gone, takenFrom.pair);
      if (moment.takes(queue, pairAmount, takenFrom.needed)
          || (!preempting && moment.lacks(queue, pairAmount, takenFrom.needed))) {
        takenFrom.least = amount;
      } else {
        takenFrom.less = amount;
      }
    }
    return amount >= takenFrom.least;
  }
}
