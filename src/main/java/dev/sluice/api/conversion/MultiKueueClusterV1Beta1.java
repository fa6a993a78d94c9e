package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;

/**
 * Worker clusters of v1beta1: kubeconfig and cluster profile stand in the spec itself, and the
 * kubeconfig is required; one without a location stands for none.
 */
final class MultiKueueClusterV1Beta1 implements KindConversion {

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    if (object.get("spec") instanceof ObjectNode spec) {
      ObjectNode source = spec.objectNode();
      JsonFields.move(spec, "clusterProfileRef", source, "clusterProfileRef");
      JsonFields.move(spec, "kubeConfig", source, "kubeConfig");
      if (source.path("kubeConfig").path("location").asText("").isEmpty()) {
        source.remove("kubeConfig");
      }
      spec.set("clusterSource", source);
    }
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    if (object.get("spec") instanceof ObjectNode spec) {
      ObjectNode source = JsonFields.object(spec.remove("clusterSource"));
      JsonFields.move(source, "clusterProfileRef", spec, "clusterProfileRef");
      JsonFields.move(source, "kubeConfig", spec, "kubeConfig");
      if (!spec.has("kubeConfig")) {
        spec.putObject("kubeConfig").put("location", "").put("locationType", "Secret");
      }
    }
  }
}
