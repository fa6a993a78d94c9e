package dev.sluice.dashboard;

import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.model.FlavorResource;
import dev.sluice.core.model.ResourceAmounts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What each ClusterQueue and cohort borrows and lends. What is borrowed follows from usage: it is
 * what exceeds the nominal quota. A loan has no single lender, so what is lent is divided among the
 * members of the same cohort that have idle quota, in proportion to it, and no more than they may
 * lend. The sums agree: what members borrow from each other is what members and cohort lend.
 */
final class QuotaLoans {

  /** Borrowed and lent amounts of one pair; 0 where nothing is. */
  record Loan(long borrowed, long lent) {
    static final Loan NONE = new Loan(0, 0);
  }

  private record NodePair(boolean cohort, String name, FlavorResource pair) {}

  private record Member(boolean cohort, String name, FlavorUsage usage) {
    long idle() {
      long idle = Math.max(0, ResourceAmounts.subtract(usage.nominal(), usage.reserved()));
      return Math.min(idle, usage.lendingLimit());
    }

    long borrowed() {
      return Math.max(0, ResourceAmounts.subtract(usage.reserved(), usage.nominal()));
    }
  }

  private final Map<NodePair, Loan> loans = new HashMap<>();
  private final Map<String, List<Member>> members = new HashMap<>();
  private final Map<String, CohortView> cohorts = new HashMap<>();

  /** The loans at the time of these views. */
  QuotaLoans(Collection<ClusterQueueView> queues, Collection<CohortView> cohorts) {
    cohorts.forEach(cohort -> this.cohorts.put(cohort.name(), cohort));
    for (ClusterQueueView queue : queues) {
      add(queue.cohort(), false, queue.name(), queue.usage());
    }
    for (CohortView cohort : cohorts) {
      if (!cohort.parent().isEmpty() && !cohort.root().isEmpty()) {
        add(cohort.parent(), true, cohort.name(), cohort.usage());
      }
    }
    for (CohortView cohort : cohorts) {
      if (cohort.root().equals(cohort.name())) {
        divide(cohort, Map.of());
      }
    }
  }

  private void add(String cohort, boolean isCohort, String name, List<FlavorUsage> usage) {
    for (FlavorUsage pair : usage) {
      Member member = new Member(isCohort, name, pair);
      if (!cohort.isEmpty()) {
        members.computeIfAbsent(cohort, any -> new ArrayList<>()).add(member);
        loans.put(node(member), new Loan(member.borrowed(), 0));
      }
    }
  }

  private static FlavorResource pair(FlavorUsage usage) {
    return new FlavorResource(usage.flavor(), usage.resource());
  }

  private static NodePair node(Member member) {
    return new NodePair(member.cohort(), member.name(), pair(member.usage()));
  }

  /** Divides what the members of a cohort lend; {@code lent} is what the cohort lends itself. */
  private void divide(CohortView cohort, Map<FlavorResource, Long> lent) {
    Map<FlavorResource, List<Member>> byPair = new HashMap<>();
    for (Member member : members.getOrDefault(cohort.name(), List.of())) {
      byPair.computeIfAbsent(pair(member.usage()), any -> new ArrayList<>()).add(member);
    }
    Map<String, Map<FlavorResource, Long>> lentByCohort = new HashMap<>();
    Set<String> below = new HashSet<>();
    byPair.forEach(
        (pair, all) -> {
          long outside =
              loans.getOrDefault(new NodePair(true, cohort.name(), pair), Loan.NONE).borrowed();
          long borrowed = 0;
          double idle = ownIdle(cohort, pair, all);
          for (Member member : all) {
            borrowed = ResourceAmounts.add(borrowed, member.borrowed());
            idle += member.idle();
          }
          long toDivide =
              Math.max(
                  0,
                  ResourceAmounts.subtract(
                      ResourceAmounts.add(borrowed, lent.getOrDefault(pair, 0L)), outside));
          for (Member member : all) {
            long share =
                idle <= 0
                    ? 0
                    : Math.min(member.idle(), Math.round(toDivide * (member.idle() / idle)));
            loans.put(node(member), new Loan(member.borrowed(), share));
            if (member.cohort()) {
              lentByCohort.computeIfAbsent(member.name(), any -> new HashMap<>()).put(pair, share);
            }
          }
        });
    for (Member member : members.getOrDefault(cohort.name(), List.of())) {
      CohortView child = member.cohort() ? cohorts.get(member.name()) : null;
      if (child != null && below.add(member.name())) {
        divide(child, lentByCohort.getOrDefault(member.name(), Map.of()));
      }
    }
  }

  /** The quota of the cohort itself, which is always there for its members. */
  private static double ownIdle(CohortView cohort, FlavorResource pair, List<Member> all) {
    double nominal =
        cohort.usage().stream()
            .filter(usage -> pair(usage).equals(pair))
            .mapToDouble(FlavorUsage::nominal)
            .sum();
    double ofMembers = all.stream().mapToDouble(member -> member.usage().nominal()).sum();
    return Math.max(0, nominal - ofMembers);
  }

  /** What a ClusterQueue borrows and lends of a pair. */
  Loan ofClusterQueue(String name, FlavorUsage usage) {
    return loans.getOrDefault(new NodePair(false, name, pair(usage)), Loan.NONE);
  }

  /** What a cohort borrows from, and lends to, the cohorts beside and above it. */
  Loan ofCohort(String name, FlavorUsage usage) {
    return loans.getOrDefault(new NodePair(true, name, pair(usage)), Loan.NONE);
  }
}
