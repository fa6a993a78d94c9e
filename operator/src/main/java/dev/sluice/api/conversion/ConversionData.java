package dev.sluice.api.conversion;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;

/**
 * What an object said in one version and can't say in another. It travels in one annotation, an
 * object with an entry for each version that something was said in; an entry is taken out again
 * when the object returns to that version.
 */
final class ConversionData {

  /**
   * Deeper than what any version says in fields of its own. Anybody may write the annotation, and
   * what it says goes into the object, which must not be nested too deep to be converted again.
   */
  private static final int MAX_DEPTH = 100;

  private static final ObjectMapper MAPPER =
      new ObjectMapper(
          JsonFactory.builder()
              .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
              .streamReadConstraints(
                  StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
              .build());

  private final ObjectNode restored;
  private final ObjectNode preserved = JsonNodeFactory.instance.objectNode();

  /** Data of one conversion, with what is known of the target version. */
  ConversionData(ObjectNode recalled) {
    this.restored = recalled;
  }

  /** Takes what was kept for the given version out of the object's annotation. */
  static ConversionData takenFrom(ObjectNode object, String version) {
    ObjectNode all = annotation(object);
    ConversionData conversionData = new ConversionData(JsonFields.object(all.get(version)));
    all.remove(version);
    write(object, all);
    return conversionData;
  }

  /** What was said in the target version before; empty when nothing is known. */
  ObjectNode restored() {
    return restored;
  }

  /** What can't be said in the target version; to be filled. */
  ObjectNode preserved() {
    return preserved;
  }

  /** Nothing has to be kept, and what was kept is of no use any more. */
  void clear() {
    preserved.removeAll();
  }

  /** Puts what is kept from the given version into the object's annotation. */
  void writeTo(ObjectNode object, String version) {
    ObjectNode all = annotation(object);
    all.remove(version);
    if (!preserved.isEmpty()) {
      all.set(version, preserved);
    }
    write(object, all);
  }

  private static ObjectNode annotation(ObjectNode object) {
    String text =
        object.path("metadata").path("annotations").path(HubConverter.ANNOTATION).asText("");
    try {
      return JsonFields.object(text.isEmpty() ? null : MAPPER.readTree(text));
    } catch (JsonProcessingException e) {
      return JsonNodeFactory.instance.objectNode();
    }
  }

  private static void write(ObjectNode object, ObjectNode all) {
    JsonNode metadata = object.path("metadata");
    if (all.isEmpty()) {
      if (metadata.path("annotations") instanceof ObjectNode annotations
          && annotations.remove(HubConverter.ANNOTATION) != null
          && annotations.isEmpty()) {
        ((ObjectNode) metadata).remove("annotations");
      }
    } else {
      object.withObject("/metadata/annotations").put(HubConverter.ANNOTATION, all.toString());
    }
  }
}
