package dev.sluice.workload.feed;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.Resources.Transformation;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.workload.devices.ClaimedDevices;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.NamespaceLimits;
import dev.sluice.workload.record.PodTemplate;
import dev.sluice.workload.record.PodTemplate.Container;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import dev.sluice.workload.record.PodTemplateParser;
import dev.sluice.workload.record.PodTemplateParser.PodRequests;
import dev.sluice.workload.record.ResourceContext;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Compares the requests of an existing pod with what its pod set was admitted with per pod. Usable
 * from any thread.
 */
public final class AdmittedRequests {

  /** Every resource is counted as it is requested. */
  public static final AdmittedRequests PLAIN =
      new AdmittedRequests(List.of(), List.of(), false, Map.of());

  private final ResourceTransformer transformer;
  private final boolean ignoresUndeclared;
  private final Map<String, Map<String, Long>> injected;
  private final ClaimedDevices devices;

  /**
   * Counts as quota does.
   *
   * @param excludedPrefixes resources with one of these name prefixes are not counted
   * @param transformations resources that are counted as other resources
   * @param ignoresUndeclared whether resources without an assigned amount are not counted
   * @param injected containers that webhooks of the cluster add to pods, by name: up to these
   *     amounts, by resource, they are counted neither of pods nor of templates
   */
  public AdmittedRequests(
      List<String> excludedPrefixes,
      List<Transformation> transformations,
      boolean ignoresUndeclared,
      Map<String, Map<String, Long>> injected) {
    this(
        new ResourceTransformer(excludedPrefixes, transformations),
        ignoresUndeclared,
        Map.copyOf(injected),
        ClaimedDevices.NONE);
  }

  private AdmittedRequests(
      ResourceTransformer transformer,
      boolean ignoresUndeclared,
      Map<String, Map<String, Long>> injected,
      ClaimedDevices devices) {
    this.transformer = transformer;
    this.ignoresUndeclared = ignoresUndeclared;
    this.injected = injected;
    this.devices = devices;
  }

  /** The same, with the devices of claims of existing pods. */
  public AdmittedRequests counting(ClaimedDevices claimedDevices) {
    return new AdmittedRequests(transformer, ignoresUndeclared, injected, claimedDevices);
  }

  /**
   * The names of the ResourceClaims of an existing pod: those that it names, and those that its
   * status says were made for it. Empty if devices aren't counted.
   */
  public List<String> claims(JsonNode pod) {
    JsonNode declared = pod.path("spec").path("resourceClaims");
    return declared.isEmpty() || devices == ClaimedDevices.NONE
        ? List.of()
        : Stream.concat(
                declared.valueStream(),
                pod.path("status").path("resourceClaimStatuses").valueStream())
            .map(claim -> claim.path("resourceClaimName").asText(""))
            .filter(claim -> !claim.isEmpty())
            .distinct()
            .toList();
  }

  /**
   * The counted amounts of a pod with the devices of its claims, as far as these are known. What
   * devices stand behind may have become known after the pod was counted.
   */
  public SortedMap<String, Long> withDevices(
      String namespace, List<String> claims, SortedMap<String, Long> counted) {
    SortedMap<String, Long> renamed = devices.extended().renamed(counted);
    if (claims.isEmpty()) {
      return renamed;
    }
    SortedMap<String, Long> result = new TreeMap<>(renamed);
    for (String claim : claims) {
      devices
          .of(namespace, claim)
          .forEach((resource, amount) -> result.merge(resource, amount, ResourceAmounts::add));
    }
    return result;
  }

  /** Whether a pod has containers of those that webhooks add, or that are named so. */
  public boolean hasInjected(JsonNode podSpec) {
    return !injected.isEmpty()
        && Stream.of("containers", "initContainers")
            .flatMap(field -> podSpec.path(field).valueStream())
            .anyMatch(container -> injected.containsKey(container.path("name").asText("")));
  }

  /** A container without what one of its name may request beside an admission. */
  public Container charged(Container container) {
    Map<String, Long> free = injected.get(container.name());
    if (free == null) {
      return container;
    }
    Map<String, Long> requests = new HashMap<>(container.resources().requests());
    requests.replaceAll(
        (resource, amount) -> Math.max(0, amount - free.getOrDefault(resource, 0L)));
    return new Container(
        container.name(),
        new ResourceNeeds(requests, container.resources().limits()),
        container.restartable());
  }

