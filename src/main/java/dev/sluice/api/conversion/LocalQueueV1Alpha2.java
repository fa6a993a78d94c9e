package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import java.util.Set;

/** Local queues of v1alpha2: they name their cluster queue and say nothing else. */
final class LocalQueueV1Alpha2 implements KindConversion {

  private static final Set<String> KNOWN = Set.of("clusterQueue");

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    if (!conversionData.restored().isEmpty()) {
      JsonFields.fill(object.withObject("/spec"), conversionData.restored());
    }
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    JsonFields.moveAllBut(JsonFields.object(object.get("spec")), KNOWN, conversionData.preserved());
  }
}
