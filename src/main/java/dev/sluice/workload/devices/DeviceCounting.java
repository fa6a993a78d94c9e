package dev.sluice.workload.devices;

import dev.sluice.api.TextLimits;
import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.api.config.Resources.DeviceCounter;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.devices.DeviceInventory.Wanted;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.PodTemplate;
import dev.sluice.workload.record.PodTemplate.Claim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts the devices of pods as the resources that their device classes are mapped to
 * (docs/devices.md). The result depends only on the objects of the cluster and the mappings. Usable
 * from any thread.
 */
final class DeviceCounting {

  private static final int MOST_SHOWN = 253;

  /** Before the name of a DeviceClass: the resource that requests a device of it in any cluster. */
  private static final String IMPLICIT = "deviceclass.resource.kubernetes.io/";

  /** Stands for the devices of requests whose number isn't known; no quota has this name. */
  private static final String UNCOUNTABLE = "devices that can't be counted";

  private final DeviceObjects objects;
  private final DeviceSelectors selectors;
  private final Map<String, List<DeviceClassMapping>> mappings = new HashMap<>();
  private final Set<String> resources;

  /** Counts by these mappings. */
  DeviceCounting(
      DeviceObjects objects, DeviceSelectors selectors, List<DeviceClassMapping> mappings) {
    this.objects = objects;
    this.selectors = selectors;
    resources =
        Stream.concat(Stream.of(UNCOUNTABLE), mappings.stream().map(DeviceClassMapping::resource))
            .collect(Collectors.toUnmodifiableSet());
    for (DeviceClassMapping mapping : mappings) {
      for (String deviceClass : mapping.deviceClasses()) {
        this.mappings.computeIfAbsent(deviceClass, any -> new ArrayList<>()).add(mapping);
      }
    }
  }

  private List<DeviceClassMapping> mapped(String deviceClass) {
    return mappings.getOrDefault(deviceClass, List.of());
  }

  private static boolean countsByCounters(List<DeviceClassMapping> mapped) {
    return mapped.stream().anyMatch(mapping -> !mapping.counters().isEmpty());
  }

  /**
   * The resources that devices of mapped classes stand behind.
   *
   * @param classes the DeviceClasses of the cluster
   */
  ExtendedResources extended(Collection<DeviceClass> classes) {
    Map<String, String> named = new HashMap<>();
    mappings.keySet().forEach(deviceClass -> named.put(IMPLICIT + deviceClass, deviceClass));
    classes.stream()
        .filter(each -> !each.extendedResource().isEmpty())
        .sorted(DeviceClass.NEWEST_FIRST)
        .forEach(each -> named.putIfAbsent(each.extendedResource(), each.name()));
    Map<String, String> replaced = new HashMap<>();
    Set<String> refused = new HashSet<>();
    named.forEach(
        (resource, deviceClass) -> {
          List<DeviceClassMapping> mapped = mapped(deviceClass);
          if (countsByCounters(mapped)) {
            refused.add(resource);
          } else if (!mapped.isEmpty()) {
            replaced.put(resource, mapped.getFirst().resource());
          }
        });
    return ExtendedResources.of(replaced, refused);
  }

  /**
   * What one pod of a template counts as.
   *
   * @param extended the resources that devices stand behind
   */
  DeviceCharge of(String namespace, PodTemplate template, ExtendedResources extended) {
    List<String> refused = extended.refusedBy(template);
    if (template.resourceClaims().isEmpty() && refused.isEmpty()) {
      return extended.charge();
    }
    PodCount count = new PodCount(namespace);
    refused.forEach(count::refuse);
    template.resourceClaims().forEach(count::claim);
    return new DeviceCharge(count.amounts, extended.replaced(), count.defects, count.unresolved);
  }

  /** The resources that claims which exist may count as. */
  Set<String> resources() {
    return resources;
  }

