package dev.sluice.queues.cache;

import dev.sluice.api.Quantities;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.QuotaSchedule;
import dev.sluice.api.sluice.ReservationReader.ReservationSpec;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Scope;
import dev.sluice.core.model.SchedulerEvent.ReservedCapacity.Share;
import dev.sluice.queues.mapping.FlavorMapper;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares what CapacityReservations and MaintenanceWindows name with what there is
 * (docs/reservations.md#what-they-name). Answers from memory, and never throws.
 *
 * @param informerCaches the queues, flavors and classes
 * @param nodes whether a node has all of these labels; true where that isn't known
 */
public record ReservationTargets(
    InformerCaches informerCaches, Predicate<Map<String, String>> nodes) {

  /**
   * What came out.
   *
   * @param keeps whether anything of it can be kept
   * @param missing what it names that there isn't, each as "no ClusterQueue x"
   * @param excess what is more than there will ever be, each as a sentence
   */
  public record Comparison(boolean keeps, List<String> missing, List<String> excess) {

    /** Everything is there. */
    public static final Comparison COMPLETE = new Comparison(true, List.of(), List.of());

    public Comparison {
      missing = List.copyOf(missing);
      excess = List.copyOf(excess);
    }

    /** What is missing, and what follows, in one line; empty if nothing is. */
    public String fault() {
      return (keeps ? "" : "counts nothing: ") + String.join("; ", missing);
    }

    /**
     * The same for whoever writes the object: what he names may come later.
     *
     * @param noun what the object is called
     */
    public List<String> warnings(String noun) {
      Stream<String> absent =
          keeps
              ? missing.stream().map("there is %s yet"::formatted)
              : Stream.of(
                  "there is %s yet, so the %s counts nothing until there is"
                      .formatted(String.join(", ", missing), noun));
      return Stream.concat(absent, excess.stream()).toList();
    }
  }

  /** The value of a WorkloadPriorityClass; empty if there is none of this name. */
  public Optional<Long> priority(String name) {
    return informerCaches
        .workloadPriorityClasses()
        .find(name)
        .map(found -> (long) found.getValue());
  }

  /** Compares what a spec names with what there is now. */
  public Comparison compare(ReservationSpec spec) {
    return switch (spec.scope()) {
      case Scope.OfQueue scope ->
          informerCaches
              .clusterQueues()
              .find(scope.clusterQueue())
              .map(queue -> compare(spec, scope, queue))
              .orElseGet(() -> nothing("no ClusterQueue " + scope.clusterQueue()));
      case Scope.OfFlavors scope -> {
        List<String> missing =
            scope.flavors().stream()
                .filter(flavor -> informerCaches.flavors().find(flavor).isEmpty())
                .sorted()
                .map("no ResourceFlavor "::concat)
                .toList();
        yield new Comparison(missing.size() < scope.flavors().size(), missing, List.of());
      }
      case Scope.OfNodes scope ->
          isFound(scope)
              ? Comparison.COMPLETE
              : nothing(
                  "no ResourceFlavor with nodeLabels %s, and no node of a topology with them"
                      .formatted(
                          scope.labels().entrySet().stream()
                              .map(label -> label.getKey() + "=" + label.getValue())
                              .sorted()
                              .collect(Collectors.joining(","))));
    };
  }

  private static Comparison nothing(String missing) {
    return new Comparison(false, List.of(missing), List.of());
  }

  /** Nodes are read while a flavor has a topology. Those of other flavors have its labels. */
  private boolean isFound(Scope.OfNodes scope) {
    boolean readsNodes = false;
    for (ResourceFlavor flavor : informerCaches.flavors().all()) {
      if (scope.includes(FlavorMapper.translate(flavor).nodeLabels())) {
        return true;
      }
      readsNodes |= FlavorMapper.topology(flavor).isPresent();
    }
    return readsNodes && nodes.test(scope.labels());
  }

  private Comparison compare(ReservationSpec spec, Scope.OfQueue scope, ClusterQueue queue) {
    List<String> missing = new ArrayList<>();
    List<String> excess = new ArrayList<>();
    for (Share share : scope.shares()) {
      Optional<ResourceQuota> quota = quota(queue, share);
      if (quota.isEmpty()) {
        missing.add(
            "no %s %s in ClusterQueue %s"
                .formatted(share.flavor(), share.resource(), scope.clusterQueue()));
      }
      quota
          .flatMap(found -> greatest(queue, found))
          .filter(greatest -> greatest < share.amount())
          .ifPresent(greatest -> excess.add(excess(scope, share, greatest)));
    }
    boolean keeps = missing.size() < scope.shares().size();
    for (LocalQueueId id : spec.localQueues().stream().sorted().toList()) {
      if (!isOf(scope.clusterQueue(), id)) {
        missing.add(
            "no LocalQueue %s/%s of ClusterQueue %s"
                .formatted(id.namespace(), id.name(), scope.clusterQueue()));
      }
    }
    spec.priorityClasses().stream()
        .filter(name -> priority(name).isEmpty())
        .forEach(name -> missing.add("no WorkloadPriorityClass " + name));
    return new Comparison(keeps, missing, excess);
  }

  private static String excess(Scope.OfQueue scope, Share share, long greatest) {
    return "%s of %s %s can't be kept whole: the nominal quota of ClusterQueue %s is %s"
        .formatted(
            Quantities.format(share.resource(), share.amount()),
            share.flavor(),
            share.resource(),
            scope.clusterQueue(),
            Quantities.format(share.resource(), greatest));
  }

  private boolean isOf(String clusterQueue, LocalQueueId id) {
    return informerCaches
        .localQueues()
        .find(id.namespace(), id.name())
        .flatMap(found -> Optional.ofNullable(found.getSpec()))
        .filter(spec -> clusterQueue.equals(spec.clusterQueue()))
        .isPresent();
  }

  private static Optional<ResourceQuota> quota(ClusterQueue queue, Share share) {
    return Optional.ofNullable(queue.getSpec()).stream()
        .flatMap(spec -> spec.resourceGroups().stream())
        .flatMap(group -> group.flavors().stream())
        .filter(flavor -> flavor.name().equals(share.flavor()))
        .flatMap(flavor -> flavor.resources().stream())
        .filter(quota -> quota.name().equals(share.resource()))
        .findFirst();
  }

  /**
   * The most that a quota can be by the rules of its queue; empty if other rules say it, or nobody
   * can read it.
   */
  private static Optional<Long> greatest(ClusterQueue queue, ResourceQuota quota) {
    Quantity nominal = quota.nominalQuota();
    if (nominal == null
        || (queue.getStatus() != null && queue.getStatus().effectiveQuotas() != null)) {
      return Optional.empty();
    }
    Map<String, String> annotations = queue.getMetadata().getAnnotations();
    BigDecimal factor =
        QuotaSchedule.of(annotations).map(QuotaSchedule::greatest).orElse(BigDecimal.ONE);
    try {
      return Optional.of(
          ResourceAmounts.scale(
              ResourceAmounts.scale(Quantities.amount(quota.name(), nominal.toString()), factor),
              QueueAnnotations.ofClusterQueue(annotations).rules().quota().oversellRate()));
    } catch (IllegalArgumentException notAQuantity) {
      return Optional.empty();
    }
  }
}
