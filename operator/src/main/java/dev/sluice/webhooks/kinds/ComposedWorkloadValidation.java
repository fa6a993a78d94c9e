package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.controller.JobReconciler.WorkloadValidation;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.review.WebhookRouter.RequestingUser;
import dev.sluice.webhooks.rules.StoredSize;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Applies the rules of the webhook of Workloads to those that the operator makes for jobs. Besides,
 * such a Workload leaves room for what is written of it later: one that the API server can't store
 * with an eviction would never be evicted (docs/workload-semantics.md#creation-of-workloads).
 */
public final class ComposedWorkloadValidation implements WorkloadValidation {

  /** Half of the 256 KiB that the API server lets annotations have. */
  private static final int MOST_ANNOTATIONS = 128 * 1024;

  /** Of the 1.5 MiB that the API server stores; the rest is for metadata and status. */
  private static final int MOST_SPEC = 1024 * 1024;

  private final WorkloadWebhook webhook;

  /** By the rules that hold with these settings. */
  public ComposedWorkloadValidation(WebhookSettings settings) {
    this.webhook = new WorkloadWebhook(settings);
  }

  @Override
  public List<String> errors(ObjectNode workload) {
    AdmissionRequest creation =
        new AdmissionRequest(
            "",
            AdmissionRequest.Operation.CREATE,
            "",
            KueueConstants.GROUP,
            "Workload",
            JsonFields.text(workload, "metadata", "namespace"),
            JsonFields.text(workload, "metadata", "name"),
            RequestingUser.named(""),
            workload,
            MissingNode.getInstance(),
            false);
    FieldErrors sizes = new FieldErrors();
    checkSizes(workload, sizes);
    List<FieldError> broken =
        webhook.validate(creation) instanceof AdmissionResult.Rejected rejected
            ? rejected.errors()
            : List.of();
    return Stream.concat(sizes.errors().stream(), broken.stream())
        .map(FieldError::message)
        .toList();
  }

  private static void checkSizes(ObjectNode workload, FieldErrors errors) {
    long annotations = 0;
    for (Map.Entry<String, String> each : JsonFields.annotations(workload).entrySet()) {
      annotations += StoredSize.of(each.getKey()) + StoredSize.of(each.getValue());
    }
    checkSize(FieldPath.of("metadata").child("annotations"), annotations, MOST_ANNOTATIONS, errors);
    checkSize(
        FieldPath.of("spec"),
        StoredSize.withNotes(JsonFields.at(workload, "spec")),
        MOST_SPEC,
        errors);
  }

  private static void checkSize(FieldPath path, long bytes, int most, FieldErrors errors) {
    if (bytes > most) {
      errors.tooMany(path, (int) Math.min(Integer.MAX_VALUE, bytes), most, "bytes as stored");
    }
  }
}
