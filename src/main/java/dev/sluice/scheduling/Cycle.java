package dev.sluice.scheduling;

import dev.sluice.model.Explanation;
import dev.sluice.model.Flavor;
import dev.sluice.model.PendingReason;
import dev.sluice.queue.EquivalenceClass;
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
import java.util.function.Function;

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
        List<EquivalenceClass.Lack> lacks)
        implements Outcome {}

    /** It can't be considered, for a reason of its own. */
    record Barred(PendingItem item, QueueState queue, Explanation explanation) implements Outcome {}
  }

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
  private final Function<PendingItem, Optional<Explanation>> bar;

  /**
   * A cycle.
   *
   * @param flavors the flavors that exist, by name
   * @param bar why an item can't be considered whatever the quota, if so
   */
  public Cycle(Map<String, Flavor> flavors, Function<PendingItem, Optional<Explanation>> bar) {
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
    Optional<Explanation> barred = bar.apply(head);
    if (barred.isPresent()) {
      outcomes.add(new Outcome.Barred(head, queue, barred.get()));
      return;
    }
    Assignment assignment = assign(head, queue);
    PendingReason reason = assignment.noFit();
    if (reason == null) {
      nominated.add(new Nominated(head, queue, assignment));
    } else {
      Explanation explanation = new Explanation(reason, assignment.attempts(), "");
      outcomes.add(new Outcome.NoFit(head, queue, explanation, lacks(assignment)));
    }
  }

  /** A search that was resumed and found nothing starts over, so that no flavor goes unseen. */
  private Assignment assign(PendingItem head, QueueState queue) {
    int[] progress = head.flavorProgress(queue.quotaGeneration());
    Assignment assignment =
        FlavorAssigner.assign(queue, flavors, head.equivalenceClass().shape(), progress);
    if (progress != null && !assignment.fits()) {
      return FlavorAssigner.assign(queue, flavors, head.equivalenceClass().shape(), null);
    }
    return assignment;
  }

  private static List<EquivalenceClass.Lack> lacks(Assignment assignment) {
    List<EquivalenceClass.Lack> lacks = new ArrayList<>(assignment.lacks().size());
    for (Assignment.PairAmount lack : assignment.lacks()) {
      lacks.add(new EquivalenceClass.Lack(lack.pair(), lack.amount()));
    }
    return lacks;
  }

  private static Outcome process(Nominated entry) {
    for (Assignment.PairAmount use : entry.assignment.usage()) {
      if (use.amount() > entry.queue.node().available(use.pair())) {
        entry.item.flavorProgress(entry.assignment.progress(), entry.queue.quotaGeneration());
        return new Outcome.Overtaken(entry.item, entry.queue, entry.assignment);
      }
    }
    for (Assignment.PairAmount use : entry.assignment.usage()) {
      entry.queue.node().add(use.pair(), use.amount());
    }
    return new Outcome.Admitted(entry.item, entry.queue, entry.assignment);
  }
}