  /**
   * What a claim that exists counts as. Requests whose amount depends on the devices of the moment
   * count as nothing.
   */
  SortedMap<String, Long> of(ClaimSpec claim) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    for (DeviceRequest request : claim.requests()) {
      List<DeviceClassMapping> mapped = mapped(request.deviceClass());
      if (!request.problem().isEmpty() || (mapped.isEmpty() && !request.adminAccess())) {
        amounts.merge(UNCOUNTABLE, 1L, ResourceAmounts::add);
      } else if (!request.adminAccess() && !countsByCounters(mapped)) {
        amounts.merge(mapped.getFirst().resource(), request.count(), ResourceAmounts::add);
      }
    }
    return amounts;
  }

  /** The devices of one pod. */
  private final class PodCount {

    private final String namespace;
    private final SortedMap<String, Long> amounts = new TreeMap<>();
    private final List<String> defects = new ArrayList<>(0);
    private final List<String> unresolved = new ArrayList<>(0);

    PodCount(String namespace) {
      this.namespace = namespace;
    }

    void refuse(String resource) {
      defects.add(
          "%s can't be requested, because its devices count by counters; use a resource claim"
              .formatted(shown(resource)));
    }

    void claim(Claim claim) {
      String place = "resource claim " + shown(claim.name());
      if (!claim.claim().isEmpty()) {
        defects.add(
            "%s: ResourceClaim %s can't be counted, because others may use it; name a ResourceClaimTemplate"
                .formatted(place, shown(claim.claim())));
      } else if (claim.template().isEmpty()) {
        defects.add(place + ": it names no ResourceClaimTemplate");
      } else {
        Optional<ClaimSpec> template = objects.template(namespace, claim.template());
        String source = place + ", ResourceClaimTemplate " + shown(claim.template());
        if (template.isEmpty()) {
          unresolved.add(source + ": doesn't exist");
        } else if (template.get().requests().isEmpty()) {
          defects.add(source + ": it requests no device");
        }
        template.ifPresent(found -> found.requests().forEach(request -> request(source, request)));
      }
    }

    private void request(String source, DeviceRequest request) {
      String place = source + ", request " + shown(request.name());
      if (!request.problem().isEmpty()) {
        defects.add(place + ": " + shown(request.problem()));
      } else if (!request.adminAccess()) {
        List<DeviceClassMapping> mapped = mapped(request.deviceClass());
        Optional<DeviceClass> deviceClass = objects.deviceClass(request.deviceClass());
        if (mapped.isEmpty()) {
          defects.add(
              "%s: DeviceClass %s is mapped to no resource (resources.deviceClassMappings)"
                  .formatted(place, shown(request.deviceClass())));
        } else if (deviceClass.isEmpty()) {
          unresolved.add(
              "%s: DeviceClass %s doesn't exist".formatted(place, shown(request.deviceClass())));
        } else {
          List<String> expressions = new ArrayList<>(deviceClass.get().selectors());
          expressions.addAll(request.selectors());
          mapped.forEach(mapping -> charge(place, request, expressions, mapping));
        }
      }
    }

    /** Charges the devices of a request, or the most that each of them consumes of counters. */
    private void charge(
        String place, DeviceRequest request, List<String> expressions, DeviceClassMapping mapping) {
      Optional<String> problem =
          Stream.concat(
                  expressions.stream(), mapping.counters().stream().map(DeviceCounter::selector))
              .flatMap(expression -> selectors.problem(expression).stream())
              .findFirst();
      if (problem.isPresent()) {
        unresolved.add(place + ": a selector can't be used: " + shown(problem.get()));
        return;
      }
      if (mapping.counters().isEmpty() && expressions.isEmpty()) {
        add(mapping, 1, request);
        return;
      }
      Collection<Long> devices = amounts(request, expressions, mapping);
      if (devices.size() < request.count()) {
        unresolved.add(
            "%s: devices requested: %d, matching in the cluster: %d"
                .formatted(place, request.count(), devices.size()));
      } else {
        add(mapping, devices.stream().mapToLong(each -> each).max().orElse(0), request);
      }
    }

    private void add(DeviceClassMapping mapping, long each, DeviceRequest request) {
      amounts.merge(
          mapping.resource(),
          ResourceAmounts.multiply(each, request.count()),
          ResourceAmounts::add);
    }

    /** What each device that the request may get counts as. */
    private Collection<Long> amounts(
        DeviceRequest request, List<String> expressions, DeviceClassMapping mapping) {
      DeviceInventory devices = objects.devices();
      if (mapping.counters().isEmpty()) {
        return devices.matching(new Wanted("", expressions, request.tolerations())).stream()
            .map(device -> 1L)
            .toList();
      }
      Map<Device, Map<String, Long>> consumed = new IdentityHashMap<>();
      for (DeviceCounter counter : mapping.counters()) {
        List<String> all = new ArrayList<>(expressions);
        all.add(counter.selector());
        for (Device device :
            devices.matching(new Wanted(counter.driver(), all, request.tolerations()))) {
          DeviceAmount amount = device.counters().get(counter.name());
          consumed
              .computeIfAbsent(device, any -> new HashMap<>())
              .put(counter.name(), amount == null ? 0 : amount.units());
        }
      }
      return consumed.values().stream()
          .map(byCounter -> byCounter.values().stream().reduce(0L, ResourceAmounts::add))
          .toList();
    }
  }

  private static String shown(String text) {
    return TextLimits.shown(text, MOST_SHOWN);
  }
}
