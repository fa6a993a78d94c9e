package dev.sluice.checks.multikueue.quota;

import dev.sluice.api.Quantities;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceGroup;
import dev.sluice.api.v1beta2.ResourceGroup.FlavorQuotas;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.checks.multikueue.capacity.NominalQuota;
import dev.sluice.core.model.ResourceAmounts;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Computes the quota of a ClusterQueue from the quotas of its workers
 * (docs/scheduling-semantics.md#multikueue).
 */
final class ManagerQuotaPolicy {

  private ManagerQuotaPolicy() {}

  /** The result for one ClusterQueue. */
  sealed interface Outcome {

    /** The present quota stays until the state of all workers is known. */
    record Wait() implements Outcome {}

    /**
     * The quota cannot be computed.
     *
     * @param why the reason
     */
    record Unsupported(String why) implements Outcome {}

    /**
     * The computed quota.
     *
     * @param groups the resource groups with the computed quota
     * @param same whether the ClusterQueue already has this quota
     * @param message the result, for users
     */
    record Sum(List<ResourceGroup> groups, boolean same, String message) implements Outcome {}
  }

  /**
   * Computes the result for a ClusterQueue.
   *
   * @param workerQuotaStates state of each worker by name, in the order of the config
   */
  static Outcome of(ClusterQueue queue, Map<String, WorkerQuotaState> workerQuotaStates) {
    List<ResourceGroup> groups = queue.getSpec().resourceGroups();
    long flavors = groups.stream().mapToLong(group -> group.flavors().size()).sum();
    if (flavors != 1) {
      return new Outcome.Unsupported(
          "spec.resourceGroups has " + flavors + " flavors; allowed with quotaManagement: 1");
    }
    SortedMap<String, Long> sum = new TreeMap<>();
    for (Map.Entry<String, WorkerQuotaState> workerQuotaState : workerQuotaStates.entrySet()) {
      switch (workerQuotaState.getValue()) {
        case WorkerQuotaState.Connected(NominalQuota.Known(Map<String, Long> amounts)) ->
            amounts.forEach(
                (resource, amount) -> sum.merge(resource, amount, ResourceAmounts::add));
        case WorkerQuotaState.Connected(NominalQuota.Unreadable(String why)) -> {
          return new Outcome.Unsupported(
              "the queues of worker cluster \"%s\" can't be read: %s"
                  .formatted(workerQuotaState.getKey(), why));
        }
        case WorkerQuotaState.Connected(NominalQuota.NotYet notYet) -> {
          return new Outcome.Wait();
        }
        case WorkerQuotaState.Unknown unknown -> {
          return new Outcome.Wait();
        }
        case WorkerQuotaState.Away away -> {}
      }
    }
    ResourceGroup group = groups.getFirst();
    TreeSet<String> uncovered = new TreeSet<>(sum.keySet());
    group.coveredResources().forEach(uncovered::remove);
    if (!uncovered.isEmpty()) {
      return new Outcome.Unsupported(
          "worker clusters have quota for %s, which spec.resourceGroups[0].coveredResources doesn't list; it lists %s"
              .formatted(
                  String.join(", ", uncovered), String.join(", ", group.coveredResources())));
    }
    return sum(group, sum, workerQuotaStates);
  }

  private static Outcome sum(
      ResourceGroup group, Map<String, Long> sum, Map<String, WorkerQuotaState> workerQuotaStates) {
    FlavorQuotas flavor = group.flavors().getFirst();
    List<ResourceQuota> quotas = new ArrayList<>();
    boolean same = true;
    for (ResourceQuota present : flavor.resources()) {
      long amount = sum.getOrDefault(present.name(), 0L);
      same =
          same
              && present.borrowingLimit() == null
              && present.lendingLimit() == null
              && Quantities.amount(present.name(), present.nominalQuota().toString()) == amount;
      quotas.add(
          new ResourceQuota(
              present.name(),
              Quantity.parse(Quantities.format(present.name(), amount)),
              null,
              null));
    }
    ResourceGroup wanted =
        new ResourceGroup(
            group.coveredResources(), List.of(new FlavorQuotas(flavor.name(), quotas)));
    return new Outcome.Sum(List.of(wanted), same, message(workerQuotaStates));
  }

  private static String message(Map<String, WorkerQuotaState> workerQuotaStates) {
    List<String> counted =
        names(
            workerQuotaStates,
            workerQuotaState -> workerQuotaState instanceof WorkerQuotaState.Connected);
    List<String> away =
        names(
            workerQuotaStates,
            workerQuotaState -> workerQuotaState instanceof WorkerQuotaState.Away);
    return "The quota is the sum over worker clusters "
        + counted
        + (away.isEmpty() ? "" : "; not connected, and not counted: " + away);
  }

  private static List<String> names(
      Map<String, WorkerQuotaState> workerQuotaStates, Predicate<WorkerQuotaState> which) {
    return workerQuotaStates.entrySet().stream()
        .filter(workerQuotaState -> which.test(workerQuotaState.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }
}
