package dev.sluice.jobs;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceFlavorSpec;
import io.fabric8.kubernetes.api.model.Toleration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** The flavors of an informer, as pods see them. */
public final class KnownFlavors implements FlavorLookup {

  private final Function<String, Optional<ResourceFlavor>> flavors;
  private final ObjectMapper json = new ObjectMapper();

  /** Over a lookup by name that any thread may use. */
  public KnownFlavors(Function<String, Optional<ResourceFlavor>> flavors) {
    this.flavors = flavors;
  }

  @Override
  public Optional<FlavorPods> find(String flavor) {
    return flavors
        .apply(flavor)
        .map(
            found ->
                Optional.ofNullable(found.getSpec())
                    .map(this::pods)
                    .orElse(new FlavorPods(Map.of(), List.of())));
  }

  private FlavorPods pods(ResourceFlavorSpec spec) {
    return new FlavorPods(
        spec.nodeLabels(), spec.tolerations().stream().map(this::toleration).toList());
  }

  private ObjectNode toleration(Toleration toleration) {
    return json.valueToTree(toleration);
  }
}
