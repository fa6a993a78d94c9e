package dev.sluice.queues.mapping;

import dev.sluice.core.model.InactiveReason;
import java.util.Comparator;
import java.util.List;

/**
 * Reasons of a queue's {@code Active} condition, by precedence
 * (docs/workload-semantics.md#conditions-of-queues).
 */
public final class InactiveReasonText {

  /** All is well. */
  public static final String READY = "Ready";

  /** The object is being deleted. */
  public static final String TERMINATING = "Terminating";

  /** Its stop policy holds it. */
  public static final String STOPPED = "Stopped";

  /** It names a flavor that doesn't exist. */
  public static final String FLAVOR_NOT_FOUND = "FlavorNotFound";

  /** It names an admission check that doesn't exist. */
  public static final String ADMISSION_CHECK_NOT_FOUND = "AdmissionCheckNotFound";

  /** It names an admission check that nobody answers at present. */
  public static final String ADMISSION_CHECK_INACTIVE = "AdmissionCheckInactive";

  /** Two of its checks send workloads to other clusters. */
  public static final String MULTIPLE_MULTI_KUEUE = "MultipleMultiKueueAdmissionChecks";

  /** A check that sends workloads to other clusters is meant for some flavors only. */
  public static final String MULTI_KUEUE_PER_FLAVOR = "MultiKueueAdmissionCheckAppliedPerFlavor";

  /** Workloads can't be sent away and have nodes made for them here. */
  public static final String MULTI_KUEUE_WITH_PROVISIONING = "MultiKueueWithProvisioningRequest";

  /** One of its flavors names a topology that doesn't exist. */
  public static final String TOPOLOGY_NOT_FOUND = "TopologyNotFound";

  /** Anything else. */
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
          UNKNOWN);

  private InactiveReasonText() {}

  /** Problems of a ClusterQueue in order of precedence; reasons not listed come last. */
  public static List<InactiveReason> byPrecedence(List<InactiveReason> problems) {
    return problems.stream().sorted(Comparator.comparingInt(InactiveReasonText::rank)).toList();
  }

  private static int rank(InactiveReason problem) {
    int rank = PRECEDENCE.indexOf(problem.reason());
    return rank < 0 ? PRECEDENCE.size() : rank;
  }
}
