package dev.sluice.reference;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.reference.ReferenceDeviceCluster.Known;
import dev.sluice.reference.ReferenceDeviceNodes.Need;
import dev.sluice.reference.ReferenceDeviceSettings.Mapping;
import dev.sluice.reference.ReferenceDeviceSettings.Source;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A second count of devices, written from scheduling semantics, section 14, the gates of 0.20 and
 * docs/devices.md, without any code of the first.
 */
final class ReferenceDevices {

  private final ReferenceDeviceCluster cluster;
  private final DeviceFlaw flaw;

  ReferenceDevices(ReferenceDeviceCluster cluster) {
    this.cluster = cluster;
    flaw = cluster.flaw;
  }

  /** What is known of one pod. */
  static final class Pod {

    /** What is charged, by resource. */
    final TreeMap<String, BigInteger> amounts = new TreeMap<>();

    /** What the pod requests of its node, by resource. */
    final TreeMap<String, BigInteger> onNode = new TreeMap<>();

    private final List<List<Need>> needs = new ArrayList<>();

    /** Whether somebody has to change the Workload or the configuration. */
    boolean misconfigured;

    /** Whether the Workload has to wait for objects. */
    boolean unresolved;

    /** Adds an amount, in thousandths for cpu. */
    void add(String resource, BigInteger amount) {
      amounts.merge(resource, amount, BigInteger::add);
    }

    /** Adds so many devices, or whole units of what they consume. */
    void addUnits(String resource, BigInteger units) {
      add(resource, resource.equals("cpu") ? units.multiply(BigInteger.valueOf(1000)) : units);
    }
  }

  /** What is known of a pod of each pod set of a Workload. */
  List<Pod> ask(JsonNode workload) {
    List<Pod> pods = new ArrayList<>();
    for (JsonNode podSet : workload.at("/spec/podSets")) {
      JsonNode spec = podSet.at("/template/spec");
      Pod pod = new Pod();
      new ReferencePodRequests(cluster, spec).count(pod);
      claims(workload.at("/metadata/namespace").asText(), spec, pod);
      if (!pod.misconfigured
          && !pod.unresolved
          && cluster.settings.on(ReferenceDeviceSettings.NODES)
          && !new ReferenceDeviceNodes(flaw).suffice(pod.needs)) {
        pod.unresolved = true;
      }
      pod.amounts.replaceAll((resource, amount) -> amount.min(ReferenceDeviceCluster.MOST));
      pod.onNode.replaceAll((resource, amount) -> amount.min(ReferenceDeviceCluster.MOST));
      pods.add(pod);
    }
    return pods;
  }

  private void claims(String namespace, JsonNode spec, Pod pod) {
    Map<String, JsonNode> declared = new TreeMap<>();
    spec.path("resourceClaims").forEach(each -> declared.put(each.path("name").asText(), each));
    Set<String> used = new TreeSet<>();
    for (String list : List.of("containers", "initContainers")) {
      for (JsonNode container : spec.path(list)) {
        container.at("/resources/claims").forEach(each -> used.add(each.path("name").asText()));
      }
    }
    if (declared.isEmpty() && used.isEmpty()) {
      return;
    }
    if (!cluster.settings.on(ReferenceDeviceSettings.DEVICES)) {
      pod.misconfigured |= cluster.settings.on(ReferenceDeviceSettings.REFUSAL);
      return;
    }
    if (cluster.settings.mappings().isEmpty()) {
      pod.misconfigured = true;
      return;
    }
    pod.misconfigured |= !declared.keySet().containsAll(used);
    Set<String> counted = new HashSet<>();
    for (JsonNode claim : declared.values()) {
      String template = claim.path("resourceClaimTemplateName").asText("");
      JsonNode found = cluster.all("template").get(namespace + "/" + template);
      if (!claim.path("resourceClaimName").asText("").isEmpty() || template.isEmpty()) {
        pod.misconfigured = true;
      } else if (found == null) {
        pod.unresolved = true;
      } else if (counted.add(template) || flaw != DeviceFlaw.TEMPLATES_COUNT_ONCE) {
        JsonNode requests = found.at("/spec/spec/devices/requests");
        pod.misconfigured |= requests.isEmpty();
        requests.forEach(request -> request(request, pod));
      }
    }
  }

  private boolean isFree(JsonNode exactly) {
    return exactly.path("adminAccess").asBoolean(false)
        && flaw != DeviceFlaw.ADMINISTRATORS_ARE_CHARGED;
  }

  private List<Mapping> mapped(JsonNode exactly) {
    List<Mapping> all = cluster.settings.of(exactly.path("deviceClassName").asText(""));
    return flaw == DeviceFlaw.FIRST_MAPPING ? all.stream().limit(1).toList() : all;
  }

