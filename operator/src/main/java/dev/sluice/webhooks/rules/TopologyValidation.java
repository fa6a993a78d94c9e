package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Booleans;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.placement.TopologySpreading;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.NumberReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Validates the annotations by which a pod template requests a topology. */
public final class TopologyValidation {

  private static final List<String> PLACEMENTS =
      List.of(
          KueueConstants.PODSET_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_PREFERRED_TOPOLOGY,
          KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY);
  private static final List<String> LEVELS =
      List.of(
          KueueConstants.PODSET_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_PREFERRED_TOPOLOGY,
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY);
  private static final int MAX_LAYERS = 3;
  private static final int GROUP_SIZE = 2;

  private final WebhookSettings settings;

  /** Validates nothing if topology aware scheduling is off by {@code settings}. */
  public TopologyValidation(WebhookSettings settings) {
    this.settings = settings;
  }

  /** Validates all pod sets of a job, each for itself and the groups that they name. */
  public void validate(List<PodSetShape> podSets, FieldErrors errors) {
    if (!settings.isOn(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)) {
      return;
    }
    podSets.forEach(podSet -> validateStandalone(podSet, errors));
    groups(podSets)
        .forEach(
            (name, group) -> {
              group(name, group.getFirst(), group, errors);
              if (settings.isOn(FeatureGate.TAS_TOPOLOGY_SPREADING)) {
                sameSpreading(name, group, errors);
              }
            });
  }

  /** Validates one pod set without knowledge of the other pod sets. */
  public void validate(PodSetShape podSet, FieldErrors errors) {
    if (settings.isOn(FeatureGate.TOPOLOGY_AWARE_SCHEDULING)) {
      validateStandalone(podSet, errors);
    }
  }

  private void validateStandalone(PodSetShape podSet, FieldErrors errors) {
    placement(podSet, errors);
    slices(podSet, errors);
    constraints(podSet, errors);
    groupName(podSet, errors);
    spreading(podSet, errors);
  }

  /**
   * Validates how the pod sets of a Workload are spread, which any client can write; to be called
   * where the gate is on.
   */
  public void validateSpreading(List<PodSetShape> podSets, FieldErrors errors) {
    podSets.forEach(podSet -> spreading(podSet, errors));
    groups(podSets).forEach((name, group) -> sameSpreading(name, group, errors));
  }

  private static void sameSpreading(String name, List<PodSetShape> members, FieldErrors errors) {
    String key = KueueConstants.PODSET_TOPOLOGY_SPREADING;
    String here = members.getFirst().annotations().getOrDefault(key, "");
    if (members.stream().anyMatch(each -> !here.equals(each.annotations().getOrDefault(key, "")))) {
      errors.invalid(
          members.getFirst().path().key(key),
          here,
          "must be the same in all pod sets of group " + name);
    }
  }

  private void spreading(PodSetShape podSet, FieldErrors errors) {
    String text = podSet.annotations().get(KueueConstants.PODSET_TOPOLOGY_SPREADING);
    if (text == null || !settings.isOn(FeatureGate.TAS_TOPOLOGY_SPREADING)) {
      return;
    }
    FieldPath path = podSet.path().key(KueueConstants.PODSET_TOPOLOGY_SPREADING);
    for (TopologySpreading.Fault fault : TopologySpreading.faults(text)) {
      errors.invalid(
          fault.field().isEmpty() ? path : path.child(fault.field()),
          fault.value(),
          fault.allowed());
    }
  }

  private void placement(PodSetShape podSet, FieldErrors errors) {
    Map<String, String> given = podSet.annotations();
    List<String> placements = PLACEMENTS.stream().filter(given::containsKey).toList();
    if (placements.size() > 1) {
      errors.invalid(
          podSet.path(),
          String.join(", ", placements),
          "must not contain more than one topology annotation");
    }
    for (String key : LEVELS) {
      if (given.containsKey(key)) {
        String level = given.getOrDefault(key, "");
        errors.invalid(podSet.path().key(key), level, NameValidation.qualified(level));
      }
    }
    String unconstrained = given.get(KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY);
    if (unconstrained == null || Booleans.isTrue(unconstrained)) {
      return;
    }
    FieldPath path = podSet.path().key(KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY);
    if (Booleans.parse(unconstrained).isEmpty()) {
      errors.invalid(path, unconstrained, "must be a boolean value, true or false");
    } else if (settings.isOn(FeatureGate.TAS_REJECT_FALSE_UNCONSTRAINED_TOPOLOGY)) {
      errors.invalid(
          path,
          unconstrained,
          "must be true; a pod set that asks for no topology doesn't have the annotation");
    }
  }

  private static void slices(PodSetShape podSet, FieldErrors errors) {
    boolean topology =
        podSet.annotations().containsKey(KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY);
    String size = podSet.annotations().get(KueueConstants.PODSET_SLICE_SIZE);
    FieldPath path = podSet.path().key(KueueConstants.PODSET_SLICE_SIZE);
    if (topology && size == null) {
      errors.required(
          path, "must be set when " + KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY + " is");
    }
    if (size == null) {
      return;
    }
    if (!topology) {
      errors.forbidden(
          path,
          "may not be set when "
              + KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY
              + " is not, now "
              + size);
    }
    OptionalInt number = NumberReader.int32(size);
    if (number.isEmpty() || number.getAsInt() < 1) {
      errors.invalid(path, size, "must be an integer greater than or equal to 1");
    } else if (number.getAsInt() > podSet.count()) {
      errors.invalid(path, size, "must not be greater than the pod set's count, " + podSet.count());
    }
  }

