package dev.sluice.queues.status;

import dev.sluice.api.Quantities;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueStatus;
import dev.sluice.api.v1beta2.ClusterQueue.FlavorUsage;
import dev.sluice.api.v1beta2.ClusterQueue.ResourceUsage;
import dev.sluice.api.v1beta2.Cohort.CohortStatus;
import dev.sluice.api.v1beta2.FairSharing.AdmissionFairSharingStatus;
import dev.sluice.api.v1beta2.FairSharing.FairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueFairSharingStatus;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueFlavorUsage;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueResourceUsage;
import dev.sluice.api.v1beta2.LocalQueue.LocalQueueStatus;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.CohortView;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.LocalQueueView.LocalQueueUsageView;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.quota.DominantResourceShare;
import dev.sluice.queues.mapping.InactiveReasonText;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Computes the status of queues from the scheduler's views. */
public final class QueueStatuses {

  /** The condition that tells whether a queue admits Workloads. */
  public static final String ACTIVE = "Active";

  /** The maximum length of the lists of flavors and of resources in a status. */
  private static final int MAX_LIST_LENGTH = 64;

  /** Smaller amounts of past usage would be shown as 0. */
  private static final double MIN_SHOWN_USAGE = 0.0005;

  private QueueStatuses() {}

  /**
   * The status of a ClusterQueue.
   *
   * @param view the scheduler's view
   * @param generation the generation of the object
   * @param current the present status, if any; conditions of other controllers are kept
   * @param now the time of a transition, if there is one
   */
  public static ClusterQueueStatus clusterQueue(
      ClusterQueueView view, long generation, @Nullable ClusterQueueStatus current, Instant now) {
    List<Condition> conditions = current == null ? List.of() : current.conditions();
    return new ClusterQueueStatus(
        view.admitted(),
        active(
            conditions,
            InactiveReasonText.byPrecedence(view.problems()),
            "Can admit new workloads",
            "Can't admit new workloads: ",
            generation,
            now),
        current == null ? null : current.effectiveQuotas(),
        view.dominantResourceShare().map(QueueStatuses::fairSharing).orElse(null),
        byFlavor(
            view.usage(),
            usage -> resource(usage, dev.sluice.core.engine.FlavorUsage::reserved),
            FlavorUsage::new),
        byFlavor(
            view.usage(),
            usage -> resource(usage, dev.sluice.core.engine.FlavorUsage::admitted),
            FlavorUsage::new),
        view.pendingActive() + view.pendingInadmissible(),
        view.reserving());
  }

  /** The status of a Cohort; the present one may be absent, and its effective quotas stay. */
  public static CohortStatus cohort(CohortView view, @Nullable CohortStatus current) {
    return new CohortStatus(
        current == null ? null : current.effectiveQuotas(),
        view.dominantResourceShare().map(QueueStatuses::fairSharing).orElse(null));
  }

  private static FairSharingStatus fairSharing(DominantResourceShare dominantResourceShare) {
    return new FairSharingStatus(dominantResourceShare.rounded());
  }

  /** The status of a LocalQueue; the parameters are those of {@link #clusterQueue}. */
  public static LocalQueueStatus localQueue(
      LocalQueueView view, long generation, @Nullable LocalQueueStatus current, Instant now) {
    List<Condition> conditions = current == null ? List.of() : current.conditions();
    return new LocalQueueStatus(
        view.admitted(),
        active(
            conditions,
            view.problems(),
            "Can submit new workloads to clusterQueue",
            "",
            generation,
            now),
        view.usageOverTime()
            .map(past -> unlessNeverUsed(current, usageOverTime(past, view.usage())))
            .orElse(null),
        byFlavor(
            view.usage(),
            usage -> localResource(usage, dev.sluice.core.engine.FlavorUsage::reserved),
            LocalQueueFlavorUsage::new),
        byFlavor(
            view.usage(),
            usage -> localResource(usage, dev.sluice.core.engine.FlavorUsage::admitted),
            LocalQueueFlavorUsage::new),
        view.pendingActive() + view.pendingInadmissible(),
        view.reserving());
  }