  private void request(JsonNode request, Pod pod) {
    if (!request.path("firstAvailable").isEmpty()) {
      alternatives(request, pod);
      return;
    }
    JsonNode exactly = request.path("exactly");
    if (isFree(exactly)) {
      return;
    }
    if (isUncountable(exactly) || mapped(exactly).isEmpty()) {
      pod.misconfigured = true;
      return;
    }
    if (cluster.isMissing(exactly)) {
      pod.unresolved = true;
      return;
    }
    for (Mapping mapping : mapped(exactly)) {
      Optional<BigInteger> each = each(exactly, mapping);
      pod.unresolved |= each.isEmpty();
      each.ifPresent(amount -> pod.addUnits(mapping.resource(), amount.multiply(count(exactly))));
    }
    pod.needs.add(List.of(need(exactly)));
  }

  /** Whether how many devices are requested isn't known. */
  private static boolean isUncountable(JsonNode exactly) {
    JsonNode count = exactly.path("count");
    return !exactly.isObject()
        || !exactly.path("allocationMode").asText("ExactCount").equals("ExactCount")
        || (exactly.hasNonNull("count")
            && (!count.isIntegralNumber()
                || count.bigIntegerValue().signum() <= 0
                || count.bigIntegerValue().compareTo(ReferenceDeviceCluster.MOST) > 0));
  }

  private BigInteger count(JsonNode exactly) {
    return exactly.hasNonNull("count") && flaw != DeviceFlaw.COUNT_IS_ONE
        ? exactly.path("count").bigIntegerValue()
        : BigInteger.ONE;
  }

  private void alternatives(JsonNode request, Pod pod) {
    Optional<BigInteger> most = most(request);
    if (most.isEmpty()) {
      pod.misconfigured = true;
      return;
    }
    List<Need> there = new ArrayList<>();
    for (JsonNode alternative : request.path("firstAvailable")) {
      if (!cluster.isMissing(alternative)
          && each(alternative, mapped(alternative).getFirst()).isPresent()) {
        there.add(need(alternative));
      }
    }
    pod.unresolved |=
        there.isEmpty()
            || (flaw == DeviceFlaw.ALL_ALTERNATIVES
                && there.size() < request.path("firstAvailable").size());
    pod.needs.add(there);
    pod.addUnits(resource(request), most.get());
  }

  /** The most devices that an alternative has; empty if alternatives can't be counted. */
  private Optional<BigInteger> most(JsonNode request) {
    BigInteger most = BigInteger.ZERO;
    Set<String> resources = new HashSet<>();
    for (JsonNode alternative : request.path("firstAvailable")) {
      List<Mapping> mapped = mapped(alternative);
      if (isUncountable(alternative)
          || mapped.isEmpty()
          || mapped.stream().anyMatch(mapping -> !mapping.sources().isEmpty())) {
        return Optional.empty();
      }
      mapped.forEach(mapping -> resources.add(mapping.resource()));
      most =
          flaw == DeviceFlaw.FIRST_ALTERNATIVE && most.signum() > 0
              ? most
              : most.max(count(alternative));
    }
    return cluster.settings.on(ReferenceDeviceSettings.LISTS)
            && !request.hasNonNull("exactly")
            && resources.size() == 1
        ? Optional.of(most)
        : Optional.empty();
  }

  private String resource(JsonNode request) {
    return mapped(request.path("firstAvailable").path(0)).getFirst().resource();
  }

  /** What each device of a request counts as; empty while it can't be had so often. */
  private Optional<BigInteger> each(JsonNode exactly, Mapping mapping) {
    boolean compiled =
        Stream.concat(
                cluster.expressions(exactly).stream(),
                mapping.sources().stream().map(Source::selector))
            .allMatch(ReferenceSelectors::isExpression);
    if (!compiled && flaw != DeviceFlaw.BROKEN_SELECTORS_MATCH_NOTHING_ELSE) {
      return Optional.empty();
    }
    if (mapping.sources().isEmpty() && cluster.expressions(exactly).isEmpty()) {
      return Optional.of(BigInteger.ONE);
    }
    Candidates candidates = candidates(exactly, mapping);
    return candidates.times.compareTo(count(exactly)) < 0
            && (flaw != DeviceFlaw.FEWER_ARE_ENOUGH || candidates.times.signum() == 0)
        ? Optional.empty()
        : Optional.of(candidates.largest);
  }

  /**
   * The devices that a request may get and that count.
   *
   * @param times how often they can be had together
   * @param largest what the one counts as that counts most
   */
  private record Candidates(BigInteger times, BigInteger largest) {}

  private Candidates candidates(JsonNode exactly, Mapping mapping) {
    BigInteger times = BigInteger.ZERO;
    BigInteger largest = BigInteger.ZERO;
    boolean capacities = mapping.sources().stream().anyMatch(source -> !source.counter());
    for (Known known : cluster.matching(exactly)) {
      BigInteger often =
          capacities ? new ReferenceCapacities(known, flaw).times(exactly) : BigInteger.ONE;
      Optional<BigInteger> counted = counted(known, mapping, Optional.of(exactly), exactly);
      if (often.signum() > 0 && counted.isPresent()) {
        largest =
            flaw == DeviceFlaw.FIRST_DEVICE && times.signum() > 0
                ? largest
                : largest.max(counted.get());
        times = times.add(often);
      }
    }
    return new Candidates(times, largest);
  }

