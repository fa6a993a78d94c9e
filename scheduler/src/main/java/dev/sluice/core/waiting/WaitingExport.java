package dev.sluice.core.waiting;

import dev.sluice.core.model.Explanation;
import dev.sluice.core.queue.EquivalenceClass.Shortage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The state of {@link WaitingWorkloads} as a value (docs/engine-state.md). Queues are named, trees
 * are named by their roots, Workloads are named by their UIDs, and an equivalence class is named by
 * any of its members.
 *
 * @param cycle the number of the last cycle
 * @param activeQueues which queues the next cycle evaluates
 * @param inadmissible what inadmissible classes wait for
 * @param gatedWorkloads the held Workloads that return after a release of quota
 * @param attempts the attempts in vain of queues whose strategy backs off
 * @param gate what closed the gate of ready pods; empty while that is open
 * @param preemptions who preempted whom lately, the earliest first
 */
public record WaitingExport(
    long cycle,
    ActiveQueuesExport activeQueues,
    InadmissibleExport inadmissible,
    GatedWorkloadsExport gatedWorkloads,
    List<AttemptsExport> attempts,
    Optional<RejectedExport> gate,
    List<PreemptionExport> preemptions) {

  public WaitingExport {
    attempts = List.copyOf(attempts);
    preemptions = List.copyOf(preemptions);
  }

  /**
   * A preemption of the last time.
   *
   * @param preemptor UID of the Workload that it was for
   * @param target UID of the Workload that was evicted
   * @param clusterQueue name of the preemptor's queue
   * @param atMicros when it was decided, in microseconds since the epoch
   * @param inVain whether the preemptor had no quota since
   */
  public record PreemptionExport(
      String preemptor, String target, String clusterQueue, long atMicros, boolean inVain) {

    PreemptionExport inVain(boolean isInVain) {
      return new PreemptionExport(preemptor, target, clusterQueue, atMicros, isInVain);
    }
  }

  /**
   * The root of a quota tree.
   *
   * @param name name of the cohort or ClusterQueue
   * @param clusterQueue whether it is a ClusterQueue without a cohort
   */
  public record TreeRoot(String name, boolean clusterQueue) {}

  /**
   * The state of {@link ActiveQueues}; each list has the order of the original.
   *
   * @param ready the queues that the next cycle evaluates
   * @param blocked the queues that their heads block
   * @param claims the queues whose heads hold a claim, those of one tree after each other
   * @param limited the queues that wait for a limit on the number of Workloads
   * @param changes the changes of each tree
   * @param changesOfAll the changes of all trees
   * @param rounds the heads that were skipped
   * @param skipped the classes that were skipped
   */
  public record ActiveQueuesExport(
      List<String> ready,
      List<BlockExport> blocked,
      List<String> claims,
      List<String> limited,
      List<ChangesExport> changes,
      ChangesOfAll changesOfAll,
      List<RoundExport> rounds,
      SkippedExport skipped) {

    public ActiveQueuesExport {
      ready = List.copyOf(ready);
      blocked = List.copyOf(blocked);
      claims = List.copyOf(claims);
      limited = List.copyOf(limited);
      changes = List.copyOf(changes);
      rounds = List.copyOf(rounds);
    }

    /** The same state without what is told of trees, which are about to be others. */
    ActiveQueuesExport withoutTrees() {
      return new ActiveQueuesExport(
          ready, blocked, List.of(), List.of(), List.of(), changesOfAll, rounds, skipped);
    }
  }

  /** A queue, the head that blocks it, and why. */
  public record BlockExport(String clusterQueue, String head, Explanation explanation) {}

  /**
   * Changes in one tree.
   *
   * @param last the last cycle during or after which reservations changed
   * @param lastDropped the last cycle in which a head dropped what it had reserved
   * @param number the number of the last change
   */
  public record ChangesExport(TreeRoot root, long last, long lastDropped, long number) {}

  /**
   * Changes of all trees at once.
   *
   * @param lastCycle the last cycle during or after which all trees changed
   * @param number the number of that change
   * @param changes how many changes there were, of all trees or of one
   */
  public record ChangesOfAll(long lastCycle, long number, long changes) {}

  /**
   * The cycles that skipped the head of a queue.
   *
   * @param changes the number of the last change in the tree before these cycles
   * @param resumed where the search of the next cycle resumed after each of them
   */
  public record RoundExport(
      String clusterQueue, String head, long changes, List<List<Integer>> resumed) {

    public RoundExport {
      resumed = List.copyOf(resumed);
    }
  }

  /**
   * The state of {@link SkippedClasses}.
   *
   * @param queues the queues in which a class was skipped, those of one tree after each other
   * @param changed the trees that changed since their last cycle
   */
  public record SkippedExport(List<SkippedQueue> queues, List<TreeRoot> changed) {

    public SkippedExport {
      queues = List.copyOf(queues);
      changed = List.copyOf(changed);
    }
  }

  /** A queue in which a class was skipped; the member is empty if that has become active since. */
  public record SkippedQueue(String clusterQueue, Optional<String> member) {}

  /**
   * The state of {@link InadmissibleIndex}.
   *
   * @param trees what the classes of each tree wait for
   * @param treesWithEvents the trees in which a class may fit
   */
  public record InadmissibleExport(List<TreeExport> trees, List<TreeRoot> treesWithEvents) {

    /** Nothing waits. */
    static final InadmissibleExport NONE = new InadmissibleExport(List.of(), List.of());

    public InadmissibleExport {
      trees = List.copyOf(trees);
      treesWithEvents = List.copyOf(treesWithEvents);
    }
  }

  /**
   * The state of {@link GatedWorkloads}.
   *
   * @param gated Workloads that wait for a release of quota in their trees: a preemption gate is
   *     closed, a budget has too little left, or a reservation keeps what they would get
   * @param ungated those in whose trees quota was released since, and that may start
   * @param returned those that came back then, and were the head of no cycle since
   * @param treesLookedAt the trees of {@code ungated} that were looked at since the release
   */
  public record GatedWorkloadsExport(
      List<GatedExport> gated,
      List<GatedExport> ungated,
      List<GatedExport> returned,
      List<TreeRoot> treesLookedAt) {

    /** None is held. */
    static final GatedWorkloadsExport NONE =
        new GatedWorkloadsExport(List.of(), List.of(), List.of(), List.of());

    public GatedWorkloadsExport {
      gated = List.copyOf(gated);
      ungated = List.copyOf(ungated);
      returned = List.copyOf(returned);
      treesLookedAt = List.copyOf(treesLookedAt);
    }
  }

  /**
   * What the classes of one tree wait for.
   *
   * @param events how many releases there were
   */
  public record TreeExport(TreeRoot root, long events, List<QueueExport> queues) {

    public TreeExport {
      queues = List.copyOf(queues);
    }
  }

  /**
   * What the classes of one queue wait for.
   *
   * @param least the least missing amounts, as they are compared before the classes are
   */
  public record QueueExport(
      String clusterQueue, List<RequirementExport> requirements, List<LeastExport> least) {

    public QueueExport {
      requirements = List.copyOf(requirements);
      least = List.copyOf(least);
    }
  }

  /**
   * What a class waits for.
   *
   * @param member a member of the class
   * @param event the tree's count of releases when the class was found not to fit
   */
  public record RequirementExport(
      String member, List<Shortage> shortages, boolean competing, boolean preempts, long event) {

    public RequirementExport {
      shortages = List.copyOf(shortages);
    }
  }

  /** The least missing amount of a pair at a priority, and since when the oldest one waits. */
  public record LeastExport(int pair, long amount, long priority, long since) {}

  /** A Workload that a preemption gate blocks, and its queue. */
  public record GatedExport(String clusterQueue, String uid) {}

  /**
   * Attempts of a Workload in vain.
   *
   * @param count how many
   * @param until the end of the pause; empty while the Workload is active
   */
  public record AttemptsExport(
      String clusterQueue, String uid, int count, Optional<Instant> until) {}

  /**
   * A Workload that fits and was rejected until all pods are ready.
   *
   * @param uid the UID of the Workload; empty if it left its queue since
   * @param explanation why it was rejected
   */
  public record RejectedExport(Optional<String> uid, Explanation explanation) {}
}
