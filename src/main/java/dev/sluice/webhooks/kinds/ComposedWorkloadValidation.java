package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.controller.WorkloadValidation;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.RequestingUser;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.List;

/** Applies the rules of the webhook of Workloads to those that the operator makes for jobs. */
public final class ComposedWorkloadValidation implements WorkloadValidation {

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
    return webhook.validate(creation) instanceof AdmissionResult.Rejected rejected
        ? rejected.errors().stream().map(FieldError::message).toList()
        : List.of();
  }
}