  private PodTemplate charged(PodTemplate template) {
    boolean none =
        Stream.concat(template.containers().stream(), template.initContainers().stream())
            .noneMatch(container -> injected.containsKey(container.name()));
    return none
        ? template
        : new PodTemplate(
            template.containers().stream().map(this::charged).toList(),
            template.initContainers().stream().map(this::charged).toList(),
            template.podLevel(),
            template.overhead(),
            template.runtimeClassName(),
            template.nodeConstraints(),
            template.fingerprint(),
            template.fingerprintWithoutTolerations(),
            template.resourceClaims(),
            template.problems());
  }

  /** The assigned usage of one pod, by the resources that devices count as now. */
  private SortedMap<String, Long> usagePerPod(Assignment assignment) {
    SortedMap<String, Long> usage = new TreeMap<>();
    assignment
        .resourceUsage()
        .forEach(
            (resource, amount) ->
                usage.put(resource, perPod(resource, amount, assignment.count())));
    return devices.extended().renamed(usage);
  }

  /** What one pod of an assignment may request, by resource. */
  private SortedMap<String, Long> perPod(PodSet podSet, Assignment assignment) {
    SortedMap<String, Long> template = counted(podSet.template());
    SortedMap<String, Long> allowed = new TreeMap<>(template);
    usagePerPod(assignment)
        .forEach((resource, amount) -> allowed.merge(resource, amount, Math::max));
    PodTemplate charged = charged(podSet.template());
    if (charged != podSet.template()) {
      // What isn't counted of the pods isn't allowed to others of them either.
      counted(charged)
          .forEach(
              (resource, amount) ->
                  allowed.computeIfPresent(
                      resource,
                      (same, most) ->
                          Math.max(0, most - (template.getOrDefault(resource, 0L) - amount))));
    }
    return allowed;
  }

  /**
   * What a pod requests beyond the amounts of one pod of its pod set; empty if the pod is within
   * them. These amounts are the assigned usage divided by the assigned count, or the requests of
   * the pod set's template where those are larger.
   *
   * @param pod the pod as the API server returned it
   * @return for example {@code cpu: 2000 of 1000}, in thousandths for cpu, in whole units otherwise
   */
  public Optional<String> excess(JsonNode pod, PodSet podSet, Assignment assignment) {
    SortedMap<String, Long> most = perPod(podSet, assignment);
    PodTemplate template = charged(PodTemplateParser.of(pod));
    for (Map.Entry<String, Long> requested : counted(template).entrySet()) {
      String resource = requested.getKey();
      if (ignoresUndeclared
          && !assignment.resourceUsage().containsKey(resource)
          && !isOfDevices(resource)) {
        continue;
      }
      long allowed = most.getOrDefault(resource, 0L);
      if (requested.getValue() > allowed) {
        return Optional.of("%s: %d of %d".formatted(resource, requested.getValue(), allowed));
      }
    }
    return Optional.empty();
  }

  /** Whether one pod requests more of any counted resource than another. */
  public boolean isLarger(JsonNode pod, JsonNode other) {
    SortedMap<String, Long> counted = counted(PodTemplateParser.of(other));
    return counted(PodTemplateParser.of(pod)).entrySet().stream()
        .anyMatch(requested -> requested.getValue() > counted.getOrDefault(requested.getKey(), 0L));
  }

  /** What quota counts of the amounts that an existing pod requests. */
  public SortedMap<String, Long> counted(SortedMap<String, Long> requested) {
    return devices.extended().counted(requested, transformer::of);
  }

  /** Whether devices count as this resource; then it is compared with every admission. */
  public boolean isOfDevices(String resource) {
    return devices.resources().contains(resource);
  }

  /** Whether resources without an assigned amount are not counted, except those of devices. */
  public boolean ignoresUndeclared() {
    return ignoresUndeclared;
  }

