package dev.sluice.webhooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.Keys;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** ResourceFlavors. */
final class ResourceFlavorRules {

  private static final FieldPath SPEC = FieldPath.of("spec");

  private ResourceFlavorRules() {}

  static Verdict fillIn(AdmissionRequest request) {
    JsonPatch patch = new JsonPatch(request.object());
    if (request.isCreate()) {
      patch.append(TextNode.valueOf(Keys.RESOURCE_IN_USE), "metadata", "finalizers");
    }
    return Verdict.patched(patch);
  }

  static Verdict check(AdmissionRequest request) {
    if (request.isFadingOut()) {
      return Verdict.allowed();
    }
    Complaints bad = new Complaints();
    JsonNode spec = Json.at(request.object(), "spec");
    LabelRules.labels(SPEC.child("nodeLabels"), Json.map(spec, "nodeLabels"), bad);
    taints(Json.list(spec, "nodeTaints"), bad);
    LabelRules.tolerationKeys(SPEC.child("tolerations"), Json.list(spec, "tolerations"), bad);
    return Verdict.of(bad.errors());
  }

  private static void taints(List<JsonNode> taints, Complaints bad) {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < taints.size(); i++) {
      FieldPath path = SPEC.child("nodeTaints").index(i);
      String key = Json.text(taints.get(i), "key");
      String value = Json.text(taints.get(i), "value");
      String effect = Json.text(taints.get(i), "effect");
      bad.invalid(path.child("key"), key, Names.qualified(key));
      bad.invalid(path.child("value"), value, Names.labelValue(value));
      if (!seen.add(key + ":" + effect)) {
        bad.duplicate(path, key + ":" + effect, "key and effect of a taint must be unique");
      }
    }
  }
}
