package dev.sluice.reference;

import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Who preempted whom lately, counted anew whenever somebody asks (docs/preemption.md). */
final class ReferenceRepeats {

  private record Repeat(String preemptor, String target, String queue, Instant at, boolean inVain) {

    boolean isOfSamePair(Repeat other) {
      return preemptor.equals(other.preemptor) && target.equals(other.target);
    }
  }

  private final PreemptionLimit limit;
  private final List<Repeat> all = new ArrayList<>();

  ReferenceRepeats(PreemptionLimit limit) {
    this.limit = limit;
  }

  void add(String preemptor, String target, String queue, Instant now) {
    all.add(new Repeat(preemptor, target, queue, now, true));
  }

  /** The last eviction of this one never was; its preemptor is no longer the first of its queue. */
  void refused(String target, Map<String, String> sticky) {
    for (Repeat each : List.copyOf(all).reversed()) {
      if (each.target.equals(target)) {
        all.remove(all.lastIndexOf(each));
        sticky.remove(each.queue, each.preemptor);
        return;
      }
    }
  }

  void forget(String preemptor) {
    all.removeIf(each -> each.preemptor.equals(preemptor));
  }

  /** It has quota: what it preempted before was not in vain. */
  void hasQuota(String preemptor) {
    all.replaceAll(
        each ->
            each.preemptor.equals(preemptor)
                ? new Repeat(preemptor, each.target, each.queue, each.at, false)
                : each);
  }

  /** Forgets what is too long ago; the queues where that may matter. */
  List<String> pass(Instant now) {
    List<String> queues = new ArrayList<>();
    for (Repeat each : all.stream().sorted(Comparator.comparing(Repeat::at)).toList()) {
      if (!each.at.plus(limit.window()).isAfter(now)) {
        if (count(each) >= first()) {
          queues.add(each.queue);
        }
        all.remove(each);
      }
    }
    return queues;
  }

  private long count(Repeat repeat) {
    return all.stream().filter(repeat::isOfSamePair).count();
  }

  private int first() {
    return Math.max(1, limit.preemptions() - 1);
  }

  /** Whether it comes before others, since it preempted the same one again and had no quota. */
  boolean comesFirst(String preemptor) {
    List<Repeat> inVain =
        all.stream().filter(each -> each.inVain && each.preemptor.equals(preemptor)).toList();
    return inVain.stream()
        .anyMatch(each -> inVain.stream().filter(each::isOfSamePair).count() >= first());
  }

  /** Those whom it may not preempt once more. */
  Set<String> sparedBy(String preemptor) {
    return all.stream()
        .filter(each -> each.preemptor.equals(preemptor) && count(each) >= limit.preemptions())
        .map(Repeat::target)
        .collect(Collectors.toSet());
  }
}