  /**
   * The present status if nothing was used then and now: a later sample of nothing tells nothing,
   * and would be a write for each LocalQueue whenever the views of all are published anew.
   */
  private static LocalQueueFairSharingStatus unlessNeverUsed(
      @Nullable LocalQueueStatus current, LocalQueueFairSharingStatus wanted) {
    LocalQueueFairSharingStatus present = current == null ? null : current.fairSharing();
    AdmissionFairSharingStatus past = present == null ? null : present.admissionFairSharingStatus();
    AdmissionFairSharingStatus now = wanted.admissionFairSharingStatus();
    return past != null
            && now != null
            && past.lastUpdate() != null
            && now.consumedResources().equals(past.consumedResources())
            && now.consumedResources().values().stream().allMatch(QueueStatuses::isZero)
        ? new LocalQueueFairSharingStatus(
            wanted.weightedShare(),
            new AdmissionFairSharingStatus(now.consumedResources(), past.lastUpdate()))
        : wanted;
  }

  private static boolean isZero(Quantity quantity) {
    return Quantity.parse("0").equals(quantity);
  }

  /**
   * The past usage of a LocalQueue, in thousandths of a unit, or in whole units for large amounts.
   * Resources that the ClusterQueue covers and the LocalQueue didn't use are written as 0.
   */
  private static LocalQueueFairSharingStatus usageOverTime(
      LocalQueueUsageView past, List<dev.sluice.core.engine.FlavorUsage> covered) {
    Map<String, Quantity> consumed = new TreeMap<>();
    covered.forEach(usage -> consumed.put(usage.resource(), Quantity.parse("0")));
    past.consumed()
        .forEach(
            (resource, amount) -> {
              if (amount >= MIN_SHOWN_USAGE) {
                consumed.put(resource, Quantity.parse(Quantities.rounded(resource, amount)));
              }
            });
    return new LocalQueueFairSharingStatus(
        0L,
        new AdmissionFairSharingStatus(
            consumed, past.sampledAt().truncatedTo(ChronoUnit.SECONDS).toString()));
  }

  private static List<Condition> active(
      List<Condition> conditions,
      List<InactiveReason> problems,
      String can,
      String cannot,
      long generation,
      Instant now) {
    if (problems.isEmpty()) {
      return Conditions.with(
          conditions, Conditions.of(ACTIVE, true, InactiveReasonText.READY, can, generation, now));
    }
    return Conditions.with(
        conditions,
        Conditions.of(
            ACTIVE,
            false,
            problems.getFirst().reason(),
            cannot + joined(problems, cannot),
            generation,
            now));
  }

  /** All messages, without the prefix that they may share with the condition's message. */
  private static String joined(List<InactiveReason> problems, String opening) {
    return problems.stream()
        .map(InactiveReason::message)
        .map(text -> text.startsWith(opening) ? text.substring(opening.length()) : text)
        .collect(Collectors.joining("; "));
  }

  /** Entries in the order of the view, grouped by flavor. */
  private static <R, F> List<F> byFlavor(
      List<dev.sluice.core.engine.FlavorUsage> usage,
      Function<dev.sluice.core.engine.FlavorUsage, R> resource,
      FlavorFactory<R, F> flavor) {
    Map<String, List<R>> resources = new LinkedHashMap<>();
    for (dev.sluice.core.engine.FlavorUsage entry : usage) {
      resources
          .computeIfAbsent(entry.flavor(), name -> new ArrayList<>())
          .add(resource.apply(entry));
    }
    return resources.entrySet().stream()
        .limit(MAX_LIST_LENGTH)
        .map(
            entry ->
                flavor.make(
                    entry.getKey(), entry.getValue().stream().limit(MAX_LIST_LENGTH).toList()))
        .toList();
  }

  private static ResourceUsage resource(
      dev.sluice.core.engine.FlavorUsage usage,
      ToLongFunction<dev.sluice.core.engine.FlavorUsage> part) {
    long total = part.applyAsLong(usage);
    long borrowed = Math.max(0, ResourceAmounts.subtract(total, usage.nominal()));
    return new ResourceUsage(
        usage.resource(), quantity(usage.resource(), borrowed), quantity(usage.resource(), total));
  }

  private static LocalQueueResourceUsage localResource(
      dev.sluice.core.engine.FlavorUsage usage,
      ToLongFunction<dev.sluice.core.engine.FlavorUsage> part) {
    return new LocalQueueResourceUsage(
        usage.resource(), quantity(usage.resource(), part.applyAsLong(usage)));
  }

  private static Quantity quantity(String resource, long amount) {
    return Quantity.parse(Quantities.format(resource, amount));
  }

  /** Creates the entry of a flavor from its name and its resources. */
  private interface FlavorFactory<R, F> {
    F make(String name, List<R> resources);
  }
}
