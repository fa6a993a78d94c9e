package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.rules.LabelValidation;
import dev.sluice.webhooks.rules.NameValidation;
import dev.sluice.webhooks.rules.QuantityValidation;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Validates the status of a Workload. */
final class WorkloadStatusValidation {

  private static final FieldPath STATUS = FieldPath.of("status");
  private static final FieldPath ADMISSION = STATUS.child("admission");
  private static final Pattern REASON = Pattern.compile("[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?");
  private static final int MAX_REASON = 1024;
  private static final int MAX_MESSAGE = 32768;
  private static final Set<String> STATUSES = Set.of("True", "False", "Unknown");
  private static final int MILLI_DIGITS = 3;

  void validate(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
    conditions(now, before, errors);
    if (now.hasQuota() && !now.hasAdmission() && !(before.hasQuota() && !before.hasAdmission())) {
      errors.required(ADMISSION, "must be set while condition QuotaReserved is True");
    }
    assignments(now, before, errors);
    reclaimable(now, before, errors);
    podSetUpdates(now, before, errors);
  }

  private static void conditions(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
    List<JsonNode> conditions = JsonFields.list(now.status(), "conditions");
    if (conditions.equals(JsonFields.list(before.status(), "conditions"))) {
      return;
    }
    for (int i = 0; i < conditions.size(); i++) {
      condition(STATUS.child("conditions").index(i), conditions.get(i), errors);
    }
  }

  private static void condition(FieldPath path, JsonNode condition, FieldErrors errors) {
    String type = JsonFields.text(condition, "type");
    errors.invalid(path.child("type"), type, NameValidation.qualified(type));
    String status = JsonFields.text(condition, "status");
    if (!STATUSES.contains(status)) {
      errors.notSupported(path.child("status"), status, STATUSES);
    }
    String reason = JsonFields.text(condition, "reason");
    if (reason.isEmpty()) {
      errors.required(path.child("reason"), "must be set, a word such as Admitted");
    } else if (reason.length() > MAX_REASON || !REASON.matcher(reason).matches()) {
      errors.invalid(
          path.child("reason"),
          reason,
          "must have at most " + MAX_REASON + " characters that match " + REASON);
    }
    if (JsonFields.text(condition, "message").length() > MAX_MESSAGE) {
      errors.invalid(
          path.child("message"),
          JsonFields.text(condition, "message"),
          "must be no more than " + MAX_MESSAGE + " bytes");
    }
    if (!isTime(JsonFields.text(condition, "lastTransitionTime"))) {
      errors.required(path.child("lastTransitionTime"), "must be set");
    }
    if (JsonFields.at(condition, "observedGeneration").asLong() < 0) {
      errors.invalid(
          path.child("observedGeneration"),
          JsonFields.at(condition, "observedGeneration"),
          "must be greater than or equal to zero");
    }
  }

  private static boolean isTime(String text) {
    try {
      OffsetDateTime.parse(text);
      return true;
    } catch (DateTimeException notATime) {
      return false;
    }
  }

  private static void assignments(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
    JsonNode admission = JsonFields.at(now.status(), "admission");
    if (admission.isMissingNode()
        || admission.equals(JsonFields.at(before.status(), "admission"))) {
      return;
    }
    Set<String> known = now.counts().keySet();
    List<JsonNode> assignments = JsonFields.list(admission, "podSetAssignments");
    for (int i = 0; i < assignments.size(); i++) {
      FieldPath path = ADMISSION.child("podSetAssignments").index(i);
      String name = WorkloadReview.nameOf(assignments.get(i));
      if (!known.contains(name)) {
        errors.notSupported(path.child("name"), name, known);
      }
      usage(path.child("resourceUsage"), assignments.get(i), errors);
    }
  }

  private static void usage(FieldPath path, JsonNode assignment, FieldErrors errors) {
    long count = JsonFields.at(assignment, "count").asLong();
    for (Map.Entry<String, JsonNode> entry :
        JsonFields.at(assignment, "resourceUsage").properties()) {
      FieldPath at = path.key(entry.getKey());
      QuantityValidation.checkNonNegative(at, entry.getValue(), errors)
          .filter(amount -> count > 0)
          .map(amount -> units(entry.getKey(), amount))
          .filter(units -> units.remainder(BigDecimal.valueOf(count)).signum() != 0)
          .ifPresent(
              units ->
                  errors.invalid(at, entry.getValue(), "is not a multiple of count, " + count));
    }
  }

  /** The amount in the units of the API: CPU in thousandths, other resources in whole units. */
  private static BigDecimal units(String resource, BigDecimal amount) {
    BigDecimal scaled = resource.equals("cpu") ? amount.movePointRight(MILLI_DIGITS) : amount;
    return scaled.setScale(0, RoundingMode.CEILING);
  }

  private static void reclaimable(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
    Map<String, Long> counts = now.counts();
    Map<String, Long> old = before.reclaimable();
    List<JsonNode> entries = JsonFields.list(now.status(), "reclaimablePods");
    for (int i = 0; i < entries.size(); i++) {
      FieldPath path = STATUS.child("reclaimablePods").index(i);
      String name = WorkloadReview.nameOf(entries.get(i));
      long count = JsonFields.at(entries.get(i), "count").asLong();
      Long max = counts.get(name);
      Long oldCount = old.get(name);
      boolean stale = (now.isElastic() || now.hasQuota()) && oldCount != null && oldCount == count;
      if (max == null) {
        errors.notSupported(path.child("name"), name, counts.keySet());
      } else if (count > max && !stale) {
        errors.invalid(
            path.child("count"),
            JsonFields.at(entries.get(i), "count"),
            "should be less than or equal to the count of the pod set, " + max);
      }
    }
  }

  private static void podSetUpdates(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
    List<JsonNode> checks = JsonFields.list(now.status(), "admissionChecks");
    if (checks.equals(JsonFields.list(before.status(), "admissionChecks"))) {
      return;
    }
    Set<String> known = now.counts().keySet();
    for (int i = 0; i < checks.size(); i++) {
      List<JsonNode> updates = JsonFields.list(checks.get(i), "podSetUpdates");
      for (int j = 0; j < updates.size(); j++) {
        FieldPath path = STATUS.child("admissionChecks").index(i).child("podSetUpdates").index(j);
        podSetUpdate(path, updates.get(j), known, errors);
      }
    }
  }

  private static void podSetUpdate(
      FieldPath path, JsonNode update, Set<String> known, FieldErrors errors) {
    String name = JsonFields.text(update, "name");
    if (!known.contains(name)) {
      errors.notSupported(path.child("name"), name, known);
    }
    LabelValidation.labels(path.child("labels"), JsonFields.map(update, "labels"), errors);
    LabelValidation.annotations(
        path.child("annotations"), JsonFields.map(update, "annotations"), errors);
    LabelValidation.labels(
        path.child("nodeSelector"), JsonFields.map(update, "nodeSelector"), errors);
    LabelValidation.tolerationKeys(
        path.child("tolerations"), JsonFields.list(update, "tolerations"), errors);
  }
}
