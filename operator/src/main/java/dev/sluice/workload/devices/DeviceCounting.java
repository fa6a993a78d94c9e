package dev.sluice.workload.devices;

import dev.sluice.api.Quantities;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.api.config.Resources.DeviceSource;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.devices.ClaimSpec.Allocated;
import dev.sluice.workload.devices.ClaimSpec.DeviceRequest;
import dev.sluice.workload.devices.DeviceInventory.Wanted;
import dev.sluice.workload.devices.DeviceReader.DeviceClass;
import dev.sluice.workload.devices.DeviceReader.DeviceObjects;
import dev.sluice.workload.devices.DeviceReader.ExtendedResources;
import dev.sluice.workload.devices.DeviceSelectors.SelectorWork;
import dev.sluice.workload.devices.NodeDevices.Need;
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
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Counts the devices of pods as the resources that their device classes are mapped to
 * (docs/devices.md). The result depends only on the objects of the cluster and the mappings. Usable
 * from any thread.
 */
final class DeviceCounting {

  private static final int MOST_SHOWN = 253;

  /** So many defects of a pod are told, and so many reasons to wait. */
  private static final int MOST_TOLD = 20;

  /** More than any node has devices, and few enough to be looked at at once. */
  private static final int MOST_REQUESTS = 10_000;

  /** Before the name of a DeviceClass: the resource that requests a device of it in any cluster. */
  private static final String IMPLICIT = "deviceclass.resource.kubernetes.io/";

  private static final String TOO_EXPENSIVE =
      "the selectors cost too much with the devices that the cluster has";

  /** Stands for the devices of requests whose number isn't known; no quota has this name. */
  private static final String UNCOUNTABLE = "devices that can't be counted";

  private final DeviceObjects objects;
  private final DeviceSelectors selectors;
  private final Map<String, List<DeviceClassMapping>> mappings = new HashMap<>();
  private final Set<String> resources;
  private final Rules rules;

  /**
   * What gates say.
   *
   * @param prioritizedLists whether requests with alternatives count (gate {@code
   *     KueueDRAPrioritizedList})
   * @param perNode whether one node must have all devices that a pod requests (gate {@code
   *     KueueDRADeviceFeasibility})
   */
  record Rules(boolean prioritizedLists, boolean perNode) {

    static final Rules DEFAULT = new Rules(false, false);
  }