  /**
   * The amounts that some pods of a pod set may request together: the assigned usage, or the
   * requests of the template where those are larger.
   *
   * @param pods how many of the assigned pods
   */
  public SortedMap<String, Long> allowed(PodSet podSet, Assignment assignment, int pods) {
    SortedMap<String, Long> allowed = perPod(podSet, assignment);
    allowed.replaceAll((resource, amount) -> times(amount, pods));
    return allowed;
  }

  private static long times(long amount, int pods) {
    return amount > 0 && pods > Long.MAX_VALUE / amount ? Long.MAX_VALUE : amount * pods;
  }

  /** What quota counts of an existing pod, or of a template that needs no defaults. */
  public SortedMap<String, Long> of(JsonNode pod) {
    return counted(PodTemplateParser.of(pod));
  }

  /** The API server has written limits and overhead of the namespace into an existing pod. */
  private SortedMap<String, Long> counted(PodTemplate template) {
    return counted(PodRequests.of(template, NamespaceLimits.NONE, ResourceContext.NONE).perPod());
  }

  /** Treats an invalid quantity as zero; the API server rejects such quantities. */
  private static long perPod(String resource, String usage, int count) {
    try {
      return count > 0 ? Quantities.amount(resource, usage) / count : 0;
    } catch (IllegalArgumentException e) {
      return 0;
    }
  }

  /**
   * Transforms the requests of a pod into the amounts that quota counts: applies resource
   * transformations, then drops excluded resources (docs/scheduling-semantics.md#what-is-pending 5,
   * 6 and 8).
   */
  static final class ResourceTransformer {

    private static final BigDecimal LARGEST = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final BigDecimal SMALLEST = BigDecimal.valueOf(Long.MIN_VALUE);

    private final List<String> excludedPrefixes;
    private final Map<String, Transformation> transformations = new HashMap<>();

    ResourceTransformer(List<String> excludedPrefixes, List<Transformation> transformations) {
      this.excludedPrefixes = List.copyOf(excludedPrefixes);
      transformations.forEach(each -> this.transformations.put(each.input(), each));
    }

    /**
     * The counted amounts of a pod, from its requested amounts; none is negative. An excluded
     * resource isn't counted itself, but it is an input and a factor of transformations like any
     * other.
     */
    SortedMap<String, Long> of(SortedMap<String, Long> requested) {
      SortedMap<String, Long> counted = new TreeMap<>();
      Map<String, BigDecimal> outputs = new HashMap<>();
      requested.forEach(
          (resource, amount) -> {
            Transformation transformation = transformations.get(resource);
            if (transformation != null) {
              addOutputs(outputs, transformation, resource, amount, requested);
            }
            boolean replaced = transformation != null && transformation.replace();
            if (!replaced && !isExcluded(resource)) {
              counted.put(resource, amount);
            }
          });
      outputs.forEach(
          (resource, value) ->
              counted.merge(resource, amount(resource, value), ResourceAmounts::add));
      counted.replaceAll((resource, amount) -> Math.max(0, amount));
      return counted;
    }

    private boolean isExcluded(String resource) {
      for (String prefix : excludedPrefixes) {
        if (resource.startsWith(prefix)) {
          return true;
        }
      }
      return false;
    }

    private static void addOutputs(
        Map<String, BigDecimal> outputs,
        Transformation transformation,
        String resource,
        long amount,
        Map<String, Long> requested) {
      BigDecimal value = number(resource, amount);
      Long factor = requested.get(transformation.multiplyBy());
      BigDecimal scaled =
          factor == null ? value : value.multiply(number(transformation.multiplyBy(), factor));
      transformation
          .outputs()
          .forEach(
              (output, perUnit) ->
                  outputs.merge(output, scaled.multiply(perUnit), BigDecimal::add));
    }

    private static BigDecimal number(String resource, long amount) {
      BigDecimal number = BigDecimal.valueOf(amount);
      return resource.equals(Quantities.CPU) ? number.scaleByPowerOfTen(-3) : number;
    }

    private static long amount(String resource, BigDecimal number) {
      BigDecimal units = resource.equals(Quantities.CPU) ? number.scaleByPowerOfTen(3) : number;
      BigDecimal rounded = units.setScale(0, RoundingMode.UP);
      return Math.max(0, rounded.min(LARGEST).max(SMALLEST).longValueExact());
    }
  }
}