  /**
   * What a device counts as; empty if it counts by no source.
   *
   * @param exactly the request that may get it; empty: a claim has it
   * @param result how the claim has it
   */
  private Optional<BigInteger> counted(
      Known known, Mapping mapping, Optional<JsonNode> exactly, JsonNode result) {
    if (mapping.sources().isEmpty()) {
      return Optional.of(BigInteger.ONE);
    }
    ReferenceCapacities capacities = new ReferenceCapacities(known, flaw);
    Map<String, BigInteger> counted = new HashMap<>();
    for (Source source : mapping.sources()) {
      boolean meant =
          source.driver().equals(known.driver()) || flaw == DeviceFlaw.DRIVERS_ARE_IGNORED;
      if (meant
          && (flaw == DeviceFlaw.SELECTORS_OF_SOURCES_ARE_IGNORED
              || ReferenceSelectors.matches(source.selector(), known.driver(), known.device()))) {
        counted.put(
            source.whole(),
            source.counter()
                ? counter(known.device(), source.name())
                : exactly.isPresent()
                    ? capacities.charged(source.whole(), exactly.get())
                    : capacities.held(source.whole(), result));
      }
    }
    return counted.values().stream().reduce(BigInteger::add);
  }

  private BigInteger counter(JsonNode device, String name) {
    BigDecimal sum = BigDecimal.ZERO;
    for (JsonNode set : device.path("consumesCounters")) {
      JsonNode value = set.path("counters").path(name).path("value");
      sum = sum.add(ReferenceDeviceCluster.quantity(value).orElse(BigDecimal.ZERO));
      if (flaw == DeviceFlaw.FIRST_COUNTER_SET) {
        break;
      }
    }
    return ReferenceDeviceCluster.units(sum);
  }

  /** What a request needs of a node: whatever the scheduler may give to it. */
  private Need need(JsonNode exactly) {
    Need need = new Need(count(exactly), new ArrayList<>());
    for (Known known : cluster.matching(exactly)) {
      BigInteger times = new ReferenceCapacities(known, flaw).times(exactly);
      boolean counts =
          flaw != DeviceFlaw.ONLY_WHAT_COUNTS
              || counted(known, mapped(exactly).getFirst(), Optional.of(exactly), exactly)
                  .isPresent();
      if (times.signum() > 0 && counts) {
        need.offers().add(new ReferenceDeviceNodes.Offer(known, times));
      }
    }
    return need;
  }

  /** What a claim that exists counts as; empty if it can't be counted. */
  Optional<TreeMap<String, BigInteger>> claimed(JsonNode claim) {
    Pod pod = new Pod();
    for (JsonNode request : claim.at("/spec/devices/requests")) {
      JsonNode exactly = request.path("exactly");
      if (!request.path("firstAvailable").isEmpty()) {
        Optional<BigInteger> most = most(request);
        most.ifPresent(amount -> pod.addUnits(resource(request), amount));
        pod.misconfigured |= most.isEmpty();
      } else if (!isFree(exactly)) {
        List<Mapping> mapped = mapped(exactly);
        pod.misconfigured |= isUncountable(exactly) || mapped.isEmpty();
        if (!pod.misconfigured) {
          mapped.forEach(
              mapping -> pod.addUnits(mapping.resource(), claimed(claim, request, mapping)));
        }
      }
    }
    pod.amounts.replaceAll((resource, amount) -> amount.min(ReferenceDeviceCluster.MOST));
    return pod.misconfigured ? Optional.empty() : Optional.of(pod.amounts);
  }

  private BigInteger claimed(JsonNode claim, JsonNode request, Mapping mapping) {
    JsonNode exactly = request.path("exactly");
    if (mapping.sources().isEmpty()) {
      return count(exactly);
    }
    List<JsonNode> results = new ArrayList<>();
    for (JsonNode result : claim.at("/status/allocation/devices/results")) {
      if (result.path("request").equals(request.path("name"))) {
        results.add(result);
      }
    }
    if (BigInteger.valueOf(results.size()).compareTo(count(exactly)) < 0
        || flaw == DeviceFlaw.CLAIMS_COUNT_AS_ADMITTED) {
      return cluster.isMissing(exactly)
          ? BigInteger.ZERO
          : candidates(exactly, mapping).largest.multiply(count(exactly));
    }
    BigInteger sum = BigInteger.ZERO;
    for (JsonNode result : results) {
      for (Known known : cluster.devices()) {
        if (known.driver().equals(result.path("driver").asText())
            && known.pool().equals(result.path("pool").asText())
            && known.name().equals(result.path("device").asText())) {
          sum = sum.add(counted(known, mapping, Optional.empty(), result).orElse(BigInteger.ZERO));
        }
      }
    }
    return sum;
  }
}
