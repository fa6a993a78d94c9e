package dev.sluice.queues.mapping;

import dev.sluice.core.model.ClusterQueueSpec.InactiveReason;
import java.util.Comparator;
import java.util.List;

/** Reasons of a queue's {@code Active} condition, in order of precedence. */
public final class InactiveReasonText {

  /** The queue is active. */
  public static final String READY = "Ready";

  /** The object is being deleted. */
  public static final String TERMINATING = "Terminating";

  /** The stop policy holds the queue. */
  public static final String STOPPED = "Stopped";

  /** The queue names a flavor that does not exist. */
  public static final String FLAVOR_NOT_FOUND = "FlavorNotFound";

  /** The queue names an admission check that does not exist. */
  public static final String ADMISSION_CHECK_NOT_FOUND = "AdmissionCheckNotFound";

  /** The queue names an admission check that is inactive. */
  public static final String ADMISSION_CHECK_INACTIVE = "AdmissionCheckInactive";

  /** The queue has two MultiKueue checks. */
  public static final String MULTIPLE_MULTI_KUEUE = "MultipleMultiKueueAdmissionChecks";

  /** A MultiKueue check applies to some flavors only. */
  public static final String MULTI_KUEUE_PER_FLAVOR = "MultiKueueAdmissionCheckAppliedPerFlavor";

  /** The queue has a MultiKueue check and a provisioning check. */
  public static final String MULTI_KUEUE_WITH_PROVISIONING = "MultiKueueWithProvisioningRequest";

  /** A flavor of the queue names a topology that does not exist. */
  public static final String TOPOLOGY_NOT_FOUND = "TopologyNotFound";

  /** The parents of the queue's cohort form a cycle. */
  public static final String COHORT_CYCLE = "CohortCycleDetected";

  /** Any other problem. */
  public static final String UNKNOWN = "Unknown";

  private static final List<String> PRECEDENCE =
      List.of(
          TERMINATING,
          STOPPED,
          FLAVOR_NOT_FOUND,
          ADMISSION_CHECK_NOT_FOUND,
          ADMISSION_CHECK_INACTIVE,
          MULTIPLE_MULTI_KUEUE,
          MULTI_KUEUE_PER_FLAVOR,
          MULTI_KUEUE_WITH_PROVISIONING,
          TOPOLOGY_NOT_FOUND,
          COHORT_CYCLE,
          UNKNOWN);

  private InactiveReasonText() {}

  /** Problems of a ClusterQueue in order of precedence; unlisted reasons come last. */
  public static List<InactiveReason> byPrecedence(List<InactiveReason> problems) {
    return problems.stream().sorted(Comparator.comparingInt(InactiveReasonText::rank)).toList();
  }

  private static int rank(InactiveReason problem) {
    int rank = PRECEDENCE.indexOf(problem.reason());
    return rank < 0 ? PRECEDENCE.size() : rank;
  }
}
