package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.webhooks.review.AdmissionRequest;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.rules.LabelValidation;
import dev.sluice.webhooks.rules.NameValidation;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Webhook for ResourceFlavors. */
final class ResourceFlavorWebhook {

  private static final FieldPath SPEC = FieldPath.of("spec");

  private ResourceFlavorWebhook() {}

  static AdmissionResult mutate(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (request.isCreate()) {
      patch.append(TextNode.valueOf(KueueConstants.RESOURCE_IN_USE), "metadata", "finalizers");
    }
    return AdmissionResult.patched(patch);
  }

  static AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing()) {
      return AdmissionResult.allowed();
    }
    FieldErrors bad = new FieldErrors();
    JsonNode spec = JsonFields.at(request.object(), "spec");
    LabelValidation.labels(SPEC.child("nodeLabels"), JsonFields.map(spec, "nodeLabels"), bad);
    taints(JsonFields.list(spec, "nodeTaints"), bad);
    LabelValidation.tolerationKeys(
        SPEC.child("tolerations"), JsonFields.list(spec, "tolerations"), bad);
    return AdmissionResult.of(bad.errors());
  }

  private static void taints(List<JsonNode> taints, FieldErrors bad) {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < taints.size(); i++) {
      FieldPath path = SPEC.child("nodeTaints").index(i);
      String key = JsonFields.text(taints.get(i), "key");
      String value = JsonFields.text(taints.get(i), "value");
      String effect = JsonFields.text(taints.get(i), "effect");
      bad.invalid(path.child("key"), key, NameValidation.qualified(key));
      bad.invalid(path.child("value"), value, NameValidation.labelValue(value));
      if (!seen.add(key + ":" + effect)) {
        bad.duplicate(path, key + ":" + effect, "key and effect of a taint must be unique");
      }
    }
  }
}
