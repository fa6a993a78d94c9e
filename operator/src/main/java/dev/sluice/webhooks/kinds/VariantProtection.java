package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.rules.ClusterLookup;
import java.util.List;

/**
 * Rejects changes of what makes a Workload a parent or a variant by users other than the operator
 * (docs/concurrent-admission.md#who-may-write-the-relation): quota is charged according to it.
 * Delegates everything else to another function.
 */
final class VariantProtection implements AdmissionFunction {

  private static final FieldPath METADATA = FieldPath.of("metadata");
  private static final String WRITTEN_BY = "is written by the operator alone";

  private final ClusterLookup cluster;
  private final AdmissionFunction next;

  VariantProtection(ClusterLookup cluster, AdmissionFunction next) {
    this.cluster = cluster;
    this.next = next;
  }

  @Override
  public AdmissionResult review(AdmissionRequest request) {
    if (!(request.isCreate() || request.isUpdate()) || cluster.isOperator(request.user())) {
      return next.review(request);
    }
    JsonNode now = request.object();
    JsonNode before = request.oldObject();
    FieldErrors errors = new FieldErrors();
    if (!labelOf(now).equals(labelOf(before))) {
      errors.operatorOnly(METADATA.child("labels").key(KueueConstants.CONCURRENT_ADMISSION_PARENT));
    }
    if (!flavorOf(now).equals(flavorOf(before))) {
      errors.operatorOnly(
          METADATA.child("annotations").key(KueueConstants.ALLOWED_RESOURCE_FLAVORS));
    }
    if (!parentsOf(now).equals(parentsOf(before))) {
      errors.forbidden(METADATA.child("ownerReferences"), "a Workload as the owner " + WRITTEN_BY);
    }
    if (!flavorOf(before).isEmpty()
        && !JsonFields.at(now, "spec").equals(JsonFields.at(before, "spec"))) {
      errors.forbidden(FieldPath.of("spec"), "of a variant " + WRITTEN_BY);
    }
    return errors.errors().isEmpty()
        ? next.review(request)
        : new AdmissionResult.Rejected(errors.errors());
  }

  private static String labelOf(JsonNode workload) {
    return JsonFields.at(workload, "metadata", "labels", KueueConstants.CONCURRENT_ADMISSION_PARENT)
        .asText();
  }

  private static String flavorOf(JsonNode workload) {
    return JsonFields.at(
            workload, "metadata", "annotations", KueueConstants.ALLOWED_RESOURCE_FLAVORS)
        .asText();
  }

  private static List<String> parentsOf(JsonNode workload) {
    return JsonFields.list(workload, "metadata", "ownerReferences").stream()
        .filter(owner -> JsonFields.text(owner, "kind").equals("Workload"))
        .filter(
            owner -> JsonFields.text(owner, "apiVersion").startsWith(KueueConstants.GROUP + "/"))
        .map(owner -> JsonFields.text(owner, "uid"))
        .sorted()
        .toList();
  }
}
