package dev.sluice.reference;

import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A Workload that may start with fewer pods (docs/scheduling-semantics.md#flavor-assignment, end).
 */
record ReferenceReduction(RequestShape shape) {

  private static int delta(PodSetRequest set) {
    return set.spare();
  }

  private int sum() {
    return shape.podSets().stream().mapToInt(ReferenceReduction::delta).sum();
  }

  /** Whether it may start with fewer. */
  boolean isPossible() {
    return sum() > 0;
  }

  private RequestShape step(int i) {
    List<PodSetRequest> sets = new ArrayList<>();
    for (PodSetRequest set : shape.podSets()) {
      int count = set.count() - delta(set) * i / sum();
      sets.add(
          new PodSetRequest(
              set.name(),
              count,
              count - set.minCount(),
              set.perPod(),
              set.nodeConstraints(),
              set.group(),
              set.topology(),
              set.nodeRequests()));
    }
    return shape.withPodSets(sets);
  }

  /** With the fewest pods. */
  RequestShape least() {
    return step(sum());
  }

  /** What comes of the most pods that are good enough, by binary search. */
  <T> Optional<T> most(Function<RequestShape, T> attempt, Predicate<T> isGood) {
    int good = isPossible() ? sum() + 1 : 0;
    int bad = -1;
    Optional<T> result = Optional.empty();
    while (good - bad > 1) {
      int i = (bad + 1 + good) / 2;
      T tried = attempt.apply(step(i));
      if (isGood.test(tried)) {
        good = i;
        result = Optional.of(tried);
      } else {
        bad = i;
      }
    }
    return result;
  }
}
