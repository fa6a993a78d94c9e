package dev.sluice.webhooks.registration;

import io.fabric8.kubernetes.api.model.admissionregistration.v1.MatchCondition;
import java.util.List;

/**
 * Match conditions of the webhooks for Workloads. A review costs more than the write itself, and
 * most writes change only conditions, which the schema of the API validates already. The
 * expressions skip writes that cannot break a rule and request a review in doubt. No expression may
 * fail for any object: a failure would reject the write.
 */
final class WorkloadMatchConditions {

  /** The only default is the removal of minCount while its feature gate is disabled. */
  private static final String HAS_MIN_COUNT =
      "object.?spec.?podSets.orValue([]).exists(p, has(p.minCount))";

  private static final String NEW_SPEC =
      "oldObject == null || object.?spec != oldObject.?spec"
          + " || object.metadata.?annotations != oldObject.metadata.?annotations";

  private static final String NEW_STATUS =
      "['admissionChecks', 'reclaimablePods', 'clusterName'].exists(f,"
          + " object.?status[?f] != oldObject.?status[?f])";

  private static final String QUOTA_WITHOUT_ADMISSION =
      "(!object.?status.?admission.hasValue()"
          + " && object.?status.?conditions.orValue([])"
          + ".exists(c, c.type == 'QuotaReserved' && c.status == 'True'))";

  /** Known pod sets, and whole amounts that are multiples of the count. */
  private static final String PLAIN_ASSIGNMENT =
      "object.?spec.?podSets.orValue([])"
          + ".exists(p, p.?name.orValue('main') == a.?name.orValue('main'))"
          + " && a.?resourceUsage.orValue({}).all(r,"
          + " isQuantity(string(a.resourceUsage[r]))"
          + " && quantity(string(a.resourceUsage[r])).isInteger()"
          + " && quantity(string(a.resourceUsage[r])).asInteger() >= 0"
          + " && (a.?count.orValue(0) <= 0"
          + " || quantity(string(a.resourceUsage[r])).asInteger() % a.?count.orValue(1) == 0))";

  private static final String UNUSUAL_ADMISSION =
      "(object.?status.?admission.hasValue()"
          + " && object.?status.?admission != oldObject.?status.?admission"
          + " && (oldObject.?status.?admission.hasValue()"
          + " || !object.status.admission.?podSetAssignments.orValue([]).all(a, "
          + PLAIN_ASSIGNMENT
          + ")))";

  private WorkloadMatchConditions() {}

  /** Match conditions of the validating webhook. */
  static List<MatchCondition> validating() {
    return List.of(
        new MatchCondition(
            String.join(" || ", NEW_SPEC, NEW_STATUS, QUOTA_WITHOUT_ADMISSION, UNUSUAL_ADMISSION),
            "changes-more-than-conditions"));
  }

  /** Match conditions of the mutating webhook. */
  static List<MatchCondition> mutating() {
    return List.of(new MatchCondition(HAS_MIN_COUNT, "has-min-count"));
  }
}
