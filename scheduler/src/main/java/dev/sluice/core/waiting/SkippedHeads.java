package dev.sluice.core.waiting;

import dev.sluice.core.queue.QueuedWorkload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Heads that fitted when they were nominated, and were skipped because of heads before them. Such a
 * head tries its other flavors in the next cycles. When its search resumes where it has resumed
 * before, and no reservation in its tree has changed since, further cycles can only repeat the same
 * results.
 */
final class SkippedHeads {

  /**
   * The cycles that skipped a head, one after the other.
   *
   * @param changes the number of the last change in the tree before these cycles
   * @param resumed where the search of the next cycle resumed after each of them
   */
  private record Round(QueuedWorkload head, long changes, Set<List<Integer>> resumed) {

    private boolean continues(QueuedWorkload next, long number) {
      return head == next && changes == number;
    }
  }

  private static final Comparator<List<Integer>> BY_FLAVORS =
      (one, two) -> Arrays.compare(one.toArray(Integer[]::new), two.toArray(Integer[]::new));

  /** Stands among the flavors of a round in which a search ended, too. */
  private static final List<Integer> END_OF_SEARCH = List.of(Integer.MIN_VALUE);

  private final Map<String, Round> rounds = new HashMap<>();

  /** The rounds as values, in the order of queues; those of heads that are gone are left out. */
  List<WaitingExport.RoundExport> export(ExportedNames names) {
    List<WaitingExport.RoundExport> exported = new ArrayList<>();
    rounds.forEach(
        (queue, round) -> {
          if (names.isQueued(round.head)) {
            exported.add(
                new WaitingExport.RoundExport(
                    queue,
                    round.head.id().uid(),
                    round.changes,
                    round.resumed.stream().sorted(BY_FLAVORS).toList()));
          }
        });
    exported.sort(Comparator.comparing(WaitingExport.RoundExport::clusterQueue));
    return exported;
  }

  /** Takes rounds over. */
  void restore(List<WaitingExport.RoundExport> exported, ExportedNames names) {
    for (WaitingExport.RoundExport each : exported) {
      QueuedWorkload head = names.queued(each.head());
      if (head != null) {
        rounds.put(
            each.clusterQueue(), new Round(head, each.changes(), new HashSet<>(each.resumed())));
      }
    }
  }

  /**
   * Records that a head was skipped.
   *
   * @param resumes the flavors after which the search resumes in the next cycle
   * @param changes the number of the last change in the tree
   * @return whether the search resumed there before, and nothing has changed since
   */
  boolean repeats(String clusterQueue, QueuedWorkload head, List<Integer> resumes, long changes) {
    Round round = rounds.get(clusterQueue);
    if (round == null || !round.continues(head, changes)) {
      round = new Round(head, changes, new HashSet<>());
      rounds.put(clusterQueue, round);
    }
    return !round.resumed.add(resumes);
  }

  /**
   * Records that a search behind the first flavor ended, because the head waits for preemption or
   * has no targets: a round of skips ends with it.
   *
   * @param changes the number of the last change in the tree
   * @return whether one ended so before, and nothing has changed since
   */
  boolean endsSearchAgain(String clusterQueue, QueuedWorkload head, long changes) {
    Round before =
        rounds.put(clusterQueue, new Round(head, changes, new HashSet<>(Set.of(END_OF_SEARCH))));
    return before != null
        && before.continues(head, changes)
        && before.resumed.contains(END_OF_SEARCH);
  }

  /** Forgets the head of a queue: it was not skipped this time, or it is gone. */
  void forget(String clusterQueue) {
    if (!rounds.isEmpty()) {
      rounds.remove(clusterQueue);
    }
  }
}
