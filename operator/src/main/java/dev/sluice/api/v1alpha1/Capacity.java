package dev.sluice.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How much there is of each flavor.
 *
 * @param flavors at most 64 in a CapacityProvider, 128 in a DynamicQuotaOrchestrator
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Capacity(@JsonInclude(JsonInclude.Include.ALWAYS) List<FlavorCapacity> flavors) {

  /** Takes what is absent for empty; the list becomes immutable. */
  public Capacity {
    flavors = orEmpty(flavors);
  }

  /**
   * How much there is of one flavor.
   *
   * @param name of the ResourceFlavor
   * @param resources amounts by resource, in the order of their names
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record FlavorCapacity(
      String name, @JsonInclude(JsonInclude.Include.ALWAYS) Map<String, Quantity> resources) {

    /** Takes what is absent for empty; the map becomes immutable. */
    public FlavorCapacity {
      name = orEmpty(name);
      resources =
          resources == null ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(resources));
    }
  }

  static <T> List<T> orEmpty(@Nullable List<T> list) {
    return list == null ? List.of() : List.copyOf(list);
  }

  static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }
}
