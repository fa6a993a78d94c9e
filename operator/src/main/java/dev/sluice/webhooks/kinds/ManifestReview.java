package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldError;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.review.WebhookRouter.RequestingUser;
import io.fabric8.zjsonpatch.JsonPatch;
import java.util.List;
import java.util.Map;

/** Reviews a manifest as if it were sent to the API server to be created, which stores nothing. */
public final class ManifestReview {

  private final Map<String, AdmissionFunction> functions;
  private final List<WebhookKind> kinds;

  /** By the functions of the webhooks, by path, of these kinds. */
  public ManifestReview(Map<String, AdmissionFunction> functions, List<WebhookKind> kinds) {
    this.functions = Map.copyOf(functions);
    this.kinds = List.copyOf(kinds);
  }

  /**
   * The outcome.
   *
   * @param object the object with the defaults of the webhook
   * @param errors why it would be refused; empty if it wouldn't
   */
  public record Reviewed(ObjectNode object, List<String> errors) {

    public Reviewed {
      errors = List.copyOf(errors);
    }
  }

  /** What would become of a manifest of this kind that this user creates. */
  public Reviewed of(JobKind kind, ObjectNode manifest, RequestingUser user) {
    ObjectNode object = manifest.deepCopy();
    for (WebhookKind each : kinds) {
      if (each.kind().equals(kind.kind()) && each.group().equals(kind.group())) {
        AdmissionFunction mutate = functions.get(each.mutatingPath());
        AdmissionFunction validate = functions.get(each.validatingPath());
        if (mutate != null
            && mutate.review(creation(kind, object, user))
                instanceof AdmissionResult.Allowed allowed) {
          object = JsonFields.object(JsonPatch.apply(allowed.patch(), (JsonNode) object));
        }
        if (validate != null
            && validate.review(creation(kind, object, user))
                instanceof AdmissionResult.Rejected rejected) {
          return new Reviewed(object, rejected.errors().stream().map(FieldError::message).toList());
        }
      }
    }
    return new Reviewed(object, List.of());
  }

  private static AdmissionRequest creation(JobKind kind, ObjectNode object, RequestingUser user) {
    return new AdmissionRequest(
        "",
        AdmissionRequest.Operation.CREATE,
        "",
        kind.group(),
        kind.kind(),
        JsonFields.text(object, "metadata", "namespace"),
        JsonFields.text(object, "metadata", "name"),
        user,
        object,
        MissingNode.getInstance(),
        true);
  }
}
