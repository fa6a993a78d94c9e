package dev.sluice.queues.mapping;

import dev.sluice.api.Quantities;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.QuotaSchedule;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionCheckStrategyRule;
import dev.sluice.api.v1beta2.ClusterQueue.AdmissionMode;
import dev.sluice.api.v1beta2.ClusterQueue.BorrowWithinCohortPolicy;
import dev.sluice.api.v1beta2.ClusterQueue.ClusterQueuePreemption;
import dev.sluice.api.v1beta2.ClusterQueue.FlavorFungibilityPolicy;
import dev.sluice.api.v1beta2.ClusterQueue.FlavorFungibilityPreference;
import dev.sluice.api.v1beta2.FairSharing;
import dev.sluice.core.model.ClusterQueueSpec;
import dev.sluice.core.model.ClusterQueueSpec.FlavorFungibility;
import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.ReclaimWithinCohort;
import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies.WithinClusterQueue;
import dev.sluice.core.model.ClusterQueueSpec.QueueingStrategy;
import dev.sluice.core.model.ClusterQueueSpec.StopPolicy;
import dev.sluice.core.model.LabelSelector;
import dev.sluice.core.model.ResourceGroup;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Maps ClusterQueues to the scheduler's model. */
public final class ClusterQueueMapper {

  private ClusterQueueMapper() {}

  /** The same with the quota of a time, if the queue has a schedule (docs/quota-by-time.md). */
  public static ClusterQueueSpec translate(
      ClusterQueue queue, ReferenceLookup referenceLookup, Instant now) {
    ClusterQueueSpec declared = translate(queue, referenceLookup);
    return QuotaSchedule.of(queue.getMetadata().getAnnotations())
        .map(schedule -> at(declared, schedule, now))
        .orElse(declared);
  }

  /** A ClusterQueue with the quota of a time by a schedule. */
  public static ClusterQueueSpec at(
      ClusterQueueSpec spec, QuotaSchedule quotaSchedule, Instant now) {
    BigDecimal factor = quotaSchedule.factor(now);
    return spec.with(spec.groups().stream().map(each -> each.scaled(factor)).toList());
  }

  /**
   * Maps a ClusterQueue with the quota that it declares, with the problems that depend on other
   * objects: its checks, the topologies of its flavors, and faults that validation did not catch.
   */
  public static ClusterQueueSpec translate(ClusterQueue queue, ReferenceLookup referenceLookup) {
    dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec spec = queue.getSpec();
    String name = queue.getMetadata().getName();
    boolean terminating = queue.getMetadata().getDeletionTimestamp() != null;
    if (spec == null) {
      return empty(name, terminating);
    }
    MappingResult<List<ResourceGroup>> groups =
        ResourceGroupMapper.translate(spec.resourceGroups());
    MappingResult<LabelSelector> selector =
        LabelSelectorMapper.translate(spec.namespaceSelector(), "spec.namespaceSelector");
    List<String> checks = admissionChecks(queue);
    MappingResult<BigDecimal> weight = FairWeightParser.translate(spec.fairSharing());
    List<InactiveReason> problems = new ArrayList<>(referenceLookup.problemsOf(queue));
    groups
        .faults()
        .forEach(fault -> problems.add(new InactiveReason(InactiveReasonText.UNKNOWN, fault)));
    weight
        .faults()
        .forEach(fault -> problems.add(new InactiveReason(InactiveReasonText.UNKNOWN, fault)));
    selector
        .faults()
        .forEach(fault -> problems.add(new InactiveReason(InactiveReasonText.UNKNOWN, fault)));
    QueueAnnotations.OfClusterQueue annotated =
        QueueAnnotations.ofClusterQueue(queue.getMetadata().getAnnotations());
    QueueAnnotations.sentences(annotated.faults(), queue.getMetadata().getAnnotations())
        .forEach(fault -> problems.add(new InactiveReason(InactiveReasonText.UNKNOWN, fault)));
    return new ClusterQueueSpec(
        name,
        spec.cohortName() == null ? "" : spec.cohortName(),
        groups.value(),
        annotated
            .strategy()
            .orElseGet(
                () ->
                    switch (spec.queueingStrategy()) {
                      case STRICT_FIFO -> QueueingStrategy.STRICT_FIFO;
                      case BEST_EFFORT_FIFO -> QueueingStrategy.BEST_EFFORT_FIFO;
                    }),
        selector.value(),
        stopPolicy(spec.stopPolicy()),
        terminating,
        preemption(spec.preemption()),
        fungibility(spec.flavorFungibility()),
        weight.value(),
        checks,
        problems,
        false,
        spec.admissionScope() != null
            && spec.admissionScope().admissionMode()
                == AdmissionMode.USAGE_BASED_ADMISSION_FAIR_SHARING,
        annotated.rules(),
        referenceLookup.delaysTopologyOf(queue));
  }

