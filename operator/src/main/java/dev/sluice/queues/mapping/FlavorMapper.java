package dev.sluice.queues.mapping;

import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceFlavor.ResourceFlavorSpec;
import dev.sluice.core.model.Flavor;
import dev.sluice.core.model.Flavor.Pace;
import dev.sluice.core.model.Taint;
import dev.sluice.core.model.Toleration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Maps ResourceFlavors to the scheduler's model. */
public final class FlavorMapper {

  private FlavorMapper() {}

  /** Maps a ResourceFlavor. */
  public static Flavor translate(ResourceFlavor flavor) {
    ResourceFlavorSpec spec = flavor.getSpec();
    String name = flavor.getMetadata().getName();
    if (spec == null) {
      return new Flavor(name, labels(flavor, Map.of()), List.of(), List.of())
          .withPace(pace(flavor));
    }
    return new Flavor(
        name,
        labels(flavor, spec.nodeLabels()),
        spec.nodeTaints().stream().map(FlavorMapper::taint).toList(),
        spec.tolerations().stream().map(FlavorMapper::toleration).toList(),
        topology(flavor).orElse(""),
        pace(flavor));
  }

  private static Optional<Pace> pace(ResourceFlavor flavor) {
    CostAnnotations.OfFlavor says = CostAnnotations.ofFlavor(flavor.getMetadata().getAnnotations());
    Pace pace =
        new Pace(
            says.interruptionsPerHour().orElse(Pace.USUAL.interruptionsPerHour()),
            says.speed().orElse(Pace.USUAL.speed()));
    return pace.equals(Pace.USUAL) ? Optional.empty() : Optional.of(pace);
  }

  /** The node labels, extended by a label for the cluster that the flavor's nodes belong to. */
  private static Map<String, String> labels(ResourceFlavor flavor, Map<String, String> nodeLabels) {
    Map<String, String> annotations = flavor.getMetadata().getAnnotations();
    String cluster = annotations == null ? null : annotations.get(LocalClusterAnnotations.FLAVOR);
    if (cluster == null) {
      return nodeLabels;
    }
    Map<String, String> labels = new HashMap<>(nodeLabels);
    labels.put(LocalClusterAnnotations.FLAVOR, cluster);
    return labels;
  }

  /** The name of the Topology of a flavor. */
  public static Optional<String> topology(ResourceFlavor flavor) {
    return Optional.ofNullable(flavor.getSpec())
        .flatMap(spec -> Optional.ofNullable(spec.topologyName()))
        .filter(name -> !name.isEmpty());
  }

  private static Taint taint(io.fabric8.kubernetes.api.model.Taint taint) {
    return new Taint(
        orEmpty(taint.getKey()), orEmpty(taint.getValue()), orEmpty(taint.getEffect()));
  }

  private static Toleration toleration(io.fabric8.kubernetes.api.model.Toleration toleration) {
    return new Toleration(
        orEmpty(toleration.getKey()),
        orEmpty(toleration.getOperator()),
        orEmpty(toleration.getValue()),
        orEmpty(toleration.getEffect()),
        toleration.getTolerationSeconds() != null);
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }
}
