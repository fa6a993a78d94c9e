package dev.sluice.scheduling;

import dev.sluice.model.Explanation;
import dev.sluice.model.Flavor;
import dev.sluice.model.PendingReason;
import dev.sluice.queue.EquivalenceClass;
import dev.sluice.queue.FlavorProgress;
import dev.sluice.queue.PendingItem;
import dev.sluice.queue.QueueState;
import dev.sluice.scheduling.flavor.Assignment;
import dev.sluice.scheduling.flavor.FlavorAssigner;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * One scheduling cycle (scheduling semantics, section 4): the head of every queue is nominated, the
 * nominated are put in order, and each gets its quota if it still fits after those before it. It
 * changes usage of the quota tree for whom it admits, and nothing else.
 */
public final class Cycle {

  /** What became of a head. */
  public sealed interface Outcome {

    /** Whom it is about. */
    PendingItem item();

    /** The queue it waits in. */
    QueueState queue();

    /** It gets quota; usage is added. */
    record Admitted(PendingItem item, QueueState queue, Assignment assignment) implements Outcome {}

    /** It fitted, but not after those before it; it stays in line. */
    record Overtaken(PendingItem item, QueueState queue, Assignment assignment)
        implements Outcome {}

    /** It doesn't fit, and neither does anyone like it until something changes. */
    record NoFit(
        PendingItem item,
        QueueState queue,
        Explanation explanation,
        List<EquivalenceClass.Lack> lacks,
        boolean competing)
        implements Outcome {}

    /** It doesn't fit so far, but there are flavors left to try; it stays in line. */
    record Walking(PendingItem item, QueueState queue) implements Outcome {}

    /** It can't be considered, for a reason of its own. */
    record Barred(PendingItem item, QueueState queue, Explanation explanation) implements Outcome {}
  }

  /** For how many cycles in a row a Workload is looked at only because flavors are left. */
  private static final int LONGEST_WALK = 32;

  private record Nominated(PendingItem item, QueueState queue, Assignment assignment) {}

  /** Order of processing: least borrowing, then priority, then age; the UID breaks ties. */
  private static final Comparator<Nominated> ORDER =
      Comparator.<Nominated>comparingInt(entry -> entry.assignment.borrowLevel())
          .thenComparing(
              Comparator.<Nominated>comparingLong(entry -> entry.item.equivalenceClass().priority())
                  .reversed())
          .thenComparingLong(entry -> entry.item.queuedAtMicros())
          .thenComparing(entry -> entry.item.id().uid());

  private final Map<String, Flavor> flavors;
  private final BiFunction<PendingItem, QueueState, Optional<Explanation>> bar;
  private final long number;

  /**
   * A cycle.
   *
   * @param flavors the flavors that exist, by name
   * @param bar why an item can't be considered whatever the quota, if so
   * @param number counts cycles
   */
  public Cycle(
      Map<String, Flavor> flavors,
      BiFunction<PendingItem, QueueState, Optional<Explanation>> bar,
      long number) {
    this.number = number;
    this.flavors = flavors;
    this.bar = bar;
  }

  /** Decides on the heads of these queues; one outcome each, in the order of decision. */
  public List<Outcome> run(Collection<QueueState> queues) {
    List<Outcome> outcomes = new ArrayList<>(queues.size());
    List<Nominated> nominated = new ArrayList<>(queues.size());
    for (QueueState queue : queues) {
      PendingItem head = queue.pending().head();
      if (head != null) {
        nominate(head, queue, nominated, outcomes);
      }
    }
    nominated.sort(ORDER);
    for (Nominated entry : nominated) {
      outcomes.add(process(entry));
    }
    return outcomes;
  }

  private void nominate(
      PendingItem head, QueueState queue, List<Nominated> nominated, List<Outcome> outcomes) {
    Optional<Explanation> barred = bar.apply(head, queue);
    if (barred.isPresent()) {
      outcomes.add(new Outcome.Barred(head, queue, barred.get()));
      return;
    }
    FlavorProgress before = head.flavorProgress();
    boolean resumes = before != null && before.counts(queue, number);
    int walked = before == null ? 0 : before.walked();
    Assignment assignment = assign(head, queue, before != null && resumes ? before.last() : null);
    head.flavorProgress(null);
    if (!assignment.fits()) {
      if (assignment.progress() != null && assignment.competing() && walked < LONGEST_WALK) {
        remember(head, queue, assignment, walked + 1);
        outcomes.add(new Outcome.Walking(head, queue));
        return;
      }
      if (resumes) {
        // A search that was resumed and found nothing starts over, so that no flavor goes unseen.
        assignment = assign(head, queue, null);
      }
    }
    PendingReason reason = assignment.noFit();
    if (reason == null) {
      nominated.add(new Nominated(head, queue, assignment));
    } else {
      Explanation explanation = new Explanation(reason, assignment.attempts(), "");
      outcomes.add(
          new Outcome.NoFit(head, queue, explanation, lacks(assignment), assignment.competing()));
    }
  }

  private Assignment assign(PendingItem head, QueueState queue, int @Nullable [] resume) {
    return FlavorAssigner.assign(queue, flavors, head.equivalenceClass().shape(), resume);
  }

  private void remember(PendingItem head, QueueState queue, Assignment assignment, int walked) {
    int[] progress = assignment.progress();
    head.flavorProgress(
        progress == null
            ? null
            : new FlavorProgress(progress, queue, queue.quotaGeneration(), number, walked));
  }

  private static List<EquivalenceClass.Lack> lacks(Assignment assignment) {
    List<EquivalenceClass.Lack> lacks = new ArrayList<>(assignment.lacks().size());
    for (Assignment.PairAmount lack : assignment.lacks()) {
      lacks.add(new EquivalenceClass.Lack(lack.pair(), lack.amount()));
    }
    return lacks;
  }

  private Outcome process(Nominated entry) {
    for (Assignment.PairAmount use : entry.assignment.usage()) {
      if (use.amount() > entry.queue.node().available(use.pair())) {
        remember(entry.item, entry.queue, entry.assignment, 0);
        return new Outcome.Overtaken(entry.item, entry.queue, entry.assignment);
      }
    }
    for (Assignment.PairAmount use : entry.assignment.usage()) {
      entry.queue.node().add(use.pair(), use.amount());
    }
    return new Outcome.Admitted(entry.item, entry.queue, entry.assignment);
  }
}
