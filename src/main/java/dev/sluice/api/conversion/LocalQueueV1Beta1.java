package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Local queues of v1beta1: usage has another name, and the list of flavors is left out. */
final class LocalQueueV1Beta1 implements KindConversion {

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    ObjectNode status = ConversionJson.object(object.get("status"));
    status.remove("flavors");
    ConversionJson.rename(status, "flavorUsage", "flavorsUsage");
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    ConversionJson.rename(
        ConversionJson.object(object.get("status")), "flavorsUsage", "flavorUsage");
  }
}
