package dev.sluice.visibility.explain;

import dev.sluice.api.Quantities;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads untyped objects. Missing fields count as empty. */
final class JsonPaths {

  private JsonPaths() {}

  static String fullName(GenericKubernetesResource object) {
    return object.getMetadata().getNamespace() + "/" + object.getMetadata().getName();
  }

  static String uid(GenericKubernetesResource workload) {
    return workload.getMetadata().getUid();
  }

  /** The requests of a pending Workload, by resource, in amounts. */
  static Map<String, Long> requests(GenericKubernetesResource waiting) {
    Map<String, Long> sums = new TreeMap<>();
    for (Map<?, ?> podSet : maps(waiting.get("status", "resourceRequests"))) {
      if (podSet.get("resources") instanceof Map<?, ?> requested) {
        requested.forEach(
            (name, quantity) ->
                sums.merge(
                    name.toString(),
                    Quantities.amount(name.toString(), String.valueOf(quantity)),
                    Long::sum));
      }
    }
    return sums;
  }

  static boolean waits(GenericKubernetesResource workload) {
    return !isTrue(workload, "QuotaReserved")
        && !isTrue(workload, "Finished")
        && !Boolean.FALSE.equals(workload.get("spec", "active"));
  }

  static boolean isTrue(GenericKubernetesResource object, String type) {
    return is(object, type, "True");
  }

  static boolean is(GenericKubernetesResource object, String type, String status) {
    return condition(object, type).filter(c -> status.equals(c.get("status"))).isPresent();
  }

  static Optional<String> conditionLine(
      GenericKubernetesResource object, String type, String status) {
    return condition(object, type)
        .filter(found -> status.equals(found.get("status")))
        .map(JsonPaths::line)
        .map(String::strip);
  }

  static String line(Map<?, ?> condition) {
    String message = string(condition.get("message"), "");
    return "  %s=%s %s since %s%s"
        .formatted(
            string(condition.get("type"), ""),
            string(condition.get("status"), ""),
            string(condition.get("reason"), ""),
            string(condition.get("lastTransitionTime"), "an unknown time"),
            message.isEmpty() ? "" : ": " + message);
  }

  static Optional<Map<?, ?>> condition(GenericKubernetesResource object, String type) {
    for (Map<?, ?> condition : maps(object.get("status", "conditions"))) {
      if (type.equals(condition.get("type"))) {
        return Optional.of(condition);
      }
    }
    return Optional.empty();
  }

  static List<Map<?, ?>> maps(@Nullable Object list) {
    List<Map<?, ?>> result = new ArrayList<>();
    if (list instanceof List<?> items) {
      for (Object item : items) {
        if (item instanceof Map<?, ?> map) {
          result.add(map);
        }
      }
    }
    return result;
  }

  static String text(GenericKubernetesResource object, Object... path) {
    return string(object.get(path), "");
  }

  static String string(@Nullable Object value, String otherwise) {
    return value == null ? otherwise : value.toString();
  }
}
