package dev.sluice.core.waiting;

import dev.sluice.core.model.Instants;
import dev.sluice.core.model.PreemptionProtection;
import dev.sluice.core.model.PreemptionRules.PreemptionLimit;
import dev.sluice.core.waiting.WaitingExport.PreemptionExport;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Who preempted whom lately, so that no two Workloads evict each other for ever
 * (docs/preemption.md#preemption-that-goes-on-for-ever). A Workload that preempted another one as
 * often as the limit says, within its window, doesn't preempt it again; one short of that since it
 * last had quota, it comes first in a cycle. Empty while nobody is preempted.
 */
public final class RepeatedPreemptions {

  /** So many are remembered: of more, the earliest are forgotten before their time. */
  private static final int MOST = 10_000;

  /** What a preemptor evicted, by target, the earliest first. */
  private final class Evictions {
    private final Map<String, Deque<Remembered>> byTarget = new HashMap<>(4);

    /**
     * How often it evicted the target that it evicted most often since it last had quota: each
     * cycle asks.
     */
    private int mostInVain;

    /** Whom it may not preempt again so far, and until when; replaced, since heads keep it. */
    private Map<String, Long> spared = Map.of();

    /** How often it got quota. */
    private int quotas;

    private Remembered add(PreemptionExport preemption) {
      Deque<Remembered> those =
          byTarget.computeIfAbsent(preemption.target(), any -> new ArrayDeque<>(2));
      Remembered remembered = new Remembered(preemption, this, those);
      those.add(remembered);
      mostInVain = Math.max(mostInVain, inVain(those));
      spare(preemption.target(), those);
      return remembered;
    }

    private void removed(Remembered remembered) {
      Deque<Remembered> those = remembered.ofTarget;
      if (those.isEmpty()) {
        byTarget.remove(remembered.preemption.target());
      }
      if (remembered.isInVain()) {
        mostInVain = 0;
        byTarget.values().forEach(each -> mostInVain = Math.max(mostInVain, inVain(each)));
      }
      spare(remembered.preemption.target(), those);
    }

    private void spare(String target, Deque<Remembered> those) {
      int surplus = those.size() - limit.preemptions();
      Optional<Long> until =
          surplus < 0
              ? Optional.empty()
              : those.stream()
                  .skip(surplus)
                  .findFirst()
                  .map(each -> end(each.preemption.atMicros()));
      if (until.isPresent() || spared.containsKey(target)) {
        Map<String, Long> changed = new HashMap<>(spared);
        changed.remove(target);
        until.ifPresent(at -> changed.put(target, at));
        sparing += (changed.isEmpty() ? 0 : 1) - (spared.isEmpty() ? 0 : 1);
        spared = changed;
      }
    }

    private void hasQuota() {
      quotas++;
      mostInVain = 0;
    }

    private static int inVain(Deque<Remembered> those) {
      int inVain = 0;
      for (Remembered each : those) {
        inVain += each.isInVain() ? 1 : 0;
      }
      return inVain;
    }
  }

  /** A preemption, which counts while its preemptor has these evictions. */
  private static final class Remembered {
    private final PreemptionExport preemption;
    private final Evictions evictions;

    /** Those of the same target, this one among them. */
    private final Deque<Remembered> ofTarget;

    /** How often its preemptor had got quota before. */
    private final int quotas;

    private Remembered(
        PreemptionExport preemption, Evictions evictions, Deque<Remembered> ofTarget) {
      this.preemption = preemption;
      this.evictions = evictions;
      this.ofTarget = ofTarget;
      this.quotas = preemption.inVain() ? evictions.quotas : -1;
    }

    /** Whether its preemptor had no quota since. */
    private boolean isInVain() {
      return quotas == evictions.quotas;
    }
  }

  private final PreemptionLimit limit;

  /** The earliest first; also those of preemptors that are gone. */
  private final Deque<Remembered> preemptions = new ArrayDeque<>();

  private final Map<String, Evictions> byPreemptor = new HashMap<>();

  /** Those that come first in a cycle: hardly ever any, and asked about whenever heads compare. */
  private final Set<String> comingFirst = new HashSet<>();

  /** How many preemptors spare somebody: hardly ever any, and each search for targets asks. */
  private int sparing;

  /** How many of the preemptions count. */
  private int size;

  RepeatedPreemptions(PreemptionLimit limit) {
    this.limit = limit;
  }

  /** Records that a Workload of a queue preempts another one. */
  void add(String preemptor, String target, String clusterQueue, Instant now) {
    add(new PreemptionExport(preemptor, target, clusterQueue, Instants.micros(now), true));
  }

  private void add(PreemptionExport preemption) {
    if (preemptions.size() == 2 * MOST) {
      preemptions.removeIf(remembered -> !counts(remembered));
    }
    while (size >= MOST) {
      forgetFirst();
    }
    Evictions evictions =
        byPreemptor.computeIfAbsent(preemption.preemptor(), any -> new Evictions());
    preemptions.add(evictions.add(preemption));
    updateFirst(preemption.preemptor(), evictions);
    size++;
  }

  private boolean counts(Remembered remembered) {
    return byPreemptor.get(remembered.preemption.preemptor()) == remembered.evictions;
  }

  /**
   * Records that the last eviction of a Workload could not be written, so that it never was.
   *
   * @return whose preemption that was; empty if it is too long ago
   */
  Optional<PreemptionExport> refused(String target) {
    for (Iterator<Remembered> latest = preemptions.descendingIterator(); latest.hasNext(); ) {
      Remembered remembered = latest.next();
      if (remembered.preemption.target().equals(target) && counts(remembered)) {
        latest.remove();
        remembered.ofTarget.removeLast();
        forgetIfNone(remembered);
        return Optional.of(remembered.preemption);
      }
    }
    return Optional.empty();
  }

  /** Records that a Workload has quota: what it preempted before was not in vain. */
  void hasQuota(String uid) {
    Evictions evictions = byPreemptor.isEmpty() ? null : byPreemptor.get(uid);
    if (evictions != null) {
      evictions.hasQuota();
      comingFirst.remove(uid);
    }
  }

  private void updateFirst(String preemptor, Evictions evictions) {
    if (evictions.mostInVain >= first()) {
      comingFirst.add(preemptor);
    } else {
      comingFirst.remove(preemptor);
    }
  }

  /** Forgets whom a Workload preempted. */
  void forget(String uid) {
    Evictions evictions = byPreemptor.isEmpty() ? null : byPreemptor.remove(uid);
    if (evictions != null) {
      evictions.byTarget.values().forEach(those -> size -= those.size());
      sparing -= evictions.spared.isEmpty() ? 0 : 1;
      comingFirst.remove(uid);
    }
  }

  /**
   * Forgets what is too long ago.
   *
   * @return the names of the queues whose Workloads may preempt again, or come first no more
   */
  Set<String> expire(Instant now) {
    if (preemptions.isEmpty()) {
      return Set.of();
    }
    Set<String> queues = new LinkedHashSet<>();
    while (!preemptions.isEmpty()
        && end(preemptions.getFirst().preemption.atMicros()) <= Instants.micros(now)) {
      Remembered earliest = preemptions.getFirst();
      if (counts(earliest) && earliest.ofTarget.size() >= first()) {
        queues.add(earliest.preemption.clusterQueue());
      }
      forgetFirst();
    }
    return queues;
  }

  private void forgetFirst() {
    Remembered earliest = preemptions.removeFirst();
    if (counts(earliest)) {
      earliest.ofTarget.removeFirst();
      forgetIfNone(earliest);
    }
  }

  /** Forgets a target without evictions, and a preemptor without targets. */
  private void forgetIfNone(Remembered remembered) {
    size--;
    remembered.evictions.removed(remembered);
    updateFirst(remembered.preemption.preemptor(), remembered.evictions);
    if (remembered.evictions.byTarget.isEmpty()) {
      byPreemptor.remove(remembered.preemption.preemptor());
    }
  }

  private long end(long atMicros) {
    return PreemptionProtection.after(atMicros, limit.window());
  }

  /** How often somebody has to preempt the same Workload in vain to come first. */
  private int first() {
    return Math.max(1, limit.preemptions() - 1);
  }

  /** Whether a Workload comes before others in a cycle. */
  public boolean comesFirst(String preemptor) {
    return !comingFirst.isEmpty() && comingFirst.contains(preemptor);
  }

  /**
   * The Workloads that a Workload may not preempt again so far: until when, in microseconds since
   * the epoch, by UID.
   */
  public Map<String, Long> sparedBy(String preemptor) {
    Evictions evictions = sparing == 0 ? null : byPreemptor.get(preemptor);
    return evictions == null ? Map.of() : evictions.spared;
  }

  List<PreemptionExport> export() {
    return preemptions.stream()
        .filter(this::counts)
        .map(remembered -> remembered.preemption.inVain(remembered.isInVain()))
        .toList();
  }

  void restore(List<PreemptionExport> exported) {
    exported.forEach(this::add);
  }
}
