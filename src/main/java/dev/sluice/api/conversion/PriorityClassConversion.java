package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import java.util.Map;

/**
 * The class a priority comes from: name and source in v1beta1, a reference in the stored version.
 */
final class PriorityClassConversion {

  private static final String NAME = "priorityClassName";
  private static final String SOURCE = "priorityClassSource";
  private static final String REFERENCE = "priorityClassRef";
  private static final Map<String, String> KIND_BY_SOURCE =
      Map.of(
          "kueue.x-k8s.io/workloadpriorityclass",
          "WorkloadPriorityClass",
          "scheduling.k8s.io/priorityclass",
          "PriorityClass");

  private PriorityClassConversion() {}

  /** A name without a source refers to nothing; it is kept and not converted. */
  static void up(ObjectNode spec, ObjectNode kept) {
    String source = spec.path(SOURCE).asText();
    String kind = KIND_BY_SOURCE.get(source);
    String name = spec.path(NAME).asText();
    if (kind == null || name.isEmpty()) {
      JsonFields.move(spec, NAME, kept, NAME);
      JsonFields.move(spec, SOURCE, kept, SOURCE);
    } else {
      spec.putObject(REFERENCE)
          .put("group", source.substring(0, source.indexOf('/')))
          .put("kind", kind)
          .put("name", name);
      spec.remove(NAME);
      spec.remove(SOURCE);
    }
  }

  /** The name and source of a reference, or what was kept when there is none. */
  static void down(ObjectNode spec, ObjectNode said) {
    ObjectNode reference = JsonFields.object(spec.remove(REFERENCE));
    if (reference.isEmpty()) {
      JsonFields.move(said, NAME, spec, NAME);
      JsonFields.move(said, SOURCE, spec, SOURCE);
    } else {
      spec.set(NAME, reference.path("name"));
      KIND_BY_SOURCE.forEach(
          (source, kind) -> {
            if (kind.equals(reference.path("kind").asText())) {
              spec.put(SOURCE, source);
            }
          });
    }
  }
}
