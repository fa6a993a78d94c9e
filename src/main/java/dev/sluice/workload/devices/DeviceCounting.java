package dev.sluice.workload.devices;

import dev.sluice.api.TextLimits;
import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.PodTemplate;
import dev.sluice.workload.record.PodTemplate.Claim;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Counts the devices of pods as the resources that their device classes are mapped to
 * (docs/devices.md). The result depends only on the objects of the cluster and the mappings. Usable
 * from any thread.
 */
final class DeviceCounting {

  private static final int MOST_SHOWN = 253;

  private final DeviceObjects objects;
  private final Map<String, List<DeviceClassMapping>> mappings = new HashMap<>();

  /** Counts by these mappings. */
  DeviceCounting(DeviceObjects objects, List<DeviceClassMapping> mappings) {
    this.objects = objects;
    for (DeviceClassMapping mapping : mappings) {
      for (String deviceClass : mapping.deviceClasses()) {
        this.mappings.computeIfAbsent(deviceClass, any -> new ArrayList<>()).add(mapping);
      }
    }
  }

  /** What one pod of a template counts as. */
  DeviceCharge of(String namespace, PodTemplate template) {
    if (template.resourceClaims().isEmpty()) {
      return DeviceCharge.NONE;
    }
    PodCount count = new PodCount(namespace);
    template.resourceClaims().forEach(count::claim);
    return count.charge();
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

    void claim(Claim claim) {
      String place = "resource claim " + shown(claim.name());
      if (!claim.claim().isEmpty()) {
        defects.add(
            "%s: ResourceClaim %s can't be counted, because others may use it; name a ResourceClaimTemplate"
                .formatted(place, shown(claim.claim())));
      } else if (claim.template().isEmpty()) {
        defects.add(place + ": it names no ResourceClaimTemplate");
      } else {
        Optional<ClaimTemplate> template = objects.template(namespace, claim.template());
        String source = place + ", ResourceClaimTemplate " + shown(claim.template());
        if (template.isEmpty()) {
          unresolved.add(source + ": doesn't exist");
        }
        template.ifPresent(found -> found.requests().forEach(request -> request(source, request)));
      }
    }

    private void request(String source, DeviceRequest request) {
      String place = source + ", request " + shown(request.name());
      if (!request.problem().isEmpty()) {
        defects.add(place + ": " + shown(request.problem()));
      } else if (!request.adminAccess()) {
        List<DeviceClassMapping> mapped = mappings.getOrDefault(request.deviceClass(), List.of());
        if (mapped.isEmpty()) {
          defects.add(
              "%s: DeviceClass %s is mapped to no resource (resources.deviceClassMappings)"
                  .formatted(place, shown(request.deviceClass())));
        }
        mapped.forEach(mapping -> add(mapping.resource(), request.count()));
      }
    }

    private void add(String resource, long amount) {
      amounts.merge(resource, amount, ResourceAmounts::add);
    }

    DeviceCharge charge() {
      return new DeviceCharge(amounts, Set.of(), defects, unresolved);
    }
  }

  private static String shown(String text) {
    return TextLimits.shown(text, MOST_SHOWN);
  }
}
