package dev.sluice.lab.bench.month;

import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.QueueRules.CostRules.CheapestFirst;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.ResourceGroup;
import dev.sluice.core.model.ResourceGroup.Quota;
import dev.sluice.lab.bench.month.MonthSimulation.MonthCosts;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A ClusterQueue of the simulated cluster, as it is declared at the moment. */
final class DeclaredQueue {

  static final List<String> FLAVORS = List.of("reserved", "spot");
  static final List<String> RESOURCES = List.of("cpu", "memory");

  /** Memory of each CPU, in bytes. */
  static final long MEMORY_PER_CPU = 4L << 30;

  private static final long MILLIS_PER_CPU = 1_000;

  final String name;

  /** The number of the tree, which never changes. */
  final int tree;

  /** The number of the team, which is the cohort. */
  int team;

  final long nominalCpus;
  final boolean borrowsLimited;
  final boolean lendsLimited;
  final boolean twoFlavors;
  double scale = 1;
  QueueingStrategy strategy = QueueingStrategy.BEST_EFFORT_FIFO;
  StopPolicy stop = StopPolicy.NONE;
  PreemptionPolicies preemption = PreemptionPolicies.NEVER;
  BigDecimal weight = BigDecimal.ONE;
  private final Optional<CheapestFirst> cheapest;

  DeclaredQueue(int number, MonthSize size, long nominalCpus) {
    this(number, size, nominalCpus, MonthCosts.NONE);
  }

  /** A queue that counts costs. */
  DeclaredQueue(int number, MonthSize size, long nominalCpus, MonthCosts costs) {
    this.cheapest = costs.cheapest();
    this.name = "queue-" + number;
    this.team = number / size.queues();
    this.tree = team / size.teams();
    this.nominalCpus = nominalCpus;
    this.borrowsLimited = number % 10 >= 7;
    this.lendsLimited = number % 5 == 4;
    this.twoFlavors = costs.spotEverywhere() || number % 5 == 1;
  }

  /**
   * The quota of a resource in a flavor, by their numbers; {@link Quota#NONE} if none is declared.
   */
  Quota quota(int flavor, int resource) {
    if (flavor > 0 && !twoFlavors) {
      return Quota.NONE;
    }
    double part = !twoFlavors ? 1 : flavor == 0 ? 0.7 : 0.3;
    long cpus = Math.max(1, Math.round(nominalCpus * scale * part));
    long perCpu = resource == 0 ? MILLIS_PER_CPU : MEMORY_PER_CPU;
    return new Quota(
        cpus * perCpu,
        borrowsLimited ? 2 * cpus * perCpu : ResourceAmounts.UNLIMITED,
        lendsLimited ? cpus * perCpu / 2 : ResourceAmounts.UNLIMITED);
  }

  ClusterQueueSpec spec() {
    List<ResourceGroup.FlavorQuotas> flavors = new ArrayList<>();
    for (int flavor = 0; flavor < (twoFlavors ? FLAVORS.size() : 1); flavor++) {
      flavors.add(
          new ResourceGroup.FlavorQuotas(
              FLAVORS.get(flavor),
              Map.of(RESOURCES.get(0), quota(flavor, 0), RESOURCES.get(1), quota(flavor, 1))));
    }
    ClusterQueueSpec listed =
        new ClusterQueueSpec(
            name,
            "team-" + team,
            List.of(new ResourceGroup(RESOURCES, flavors)),
            strategy,
            new LabelSelector.Requirements(List.of()),
            stop,
            false,
            preemption,
            FlavorFungibility.DEFAULT,
            weight,
            List.of(),
            List.of(),
            false);
    return listed.with(strategy, listed.rules().withCheapest(cheapest));
  }
}
