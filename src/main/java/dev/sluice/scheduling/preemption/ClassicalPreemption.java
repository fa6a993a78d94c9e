package dev.sluice.scheduling.preemption;

import dev.sluice.model.PreemptionPolicies;
import dev.sluice.model.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.model.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.queue.QueueState;
import dev.sluice.quota.QuotaNode;
import dev.sluice.scheduling.preemption.Candidates.Candidate;
import dev.sluice.scheduling.preemption.Source.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Preemption by priority and by who borrows (scheduling semantics, section 7): candidates are taken
 * one by one until the preemptor fits, then those that turn out not to be needed are left alone.
 */
public final class ClassicalPreemption implements VictimSearch {

  private final Function<QuotaNode, @Nullable QueueState> queues;

  /**
   * The policy, for these queues.
   *
   * @param queues the queue at a node of the quota tree; null if it isn't declared any more
   */
  public ClassicalPreemption(Function<QuotaNode, @Nullable QueueState> queues) {
    this.queues = queues;
  }

  @Override
  public Optional<Found> find(Preemptor preemptor) {
    PreemptionPolicies policies = preemptor.queue().spec().preemption();
    if (policies.withinClusterQueue() == WithinClusterQueue.NEVER
        && policies.reclaimWithinCohort() == ReclaimWithinCohort.NEVER) {
      return Optional.empty();
    }
    List<Source> sources = Sources.of(queues, preemptor);
    for (boolean borrowing : attempts(preemptor, sources)) {
      Optional<Found> found = attempt(preemptor, sources, borrowing);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  /** Whether borrowing is allowed, attempt by attempt. */
  private static boolean[] attempts(Preemptor preemptor, List<Source> sources) {
    boolean hierarchical = any(preemptor, sources, Kind.HIERARCHICAL);
    boolean others = hierarchical || any(preemptor, sources, Kind.OTHER);
    boolean mayBorrow = preemptor.queue().spec().preemption().borrowWithinCohort();
    if (!others || (!mayBorrow && !preemptor.isBelowNominal())) {
      return new boolean[] {true};
    }
    return !mayBorrow && !hierarchical ? new boolean[] {false, true} : new boolean[] {true, false};
  }

  private static boolean any(Preemptor preemptor, List<Source> sources, Kind kind) {
    for (Source source : sources) {
      if (source.kind() == kind && source.hasCandidates(preemptor)) {
        return true;
      }
    }
    return false;
  }

  private static Optional<Found> attempt(
      Preemptor preemptor, List<Source> sources, boolean borrowing) {
    if (!borrowing && !Reach.staysWithinNominal(preemptor)) {
      return Optional.empty();
    }
    Candidates candidates = new Candidates(preemptor, sources, borrowing);
    List<Victim> taken = new ArrayList<>();
    Found found = null;
    for (Candidate next = candidates.next(); next != null; next = candidates.next()) {
      Source source = next.source();
      if (source.kind() != Kind.OWN) {
        if (!source.stillBorrows(preemptor)) {
          candidates.drop();
          continue;
        }
      }
      Victim victim =
          new Victim(next.holder(), source.queue(), source.reason(preemptor, next.holder()));
      victim.leave();
      taken.add(victim);
      if (preemptor.fits(borrowing)) {
        FillBack.apply(preemptor, taken, borrowing);
        found = new Found(taken, preemptor.borrowLevel());
        break;
      }
    }
    for (Victim victim : taken.reversed()) {
      victim.comeBack();
    }
    return Optional.ofNullable(found);
  }
}
