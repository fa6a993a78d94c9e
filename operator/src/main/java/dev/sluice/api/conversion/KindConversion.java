package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * How objects of one kind read in one older version. Both ways change the object in place; what the
 * target can't say goes to {@code memory}, and what the target said before is found there.
 */
interface KindConversion {

  /** From the older version to the stored one. */
  void convertToHub(ObjectNode object, ConversionData conversionData);

  /** From the stored version to the older one; never refuses an object. */
  void convertFromHub(ObjectNode object, ConversionData conversionData);

  /** For kinds that are the same in both versions but for the version's name. */
  static KindConversion same() {
    return new KindConversion() {
      @Override
      public void convertToHub(ObjectNode object, ConversionData conversionData) {
        conversionData.clear();
      }

      @Override
      public void convertFromHub(ObjectNode object, ConversionData conversionData) {
        conversionData.clear();
      }
    };
  }
}
