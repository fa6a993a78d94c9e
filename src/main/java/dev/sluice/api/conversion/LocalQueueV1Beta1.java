package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;

/** Local queues of v1beta1: usage has another name, and the list of flavors is left out. */
final class LocalQueueV1Beta1 implements KindConversion {

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    ObjectNode status = JsonFields.object(object.get("status"));
    status.remove("flavors");
    JsonFields.rename(status, "flavorUsage", "flavorsUsage");
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    JsonFields.rename(JsonFields.object(object.get("status")), "flavorsUsage", "flavorUsage");
  }
}
