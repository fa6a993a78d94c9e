package dev.sluice.core.reservation;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PodSetRequest;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Occurrence;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.core.queue.ClusterQueueCache;
import dev.sluice.core.queue.EquivalenceClass;
import dev.sluice.core.queue.QueuedWorkload;
import dev.sluice.core.queue.QuotaHolder;
import dev.sluice.core.quota.QuotaNode;
import dev.sluice.core.scheduling.flavor.Assignment.PairAmount;
import dev.sluice.core.waiting.HeldBack;
import dev.sluice.core.waiting.QueueHead;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which of the held Workloads would be in the way of what is kept whichever flavors they get, and
 * whomever they preempt (docs/reservations.md#who-is-looked-at-again). True for a moment: to be
 * made anew when anything has changed.
 */
final class HeldRequests implements HeldBack {

  /** What a pod set would get at least of one flavor of a resource group. */
  private static final class Option {
    private final ClusterQueueCache queue;
    private final String flavor;
    private final List<PairAmount> usage;

    /** What is kept of it, the first one first: runs that last longer than until then disturb. */
    private final List<Block> blocks = new ArrayList<>(2);

    private Option(ClusterQueueCache queue, String flavor, List<PairAmount> usage) {
      this.queue = queue;
      this.flavor = flavor;
      this.usage = usage;
    }

    /** When the first thing begins that is kept of it; {@link Reservations#NEVER} if nothing is. */
    private long blockedFrom(QueuedWorkload workload) {
      long from = Reservations.NEVER;
      for (Block block : blocks) {
        if (block.at < from && !Reservations.isUser(workload, queue, block.reserved)) {
          from = block.at;
        }
      }
      return from;
    }

    private @Nullable Block blockOf(QueuedWorkload workload, long end) {
      for (Block block : blocks) {
        if (block.at < end && !Reservations.isUser(workload, queue, block.reserved)) {
          return block;
        }
      }
      return null;
    }
  }

  private record Block(ReservedCapacity reserved, long at) {}

  /** The choices that each member of a class has to make: one option of each. */
  private static final class Choices {
    private final List<List<Option>> all;

    /** Of which LocalQueue the last one was that asked, and what it was told. */
    private @Nullable LocalQueueId localQueue;

    private long heldFrom;

    private Choices(List<List<Option>> all) {
      this.all = all;
    }

    /** Forgets what was kept, and adds all options to a list. */
    private void begin(List<Option> options) {
      localQueue = null;
      for (List<Option> choice : all) {
        for (Option option : choice) {
          option.blocks.clear();
          options.add(option);
        }
      }
    }

    /**
     * The latest end of a run that isn't in the way; {@link Reservations#NEVER} if none is. Members
     * of a LocalQueue are users of the same.
     */
    private long heldFrom(QueuedWorkload workload) {
      if (!workload.localQueue().equals(localQueue)) {
        localQueue = workload.localQueue();
        heldFrom = Reservations.NEVER;
        for (List<Option> choice : all) {
          long last = Long.MIN_VALUE;
          for (Option option : choice) {
            last = Math.max(last, option.blockedFrom(workload));
          }
          heldFrom = Math.min(heldFrom, last);
        }
      }
      return heldFrom;
    }
  }

  /**
   * From which amount on a queue takes what is kept: more takes it, too, and less doesn't, so that
   * few amounts of many are tried.
   */
  private static final class TakenFrom {
    /** How much has to be left. */
    private final long needed;

    private long least = Long.MAX_VALUE;
    private long less;

    private TakenFrom(long needed) {
      this.needed = needed;
    }

    private boolean takes(long amount, BooleanSupplier isTaken) {
      if (amount > less && amount < least) {
        if (isTaken.getAsBoolean()) {
          least = amount;
        } else {
          less = amount;
        }
      }
      return amount >= least;
    }
  }

  private final Reservations reservations;
  private final Reservations.Lookup lookup;

  private final Map<EquivalenceClass, Choices> choices = new IdentityHashMap<>();

  /**
   * The choices of classes, without what is kept of them: as long as nobody declares anything else
   * and the quota trees stay as they are.
   */
  static final class Known {
    private static final int MOST = 100_000;
    private final Map<EquivalenceClass, Choices> choices = new IdentityHashMap<>();

    void clear() {
      choices.clear();
    }
  }

  /**
   * Works it out.
   *
   * @param known what was found out of their classes before
   * @param heads Workloads that wait; each stands for those of its class and LocalQueue
   */
  HeldRequests(
      Reservations reservations, Reservations.Lookup lookup, Known known, List<QueueHead> heads) {
    this.reservations = reservations;
    this.lookup = lookup;
    if (known.choices.size() > Math.max(Known.MOST, 2 * heads.size())) {
      known.clear();
    }
    Map<QuotaNode, List<Option>> byTree = new HashMap<>();
    for (QueueHead head : heads) {
      ClusterQueueCache queue = head.queue();
      EquivalenceClass equivalenceClass = head.item().equivalenceClass();
      Choices ofClass =
          known.choices.computeIfAbsent(
              equivalenceClass, any -> new Choices(choices(equivalenceClass, queue)));
      if (choices.put(equivalenceClass, ofClass) == null) {
        ofClass.begin(byTree.computeIfAbsent(queue.node().root(), any -> new ArrayList<>()));
      }
    }
    byTree.forEach(this::block);
  }

  @Override
  public long longest(QueuedWorkload workload) {
    Choices known = choices.get(workload.equivalenceClass());
    long from = known == null ? Reservations.NEVER : known.heldFrom(workload);
    return from == Reservations.NEVER || from == Long.MIN_VALUE
        ? from
        : from - reservations.present();
  }

  @Override
  public boolean isHeldBack(QueuedWorkload workload) {
    Choices known = choices.get(workload.equivalenceClass());
    long from = known == null ? Reservations.NEVER : known.heldFrom(workload);
    return from != Reservations.NEVER && from < reservations.end(workload);
  }

  @Override
  public Explanation explanation(QueuedWorkload workload) {
    Block block = Objects.requireNonNull(blockOf(workload));
    return reservations.held(block.reserved, block.at, reservations.end(workload));
  }

  /** What is in the way of a choice of which no option is left; null if each has one. */
  private @Nullable Block blockOf(QueuedWorkload workload) {
    Choices known = Objects.requireNonNull(choices.get(workload.equivalenceClass()));
    long end = reservations.end(workload);
    for (List<Option> choice : known.all) {
      Block first = null;
      for (Option option : choice) {
        Block block = option.blockOf(workload, end);
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

  private List<List<Option>> choices(EquivalenceClass equivalenceClass, ClusterQueueCache queue) {
    List<List<Option>> all = new ArrayList<>();
    // A slice is charged for what it has more than the slice before it.
    if (equivalenceClass.shape().slice().isPresent() || !reservations.isNear(queue.node().root())) {
      return all;
    }
    for (PodSetRequest podSet : equivalenceClass.shape().podSets()) {
      int count = podSet.minCount() > 0 ? podSet.minCount() : podSet.count();
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
          choice.add(new Option(queue, flavor.flavor(), usage));
        }
        if (choice.stream().noneMatch(option -> option.usage.isEmpty())) {
          all.add(choice);
        }
      }
    }
    return all;
  }

  private void block(QuotaNode rootNode, List<Option> options) {
    for (ReservedCapacity each : reservations.near(rootNode)) {
      for (Occurrence occurrence : each.occurrences()) {
        long at = reservations.from(occurrence);
        if (at != Reservations.NEVER) {
          block(each, at, options);
        }
      }
    }
  }

  private void block(ReservedCapacity reserved, long at, List<Option> options) {
    switch (reserved.scope()) {
      case Scope.OfFlavors(var flavors) ->
          options.stream()
              .filter(option -> flavors.contains(option.flavor))
              .filter(option -> !leaves(option.queue, option.queue, at))
              .forEach(option -> option.blocks.add(new Block(reserved, at)));
      case Scope.OfQueue(var name, var shares) -> {
        ClusterQueueCache keptQueue = lookup.queue(name);
        if (keptQueue != null) {
          QueueMoment moment = reservations.moment(keptQueue, at);
          blockBeside(reserved, shares, moment, false, options);
          blockBeside(reserved, shares, moment, true, options);
        }
      }
      case Scope.OfNodes _ -> {
        // Whether it gets places on these nodes is known only when it is placed.
      }
    }
  }

  /** Whether it makes room for what is kept when that begins. */
  private boolean leaves(ClusterQueueCache keptQueue, ClusterQueueCache queue, long at) {
    return reservations.isLater(at) && QueueMoment.allowsPreemption(keptQueue, queue);
  }

  private void blockBeside(
      ReservedCapacity reserved,
      List<Share> shares,
      QueueMoment moment,
      boolean preempting,
      List<Option> options) {
    QueueMoment.Gone gone = null;
    Map<Integer, TakenFrom> taken = new HashMap<>(2);
    ClusterQueueCache queue = null;
    boolean counts = false;
    for (Option option : options) {
      if (option.queue != queue) {
        // Those of a queue stand together.
        queue = option.queue;
        taken.clear();
        counts =
            queue.mayPreempt() == preempting && !leaves(moment.keptQueue(), queue, moment.at());
      }
      if (!counts) {
        continue;
      }
      if (gone == null) {
        gone = preempting ? moment.gone(QuotaHolder::evictable) : moment.gone();
        gone.takeOut();
      }
      for (PairAmount each : option.usage) {
        if (QueueMoment.share(shares, lookup.pair(each.pair())) > 0) {
          TakenFrom takenFrom =
              taken.computeIfAbsent(
                  each.pair(),
                  pair ->
                      new TakenFrom(
                          moment.needed(
                              pair,
                              other -> other != reserved,
                              moment.mayTakeBack(option.queue))));
          boolean takes =
              takenFrom.takes(
                  each.amount(),
                  () ->
                      moment.takes(option.queue, each, takenFrom.needed)
                          || (!preempting && moment.lacks(option.queue, each, takenFrom.needed)));
          if (takes) {
            option.blocks.add(new Block(reserved, moment.at()));
            break;
          }
        }
      }
    }
    if (gone != null) {
      gone.giveBack();
    }
  }
}