  /** Names of the flavors of a ClusterQueue, in the order of its spec. */
  public static List<String> flavors(ClusterQueue queue) {
    dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec spec = queue.getSpec();
    if (spec == null) {
      return List.of();
    }
    return spec.resourceGroups().stream()
        .flatMap(group -> group.flavors().stream())
        .map(flavor -> flavor.name())
        .distinct()
        .toList();
  }

  /** Names of the admission checks of a ClusterQueue, in the order of its spec. */
  public static List<String> admissionChecks(ClusterQueue queue) {
    return checkRules(queue).stream().map(AdmissionCheckStrategyRule::name).toList();
  }

  /** The admission checks of a ClusterQueue, with the flavors that they apply to. */
  static List<AdmissionCheckStrategyRule> checkRules(ClusterQueue queue) {
    dev.sluice.api.v1beta2.ClusterQueue.ClusterQueueSpec spec = queue.getSpec();
    return spec == null || spec.admissionChecksStrategy() == null
        ? List.of()
        : spec.admissionChecksStrategy().admissionChecks();
  }

  private static ClusterQueueSpec empty(String name, boolean terminating) {
    return new ClusterQueueSpec(
        name,
        "",
        List.of(),
        QueueingStrategy.BEST_EFFORT_FIFO,
        new LabelSelector.Nothing(),
        StopPolicy.NONE,
        terminating,
        PreemptionPolicies.NEVER,
        FlavorFungibility.DEFAULT,
        List.of(),
        List.of());
  }

  static StopPolicy stopPolicy(dev.sluice.api.v1beta2.ClusterQueue.StopPolicy policy) {
    return switch (policy) {
      case NONE -> StopPolicy.NONE;
      case HOLD -> StopPolicy.HOLD;
      case HOLD_AND_DRAIN -> StopPolicy.HOLD_AND_DRAIN;
    };
  }

  private static PreemptionPolicies preemption(ClusterQueuePreemption preemption) {
    Integer threshold = preemption.borrowWithinCohort().maxPriorityThreshold();
    return new PreemptionPolicies(
        switch (preemption.withinClusterQueue()) {
          case NEVER -> WithinClusterQueue.NEVER;
          case LOWER_PRIORITY -> WithinClusterQueue.LOWER_PRIORITY;
          case LOWER_OR_NEWER_EQUAL_PRIORITY -> WithinClusterQueue.LOWER_OR_NEWER_EQUAL_PRIORITY;
        },
        switch (preemption.reclaimWithinCohort()) {
          case NEVER -> ReclaimWithinCohort.NEVER;
          case LOWER_PRIORITY -> ReclaimWithinCohort.LOWER_PRIORITY;
          case ANY -> ReclaimWithinCohort.ANY;
        },
        preemption.borrowWithinCohort().policy() == BorrowWithinCohortPolicy.LOWER_PRIORITY,
        threshold == null ? OptionalInt.empty() : OptionalInt.of(threshold));
  }

  private static FlavorFungibility fungibility(
      dev.sluice.api.v1beta2.ClusterQueue.FlavorFungibility fungibility) {
    return new FlavorFungibility(
        fungibility.whenCanBorrow() == FlavorFungibilityPolicy.TRY_NEXT_FLAVOR,
        fungibility.whenCanPreempt() == FlavorFungibilityPolicy.TRY_NEXT_FLAVOR,
        fungibility.preference() == FlavorFungibilityPreference.PREEMPTION_OVER_BORROWING);
  }

  /** Parses fair-sharing weights of queues and cohorts. */
  static final class FairWeightParser {

    private FairWeightParser() {}

    /** The weight; 1 if it is absent, or if it is invalid, which is reported as a fault. */
    static MappingResult<BigDecimal> translate(@Nullable FairSharing sharing) {
      if (sharing == null) {
        return new MappingResult<>(BigDecimal.ONE, List.of());
      }
      String given = sharing.weight().toString();
      try {
        BigDecimal weight = Quantities.parse(given);
        if (weight.signum() >= 0) {
          return new MappingResult<>(weight, List.of());
        }
      } catch (IllegalArgumentException e) {
        return fault(given);
      }
      return fault(given);
    }

    /** The weight of a LocalQueue, of any sign; 1 if it is absent or not a quantity. */
    static double ofLocalQueue(@Nullable FairSharing sharing) {
      if (sharing == null) {
        return 1;
      }
      try {
        return Quantities.parse(sharing.weight().toString()).doubleValue();
      } catch (IllegalArgumentException e) {
        return 1;
      }
    }

    private static MappingResult<BigDecimal> fault(String given) {
      return new MappingResult<>(
          BigDecimal.ONE,
          List.of(
              "spec.fairSharing.weight: \"%s\" is not a quantity of at least 0".formatted(given)));
    }
  }
}