  /** Counts by these mappings. */
  DeviceCounting(
      DeviceObjects objects,
      DeviceSelectors selectors,
      List<DeviceClassMapping> mappings,
      Rules rules) {
    this.rules = rules;
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

  private static boolean countsBySources(List<DeviceClassMapping> mapped) {
    return mapped.stream().anyMatch(mapping -> !mapping.sources().isEmpty());
  }

  /**
   * Why a request with alternatives can't be counted; empty if it can. All of them must count as
   * one resource, by their number.
   */
  private String refusal(DeviceRequest request) {
    if (!rules.prioritizedLists) {
      return "firstAvailable can't be counted, because it is not known which alternative is used";
    }
    if (!request.problem().isEmpty()) {
      return request.problem();
    }
    SortedSet<String> countedAs = new TreeSet<>();
    for (DeviceRequest alternativeRequest : request.alternatives()) {
      String place = "alternative " + shown(alternativeRequest.name()) + ": ";
      List<DeviceClassMapping> mapped = mapped(alternativeRequest.deviceClass());
      if (!alternativeRequest.problem().isEmpty()) {
        return place + alternativeRequest.problem();
      }
      if (mapped.isEmpty()) {
        return place + unmapped(alternativeRequest);
      }
      if (countsBySources(mapped)) {
        return place + "devices that count by what they consume can't be alternatives";
      }
      mapped.forEach(mapping -> countedAs.add(mapping.resource()));
    }
    return countedAs.size() == 1
        ? ""
        : "its alternatives count as several resources: " + String.join(", ", countedAs);
  }

  private static String unmapped(DeviceRequest request) {
    return "DeviceClass %s is mapped to no resource (resources.deviceClassMappings)"
        .formatted(shown(request.deviceClass()));
  }

  /** The resource of the alternatives of a request that isn't refused. */
  private String resource(DeviceRequest request) {
    return mapped(request.alternatives().getFirst().deviceClass()).getFirst().resource();
  }

  /** The most devices that any alternative of a request has. */
  private static long most(DeviceRequest request) {
    return request.alternatives().stream().mapToLong(DeviceRequest::count).max().orElse(0);
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
          if (countsBySources(mapped)) {
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
    count.onOneNode();
    return new DeviceCharge(count.amounts, extended.replaced(), count.defects, count.unresolved);
  }

  /** The resources that claims which exist may count as. */
  Set<String> resources() {
    return resources;
  }

  /** Whether devices of some class count by what they consume, as far as the cluster has them. */
  boolean countsBySources() {
    return mappings.values().stream().anyMatch(DeviceCounting::countsBySources);
  }

  /**
   * What a claim that exists counts as. Where devices count by what they consume, these are the
   * devices that the claim got; until it has them, each counts as the largest that it may get.
   */
  SortedMap<String, Long> of(ClaimSpec claim) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    SelectorWork work = new SelectorWork(SelectorWork.MOST);
    for (DeviceRequest request : claim.requests()) {
      List<DeviceClassMapping> mapped = mapped(request.deviceClass());
      if (!request.alternatives().isEmpty() && refusal(request).isEmpty()) {
        add(amounts, resource(request), most(request));
      } else if (!request.problem().isEmpty() || (mapped.isEmpty() && !request.adminAccess())) {
        add(amounts, UNCOUNTABLE, 1);
      } else if (!request.adminAccess()) {
        for (DeviceClassMapping mapping : mapped) {
          OptionalLong amount = existing(claim, request, mapping, work);
          add(amounts, amount.isPresent() ? mapping.resource() : UNCOUNTABLE, amount.orElse(1));
        }
      }
    }
    return amounts;
  }

  private static void add(SortedMap<String, Long> amounts, String resource, long units) {
    amounts.merge(resource, Quantities.ofUnits(resource, units), ResourceAmounts::add);
  }

  /** What the devices of a request of a claim that exists count as; empty if it costs too much. */
  private OptionalLong existing(
      ClaimSpec claim, DeviceRequest request, DeviceClassMapping mapping, SelectorWork work) {
    if (mapping.sources().isEmpty()) {
      return OptionalLong.of(request.count());
    }
    List<Allocated> allocated = claim.allocated().getOrDefault(request.name(), List.of());
    if (allocated.size() >= request.count()) {
      // A device whose slice is gone, as while its driver starts again, counts as nothing.
      return OptionalLong.of(
          allocated.stream()
              .mapToLong(
                  each ->
                      objects
                          .devices()
                          .at(each.place())
                          .map(device -> consumed(device, each, mapping, work))
                          .orElse(0L))
              .reduce(0, ResourceAmounts::add));
    }
    if (objects.deviceClass(request.deviceClass()).isEmpty()) {
      return OptionalLong.of(0); // nothing is allocated without its class
    }
    List<String> expressions = expressions(request);
    return (DeviceSelectors.areWithin(expressions, work)
            ? amounts(request, expressions, mapping, work)
            : Optional.<Matching>empty())
        .map(each -> OptionalLong.of(ResourceAmounts.multiply(each.largest(), request.count())))
        .orElse(OptionalLong.empty());
  }

  /** What a device that a claim got counts as, by the sources of a mapping. */
  private long consumed(
      Device device, Allocated allocated, DeviceClassMapping mapping, SelectorWork work) {
    Map<String, Long> bySource = new HashMap<>();
    for (DeviceSource source : mapping.sources()) {
      if (source.driver().equals(device.driver())
          && selectors.matches(source.selector(), device, work)) {
        bySource.put(
            whole(source),
            switch (source.kind()) {
              case COUNTER -> units(device, source.name());
              case CAPACITY -> capacity(device, allocated, source);
            });
      }
    }
    return bySource.values().stream().reduce(0L, ResourceAmounts::add);
  }

  /** What a claim consumes of a device that it got; all of one that isn't shared. */
  private static long capacity(Device device, Allocated allocated, DeviceSource source) {
    String name = whole(source);
    DeviceCapacity capacity = device.capacities().get(name);
    if (capacity == null) {
      return 0;
    }
    return allocated.consumed().getOrDefault(name, capacity.amount()).units();
  }

  private static long units(Device device, String counter) {
    DeviceAmount amount = device.counters().get(counter);
    return amount == null ? 0 : amount.units();
  }

  /** What a request would consume of a device that can satisfy it, by a source. */
  private static long consumption(
      Device device, Map<String, DeviceAmount> requests, DeviceSource source) {
    if (source.kind() == DeviceSource.Kind.COUNTER) {
      return units(device, source.name());
    }
    String name = whole(source);
    DeviceCapacity capacity = device.capacities().get(name);
    return capacity == null
        ? 0
        : capacity
            .consumed(Optional.ofNullable(requests.get(name)))
            .map(DeviceAmount::units)
            .orElse(0L);
  }

  /** The name of what counts: a capacity's with its domain, so that it counts once. */
  private static String whole(DeviceSource source) {
    return source.kind() == DeviceSource.Kind.COUNTER
        ? source.name()
        : DeviceCapacity.qualified(source.driver(), source.name());
  }

  /** The expressions that devices meet by the class and the request. */
  private List<String> expressions(DeviceRequest request) {
    return Stream.concat(
            objects.deviceClass(request.deviceClass()).stream()
                .flatMap(deviceClass -> deviceClass.selectors().stream()),
            request.criteria().selectors().stream())
        .toList();
  }

  /**
   * The devices that a request may get, and that count.
   *
   * @param number how often the request can have one of them, at most
   * @param largest what the one counts as that counts most
   * @param all every device that the request may get, where that was looked for
   */
  private record Matching(long number, long largest, Optional<List<Device>> all) {}

  /** Every device that a request may get; empty if it costs too much to find them. */
  private Optional<List<Device>> matching(
      DeviceRequest request, List<String> expressions, SelectorWork work) {
    return objects
        .devices()
        .matching(new Wanted("", expressions, request.criteria().tolerations()), work);
  }

  /** The devices that a request may get, and that count; empty if it costs too much. */
  private Optional<Matching> amounts(
      DeviceRequest request,
      List<String> expressions,
      DeviceClassMapping mapping,
      SelectorWork work) {
    if (mapping.sources().isEmpty()) {
      return matching(request, expressions, work)
          .map(found -> new Matching(found.size(), 1, Optional.of(found)));
    }
    Map<Device, Map<String, Long>> consumed = new IdentityHashMap<>();
    for (DeviceSource source : mapping.sources()) {
      List<String> both = new ArrayList<>(expressions);
      both.add(source.selector());
      Optional<List<Device>> found =
          objects
              .devices()
              .matching(new Wanted(source.driver(), both, request.criteria().tolerations()), work);
      if (found.isEmpty()) {
        return Optional.empty();
      }
      Map<String, DeviceAmount> requests = request.criteria().capacities(source.driver());
      for (Device device : found.get()) {
        consumed
            .computeIfAbsent(device, any -> new HashMap<>())
            .put(whole(source), consumption(device, requests, source));
      }
    }
    boolean shared = mapping.sources().getFirst().kind() == DeviceSource.Kind.CAPACITY;
    long number = 0;
    long largest = 0;
    for (Map.Entry<Device, Map<String, Long>> each : consumed.entrySet()) {
      Device device = each.getKey();
      long times = shared ? device.times(request.criteria().capacities(device.driver())) : 1;
      number = ResourceAmounts.add(number, times);
      if (times > 0) {
        largest =
            Math.max(largest, each.getValue().values().stream().reduce(0L, ResourceAmounts::add));
      }
    }
    return Optional.of(new Matching(number, largest, Optional.empty()));
  }

  /** The devices of one pod. */
  private final class PodCount {

    private final String namespace;
    private final SortedMap<String, Long> amounts = new TreeMap<>();
    private final List<String> defects = new ArrayList<>(0);
    private final List<String> unresolved = new ArrayList<>(0);
    private final SelectorWork work = new SelectorWork(SelectorWork.MOST);

    /** The alternatives of each request, while one node must have all devices. */
    private final List<List<Need>> needs = new ArrayList<>(0);

    private int requests;

    PodCount(String namespace) {
      this.namespace = namespace;
    }

    /** A template of a pod may name thousands of claims: a few texts tell enough. */
    private static void tell(List<String> texts, String text) {
      if (texts.size() < MOST_TOLD) {
        texts.add(text);
      } else if (texts.size() == MOST_TOLD) {
        texts.add("and more");
      }
    }

    void refuse(String resource) {
      tell(
          defects,
          "%s can't be requested, because its devices count by what they consume; use a resource claim"
              .formatted(shown(resource)));
    }

    void claim(Claim claim) {
      String place = "resource claim " + shown(claim.name());
      if (!claim.claim().isEmpty()) {
        tell(
            defects,
            "%s: ResourceClaim %s can't be counted, because others may use it; name a ResourceClaimTemplate"
                .formatted(place, shown(claim.claim())));
      } else if (claim.template().isEmpty()) {
        tell(defects, place + ": it names no ResourceClaimTemplate");
      } else {
        Optional<ClaimSpec> template = objects.template(namespace, claim.template());
        String source = place + ", ResourceClaimTemplate " + shown(claim.template());
        if (template.isEmpty()) {
          tell(unresolved, source + ": doesn't exist");
        } else if (template.get().requests().isEmpty()) {
          tell(defects, source + ": it requests no device");
        }
        template.ifPresent(found -> found.requests().forEach(request -> request(source, request)));
      }
    }

    private void request(String source, DeviceRequest request) {
      requests++;
      if (requests > MOST_REQUESTS) {
        if (requests == MOST_REQUESTS + 1) {
          tell(
              defects,
              "its claims have too many requests; allowed: at most " + MOST_REQUESTS + " of a pod");
        }
        return;
      }
      String place = source + ", request " + shown(request.name());
      if (!request.alternatives().isEmpty()) {
        alternatives(place, request);
      } else if (!request.problem().isEmpty()) {
        tell(defects, place + ": " + shown(request.problem()));
      } else if (!request.adminAccess()) {
        List<DeviceClassMapping> mapped = mapped(request.deviceClass());
        Optional<DeviceClass> deviceClass = objects.deviceClass(request.deviceClass());
        if (mapped.isEmpty()) {
          tell(defects, place + ": " + unmapped(request));
        } else if (deviceClass.isEmpty()) {
          tell(
              unresolved,
              "%s: DeviceClass %s doesn't exist".formatted(place, shown(request.deviceClass())));
        } else {
          List<String> expressions = expressions(request);
          List<Resolution> resolutions =
              mapped.stream().map(mapping -> charge(place, request, expressions, mapping)).toList();
          if (rules.perNode) {
            needs.add(need(request, resolutions.getFirst()).stream().toList());
          }
        }
      }
    }

    /**
     * What a request needs of a node: any device that the scheduler may give to it, whether or not
     * it counts. Empty if that isn't known, and the pod waits anyway.
     */
    private Optional<Need> need(DeviceRequest request, Resolution resolution) {
      return resolution.problem().isPresent()
          ? Optional.empty()
          : resolution
              .matching()
              .flatMap(Matching::all)
              .or(() -> matching(request, expressions(request), work))
              .map(found -> new Need(request.count(), times(request, found)));
    }

    private static Map<Device, Long> times(DeviceRequest request, List<Device> found) {
      Map<Device, Long> times = new IdentityHashMap<>(found.size());
      for (Device device : found) {
        long each = device.times(request.criteria().capacities(device.driver()));
        if (each > 0) {
          times.put(device, each);
        }
      }
      return times;
    }

    /** Keeps a pod out that no node could run, if that is asked. */
    void onOneNode() {
      if (!needs.isEmpty() && unresolved.isEmpty() && defects.isEmpty()) {
        if (!new NodeDevices(work).suffice(needs)) {
          tell(
              unresolved,
              work.isDone()
                  ? "it costs too much to find a node that has all devices of a pod"
                  : "no node has all devices that a pod requests");
        }
      }
    }

    /**
     * Charges the devices of the largest alternative, whichever the scheduler will use, if it can
     * use any.
     */
    private void alternatives(String place, DeviceRequest request) {
      String refusal = refusal(request);
      if (!refusal.isEmpty()) {
        tell(defects, place + ": " + shown(refusal));
      } else if (!isAnyThere(request.alternatives())) {
        tell(
            unresolved,
            place + ": no alternative has a DeviceClass and as many devices that match");
      } else {
        add(amounts, resource(request), most(request));
      }
    }

    /** Whether an alternative is there; where one node must have its devices, all are looked at. */
    private boolean isAnyThere(List<DeviceRequest> alternatives) {
      List<Need> there = new ArrayList<>(0);
      boolean any = false;
      for (DeviceRequest alternativeRequest : alternatives) {
        if (rules.perNode || !any) {
          Resolution resolution = found(alternativeRequest);
          any |= resolution.problem().isEmpty();
          if (rules.perNode) {
            need(alternativeRequest, resolution).ifPresent(there::add);
          }
        }
      }
      if (rules.perNode) {
        needs.add(there);
      }
      return any;
    }

    /** Whether the cluster has the class of an alternative, and as many devices that match. */
    private Resolution found(DeviceRequest alternativeRequest) {
      return objects.deviceClass(alternativeRequest.deviceClass()).isPresent()
          ? resolve(
              alternativeRequest,
              expressions(alternativeRequest),
              mapped(alternativeRequest.deviceClass()).getFirst())
          : Resolution.failed("no DeviceClass");
    }

    /** Charges the devices of a request, or the most that each of them consumes. */
    private Resolution charge(
        String place, DeviceRequest request, List<String> expressions, DeviceClassMapping mapping) {
      Resolution resolution = resolve(request, expressions, mapping);
      if (resolution.problem().isPresent()) {
        tell(unresolved, place + ": " + resolution.problem().get());
      } else {
        add(
            amounts,
            mapping.resource(),
            ResourceAmounts.multiply(resolution.largest(), request.count()));
      }
      return resolution;
    }

    private Resolution resolve(
        DeviceRequest request, List<String> expressions, DeviceClassMapping mapping) {
      if (!DeviceSelectors.areWithin(expressions, work)) {
        return Resolution.failed(TOO_EXPENSIVE);
      }
      Optional<String> problem =
          Stream.concat(
                  expressions.stream(), mapping.sources().stream().map(DeviceSource::selector))
              .flatMap(expression -> selectors.problem(expression).stream())
              .findFirst();
      if (problem.isPresent()) {
        return Resolution.failed("a selector can't be used: " + shown(problem.get()));
      }
      if (mapping.sources().isEmpty() && expressions.isEmpty()) {
        return new Resolution(Optional.empty(), 1, Optional.empty());
      }
      Optional<Matching> matching = amounts(request, expressions, mapping, work);
      if (matching.isEmpty()) {
        return Resolution.failed(TOO_EXPENSIVE);
      }
      // The number that match isn't told: each change of it would be a write.
      return matching.get().number() < request.count()
          ? Resolution.failed(
              "devices requested: %d, fewer match in the cluster".formatted(request.count()))
          : new Resolution(Optional.empty(), matching.get().largest(), matching);
    }
  }

  /**
   * Whether the cluster has the devices of a request.
   *
   * @param problem why not, or why that isn't known; empty if it has them
   * @param largest what the one counts as that counts most
   * @param matching the devices; empty if it has them whichever they are
   */
  private record Resolution(Optional<String> problem, long largest, Optional<Matching> matching) {

    private static Resolution failed(String problem) {
      return new Resolution(Optional.of(problem), 0, Optional.empty());
    }
  }

  private static String shown(String text) {
    return TextLimits.shown(text, MOST_SHOWN);
  }
}
