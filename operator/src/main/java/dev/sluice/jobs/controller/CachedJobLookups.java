package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.v1beta2.ResourceFlavor;
import dev.sluice.api.v1beta2.ResourceFlavor.ResourceFlavorSpec;
import dev.sluice.api.v1beta2.WorkloadPriorityClass;
import dev.sluice.jobs.policy.FlavorLookup;
import dev.sluice.jobs.policy.WorkloadFactory.PriorityLookup;
import dev.sluice.queues.cache.InformerCaches;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** What jobs ask of the world: flavors and priorities, as the informers know them at the moment. */
public final class CachedJobLookups implements FlavorLookup, PriorityLookup {

  private final InformerCaches informerCaches;
  private final ObjectMapper mapper;

  /** Lookups in {@code world}; {@code mapper} writes tolerations as the API does. */
  public CachedJobLookups(InformerCaches informerCaches, ObjectMapper mapper) {
    this.informerCaches = informerCaches;
    this.mapper = mapper;
  }

  @Override
  public Optional<FlavorPods> find(String flavor) {
    return informerCaches.flavors().find(flavor).map(this::pods);
  }

  private FlavorPods pods(ResourceFlavor flavor) {
    ResourceFlavorSpec spec = flavor.getSpec();
    if (spec == null) {
      return new FlavorPods(Map.of(), List.of());
    }
    return new FlavorPods(
        spec.nodeLabels(),
        spec.tolerations().stream()
            .map(toleration -> mapper.<ObjectNode>valueToTree(toleration))
            .toList());
  }

  @Override
  public OptionalInt workloadPriorityClass(String name) {
    return value(
        informerCaches.workloadPriorityClasses().find(name).map(WorkloadPriorityClass::getValue));
  }

  @Override
  public OptionalInt priorityClass(String name) {
    return value(informerCaches.priorityClasses().find(name).map(PriorityClass::getValue));
  }

  private static OptionalInt value(Optional<Integer> value) {
    return value.map(OptionalInt::of).orElseGet(OptionalInt::empty);
  }

  @Override
  public Optional<Named> globalDefault() {
    return informerCaches.priorityClasses().all().stream()
        .filter(priorityClass -> Boolean.TRUE.equals(priorityClass.getGlobalDefault()))
        .filter(priorityClass -> priorityClass.getValue() != null)
        .map(
            priorityClass ->
                new Named(priorityClass.getMetadata().getName(), priorityClass.getValue()))
        .min(Comparator.comparingInt(Named::value).thenComparing(Named::name));
  }
}
