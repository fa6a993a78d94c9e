package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;

/** Cohorts of v1beta1: past usage in the status was never written and is left out. */
final class CohortV1Beta1 implements KindConversion {

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    JsonFields.object(object.path("status").get("fairSharing"))
        .remove("admissionFairSharingStatus");
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    conversionData.clear();
  }
}
