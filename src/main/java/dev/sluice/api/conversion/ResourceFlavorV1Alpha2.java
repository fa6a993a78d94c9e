package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Flavors of v1alpha2: nodes are told by the labels of the object itself, and taints stand at the
 * top. Labels of nodes that are not those of the object are shown as {@code nodeSelector}.
 */
final class ResourceFlavorV1Alpha2 implements KindConversion {

  @Override
  public void up(ObjectNode object, Memory memory) {
    JsonNode selector = object.remove("nodeSelector");
    JsonNode taints = Json.array(object.remove("taints"));
    ObjectNode spec = object.objectNode();
    JsonNode labels =
        selector instanceof ObjectNode given ? given : object.path("metadata").path("labels");
    Json.setUnlessEmpty(spec, "nodeLabels", labels.deepCopy());
    Json.setUnlessEmpty(spec, "nodeTaints", taints);
    Json.fill(spec, memory.recalled());
    Json.setUnlessEmpty(object, "spec", spec);
  }

  @Override
  public void down(ObjectNode object, Memory memory) {
    ObjectNode spec = Json.object(object.remove("spec"));
    ObjectNode nodeLabels = Json.object(spec.remove("nodeLabels"));
    if (!nodeLabels.equals(Json.object(object.path("metadata").get("labels")))) {
      object.set("nodeSelector", nodeLabels);
    }
    Json.setUnlessEmpty(object, "taints", Json.array(spec.remove("nodeTaints")));
    memory.kept().setAll(spec);
  }
}
