package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Flavors of v1alpha2: nodes are told by the labels of the object itself, and taints stand at the
 * top. Labels of nodes that are not those of the object are shown as {@code nodeSelector}.
 */
final class ResourceFlavorV1Alpha2 implements KindConversion {

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    JsonNode selector = object.remove("nodeSelector");
    JsonNode taints = ConversionJson.array(object.remove("taints"));
    ObjectNode spec = object.objectNode();
    JsonNode labels =
        selector instanceof ObjectNode given ? given : object.path("metadata").path("labels");
    ConversionJson.setUnlessEmpty(spec, "nodeLabels", labels.deepCopy());
    ConversionJson.setUnlessEmpty(spec, "nodeTaints", taints);
    ConversionJson.fill(spec, conversionData.restored());
    ConversionJson.setUnlessEmpty(object, "spec", spec);
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    ObjectNode spec = ConversionJson.object(object.remove("spec"));
    ObjectNode nodeLabels = ConversionJson.object(spec.remove("nodeLabels"));
    if (!nodeLabels.equals(ConversionJson.object(object.path("metadata").get("labels")))) {
      object.set("nodeSelector", nodeLabels);
    }
    ConversionJson.setUnlessEmpty(
        object, "taints", ConversionJson.array(spec.remove("nodeTaints")));
    conversionData.preserved().setAll(spec);
  }
}