  private void constraints(PodSetShape podSet, FieldErrors errors) {
    String key = KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS;
    String text = podSet.annotations().get(key);
    if (text == null) {
      return;
    }
    FieldPath path = podSet.path().key(key);
    if (!settings.isOn(FeatureGate.TAS_MULTI_LAYER_TOPOLOGY)) {
      errors.forbidden(path, "feature gate TASMultiLayerTopology is off");
      return;
    }
    if (podSet.annotations().containsKey(KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY)
        || podSet.annotations().containsKey(KueueConstants.PODSET_SLICE_SIZE)) {
      errors.forbidden(
          path,
          "may not be set together with "
              + KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY
              + " or "
              + KueueConstants.PODSET_SLICE_SIZE);
    }
    Optional<String> length = TextLimits.fault(text);
    if (length.isPresent()) {
      errors.invalid(path, text, length.get());
      return;
    }
    Optional<JsonNode> layers = layers(text);
    if (layers.isEmpty()) {
      errors.invalid(
          path, text, "must be a JSON array of 1 to " + MAX_LAYERS + " objects {topology, size}");
    } else {
      layers(path, text, layers.get(), podSet.count(), errors);
    }
  }

  private static Optional<JsonNode> layers(String text) {
    try {
      JsonNode layers = JsonMappers.JSON.readTree(text);
      return layers != null && layers.isArray() && !layers.isEmpty() && layers.size() <= MAX_LAYERS
          ? Optional.of(layers)
          : Optional.empty();
    } catch (JsonProcessingException notJson) {
      return Optional.empty();
    }
  }

  private static void layers(
      FieldPath path, String text, JsonNode layers, long count, FieldErrors errors) {
    Set<String> seen = new HashSet<>();
    long limit = count;
    for (int i = 0; i < layers.size(); i++) {
      String topology = JsonFields.text(layers.get(i), "topology");
      errors.invalid(path.index(i).child("topology"), topology, NameValidation.qualified(topology));
      if (!seen.add(topology)) {
        errors.duplicate(path.index(i).child("topology"), topology, "topologies must be unique");
      }
      JsonNode size = JsonFields.at(layers.get(i), "size");
      if (!size.canConvertToInt() || !size.isIntegralNumber() || size.asInt() < 1) {
        errors.invalid(path.index(i).child("size"), text, "size must be an integer from 1");
        return;
      }
      boolean fits = i == 0 ? size.asInt() <= limit : limit % size.asInt() == 0;
      if (!fits) {
        errors.invalid(
            path.index(i).child("size"),
            size,
            i == 0
                ? "must not be greater than the pod set's count, " + limit
                : "must divide the size before it, " + limit);
      }
      limit = size.asInt();
    }
  }

  private void groupName(PodSetShape podSet, FieldErrors errors) {
    String name = podSet.annotations().get(KueueConstants.PODSET_GROUP_NAME);
    if (name == null) {
      return;
    }
    FieldPath path = podSet.path().key(KueueConstants.PODSET_GROUP_NAME);
    if (name.matches("[+-]?[0-9]{1,30}")) {
      errors.invalid(path, name, "must not be a number");
    }
    if (!podSet.annotations().containsKey(KueueConstants.PODSET_REQUIRED_TOPOLOGY)
        && !podSet.annotations().containsKey(KueueConstants.PODSET_PREFERRED_TOPOLOGY)) {
      errors.forbidden(
          path,
          "\""
              + name
              + "\" may not be set when neither "
              + KueueConstants.PODSET_REQUIRED_TOPOLOGY
              + " nor "
              + KueueConstants.PODSET_PREFERRED_TOPOLOGY
              + " is");
    }
    for (String key :
        List.of(
            KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY,
            KueueConstants.PODSET_SLICE_SIZE,
            KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS)) {
      if (podSet.annotations().containsKey(key)
          && !settings.isOn(FeatureGate.TAS_GROUPED_POD_SET_SLICING)) {
        errors.forbidden(
            podSet.path().key(key),
            "may not be set with "
                + KueueConstants.PODSET_GROUP_NAME
                + ", feature gate TASGroupedPodSetSlicing is off");
      }
    }
  }

  private static Map<String, List<PodSetShape>> groups(List<PodSetShape> podSets) {
    Map<String, List<PodSetShape>> members = new LinkedHashMap<>();
    for (PodSetShape podSet : podSets) {
      String name = podSet.annotations().get(KueueConstants.PODSET_GROUP_NAME);
      if (name != null) {
        members.computeIfAbsent(name, each -> new ArrayList<>()).add(podSet);
      }
    }
    return members;
  }

  private static void group(
      String name, PodSetShape first, List<PodSetShape> members, FieldErrors errors) {
    FieldPath path = first.path().key(KueueConstants.PODSET_GROUP_NAME);
    if (members.size() != GROUP_SIZE) {
      errors.invalid(
          path, name, "can only define groups of exactly 2 pod sets, got " + members.size());
      return;
    }
    if (members.stream().noneMatch(member -> member.count() == 1)) {
      errors.invalid(path, name, "at least one pod set of a group must have exactly 1 pod");
    }
    Map<String, String> other = members.getLast().annotations();
    for (String key :
        List.of(
            KueueConstants.PODSET_REQUIRED_TOPOLOGY, KueueConstants.PODSET_PREFERRED_TOPOLOGY)) {
      String here = first.annotations().getOrDefault(key, "");
      if (!here.equals(other.getOrDefault(key, ""))) {
        errors.invalid(
            first.path().key(key), here, "must be the same in both pod sets of group " + name);
      }
    }
  }

  /**
   * The part of a pod set that topology validation needs.
   *
   * @param count number of pods
   * @param path path of the annotations
   * @param annotations annotations of the pod template
   */
  public record PodSetShape(long count, FieldPath path, Map<String, String> annotations) {}
}
