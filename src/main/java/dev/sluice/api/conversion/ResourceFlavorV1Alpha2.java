package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;

/**
 * Flavors of v1alpha2: nodes are told by the labels of the object itself, and taints stand at the
 * top. Labels of nodes that are not those of the object are shown as {@code nodeSelector}.
 */
final class ResourceFlavorV1Alpha2 implements KindConversion {

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    JsonNode selector = object.remove("nodeSelector");
    JsonNode taints = JsonFields.array(object.remove("taints"));
    ObjectNode spec = object.objectNode();
    JsonNode labels =
        selector instanceof ObjectNode given ? given : object.path("metadata").path("labels");
    JsonFields.setUnlessEmpty(spec, "nodeLabels", labels.deepCopy());
    JsonFields.setUnlessEmpty(spec, "nodeTaints", taints);
    JsonFields.fill(spec, conversionData.restored());
    JsonFields.setUnlessEmpty(object, "spec", spec);
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    ObjectNode spec = JsonFields.object(object.remove("spec"));
    ObjectNode nodeLabels = JsonFields.object(spec.remove("nodeLabels"));
    if (!nodeLabels.equals(JsonFields.object(object.path("metadata").get("labels")))) {
      object.set("nodeSelector", nodeLabels);
    }
    JsonFields.setUnlessEmpty(object, "taints", JsonFields.array(spec.remove("nodeTaints")));
    conversionData.preserved().setAll(spec);
  }
}
