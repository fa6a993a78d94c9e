package dev.sluice.workload.devices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.api.config.Resources.DeviceSource;
import dev.sluice.api.config.Resources.DeviceSource.Kind;
import dev.sluice.workload.Templates;
import dev.sluice.workload.devices.DeviceInventory.DeviceSlice;
import dev.sluice.workload.record.DeviceCharge;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Devices of claims as quota counts them (docs/devices.md#what-is-counted). */
class DeviceCountingTest {

  private static final String ONE = "{resourceClaims: [{name: c, resourceClaimTemplateName: t}]}";

  private static final DeviceSelectors SELECTORS = new DeviceSelectors();

  private static GivenDevices given(String... requests) {
    return new GivenDevices(SELECTORS)
        .template(
            "{metadata: {name: t, namespace: team}, spec: {spec: {devices: {requests: [%s]}}}}"
                .formatted(String.join(", ", requests)))
        .withClass("{metadata: {name: gpu}}")
        .withClass("{metadata: {name: large}}")
        .withClass("{metadata: {name: nic}}");
  }

  private static DeviceCharge charge(
      GivenDevices devices, String podSpec, DeviceClassMapping... mappings) {
    DeviceCounting counting =
        new DeviceCounting(devices, SELECTORS, List.of(mappings), DeviceCounting.Rules.DEFAULT);
    return counting.of("team", Templates.podSpec(podSpec), counting.extended(devices.classes()));
  }

  private static DeviceCharge charge(String podSpec, String... requests) {
    return charge(
        given(requests),
        podSpec,
        new DeviceClassMapping("gpus", List.of("gpu", "large"), List.of()),
        new DeviceClassMapping("nics", List.of("nic"), List.of()));
  }

  @Test
  void allRequestsOfAllClaimsAddUp() {
    DeviceCharge charge =
        charge(
            "{resourceClaims: [{name: a, resourceClaimTemplateName: t}, {name: b,"
                + " resourceClaimTemplateName: t}], containers: [{name: x, resources: {claims:"
                + " [{name: a}, {name: b}]}}, {name: y, resources: {claims: [{name: a}]}}]}",
            "{name: r, exactly: {deviceClassName: gpu, count: 2}}",
            "{name: s, exactly: {deviceClassName: large, allocationMode: ExactCount}}",
            "{name: n, exactly: {deviceClassName: nic, count: 1}}");
    assertThat(charge.defects()).isEmpty();
    assertThat(charge.unresolved()).isEmpty();
    assertThat(charge.amounts()).isEqualTo(Map.of("gpus", 6L, "nics", 2L));
  }

  /** Changes of 0.20, section 4. */
  @Test
  void adminAccessIsFree() {
    DeviceCharge charge =
        charge(
            ONE,
            "{name: r, exactly: {deviceClassName: nobody, adminAccess: true, allocationMode: All}}",
            "{name: s, exactly: {deviceClassName: nic}}");
    assertThat(charge.defects()).isEmpty();
    assertThat(charge.amounts()).isEqualTo(Map.of("nics", 1L));
  }

  /** Quota of cpu is counted in thousandths: a device is a whole one. */
  @Test
  void devicesThatCountAsCpuAreWholeOnes() {
    DeviceCharge charge =
        charge(
            given("{name: r, exactly: {deviceClassName: gpu, count: 2}}"),
            ONE,
            new DeviceClassMapping("cpu", List.of("gpu"), List.of()));
    assertThat(charge.amounts()).isEqualTo(Map.of("cpu", 2000L));
    TreeMap<String, Long> requested =
        new TreeMap<>(Map.of("cpu", 500L, "deviceclass.resource.kubernetes.io/gpu", 3L));
    assertThat(charge.counted(requested, UnaryOperator.identity())).isEqualTo(Map.of("cpu", 5500L));
    assertThat(charge.renamed(requested)).isEqualTo(Map.of("cpu", 3500L));
  }

  @Test
  void hugeCountsStopAtTheLargestNumber() {
    String most = "{name: r, exactly: {deviceClassName: gpu, count: 9223372036854775807}}";
    assertThat(charge(ONE, most, most).amounts()).isEqualTo(Map.of("gpus", Long.MAX_VALUE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{name: r, exactly: {deviceClassName: other}} | DeviceClass other is mapped to no resource",
        "{name: r, exactly: {}} | DeviceClass  is mapped to no resource",
        "{name: r, exactly: {deviceClassName: gpu, allocationMode: All}} | allocationMode All can't"
            + " be counted",
        "{name: r, exactly: {deviceClassName: gpu, allocationMode: 7}} | allocationMode 7 can't be"
            + " counted",
        "{name: r, exactly: {deviceClassName: gpu, count: -1}} | count must be a whole number above"
            + " 0",
        "{name: r, exactly: {deviceClassName: gpu, count: 0}} | count must be a whole number above"
            + " 0",
        "{name: r, exactly: {deviceClassName: gpu, count: 1.5}} | count must be a whole number"
            + " above 0",
        "{name: r, exactly: {deviceClassName: gpu, count: 92233720368547758080}} | count must be a"
            + " whole number above 0",
        "{name: r, exactly: {deviceClassName: gpu, count: x}} | count must be a whole number above"
            + " 0",
        "{name: r, firstAvailable: [{name: a, deviceClassName: gpu}]} | firstAvailable can't be"
            + " counted",
        "{name: r, firstAvailable: [{name: a}], exactly: {deviceClassName: gpu}} | firstAvailable"
            + " can't be counted",
        "{name: r, firstAvailable: {a: 7}} | firstAvailable can't be counted",
        "{name: r, someday: {deviceClassName: gpu}} | it has no field exactly",
        "7 | it has no field exactly",
      })
  void whatCannotBeCountedIsADefect(String request, String text) {
    DeviceCharge charge = charge(ONE, request);
    assertThat(charge.defects()).hasSize(1);
    assertThat(charge.defects().getFirst())
        .startsWith("resource claim c, ResourceClaimTemplate t, request ")
        .contains(text);
    assertThat(charge.amounts()).isEmpty();
  }

  private static final List<DeviceClassMapping> ALTERNATIVES =
      List.of(
          new DeviceClassMapping("gpus", List.of("gpu", "large"), List.of()),
          new DeviceClassMapping("nics", List.of("nic"), List.of()),
          new DeviceClassMapping(
              "memory",
              List.of("part"),
              List.of(new DeviceSource(Kind.COUNTER, "memory", "d.com", "true"))));

  private static DeviceCharge chargeAlternatives(String... alternatives) {
    GivenDevices given =
        given("{name: r, firstAvailable: [%s]}".formatted(String.join(", ", alternatives)));
    DeviceCounting counting =
        new DeviceCounting(given, SELECTORS, ALTERNATIVES, new DeviceCounting.Rules(true, false));
    return counting.of("team", Templates.podSpec(ONE), counting.extended(given.classes()));
  }

  /** Changes of 0.20, section 4, KueueDRAPrioritizedList. */
  @Test
  void alternativesCountAsTheLargestOfThem() {
    DeviceCharge charge =
        chargeAlternatives(
            "{name: a, deviceClassName: large}",
            "{name: b, deviceClassName: gpu, count: 4}",
            "{name: c, deviceClassName: gpu, count: 2, selectors: [{cel: {expression: 'false'}}]}");
    assertThat(charge.defects()).isEmpty();
    assertThat(charge.unresolved()).isEmpty();
    assertThat(charge.amounts()).isEqualTo(Map.of("gpus", 4L));
  }

  /** Changes of 0.20, section 4, KueueDRAPrioritizedList; what can't be told is refused. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{name: a, deviceClassName: other} | alternative a: DeviceClass other is mapped to no",
        "{name: a, deviceClassName: gpu, allocationMode: All} | alternative a: allocationMode All",
        "{name: a, deviceClassName: gpu, count: 0} | alternative a: count must be a whole number",
        "{name: a, deviceClassName: part} | alternative a: devices that count by what they consume"
            + " can't be",
        "{name: a, deviceClassName: nic} | its alternatives count as several resources: gpus, nics",
        "7 | alternative : it has no field exactly",
      })
  void alternativesThatCannotBeComparedAreADefect(String alternative, String text) {
    DeviceCharge charge = chargeAlternatives("{name: first, deviceClassName: gpu}", alternative);
    assertThat(charge.defects())
        .singleElement()
        .satisfies(defect -> assertThat(defect).contains("request r: " + text));
    assertThat(charge.amounts()).isEmpty();
  }

  /** Changes of 0.20, section 4: DRAResourcesUnresolved, as long as no alternative is there. */
  @Test
  void alternativesWaitUntilOneIsThere() {
    String no = "selectors: [{cel: {expression: 'false'}}]";
    assertThat(
            chargeAlternatives(
                    "{name: a, deviceClassName: gpu, %s}".formatted(no),
                    "{name: b, deviceClassName: large, %s}".formatted(no))
                .unresolved())
        .singleElement()
        .satisfies(
            text ->
                assertThat(text)
                    .endsWith("no alternative has a DeviceClass and as many devices that match"));
  }

  /** Random lists against the rule written down once more. */
  @Test
  void randomAlternativesCountAsTheLargestOfThem() {
    long steps = Long.getLong("sluice.property.steps", 2_000);
    Random random = new Random(Long.getLong("sluice.property.seed", 1));
    String[] classes = {"gpu", "large", "nic", "part", "other"};
    for (long step = 0; step < steps; step++) {
      List<String> texts = new ArrayList<>();
      long most = 0;
      boolean there = false;
      Set<String> countedAs = new HashSet<>();
      for (int i = 0; i <= random.nextInt(4); i++) {
        String name = classes[random.nextInt(100) < 70 ? random.nextInt(2) : random.nextInt(5)];
        int count = 1 + random.nextInt(8);
        boolean matches = random.nextBoolean();
        texts.add(
            "{name: n%d, deviceClassName: %s, count: %d%s}"
                .formatted(
                    i, name, count, matches ? "" : ", selectors: [{cel: {expression: 'false'}}]"));
        most = Math.max(most, count);
        there |= matches;
        countedAs.add(
            switch (name) {
              case "gpu", "large" -> "gpus";
              case "nic" -> "nics";
              default -> "refused";
            });
      }
      boolean refused = countedAs.contains("refused") || countedAs.size() > 1;
      DeviceCharge charge = chargeAlternatives(texts.toArray(String[]::new));
      String what = "step %d: %s".formatted(step, texts);
      assertThat(charge.defects().isEmpty()).as(what).isEqualTo(!refused);
      assertThat(charge.unresolved().isEmpty()).as(what).isEqualTo(refused || there);
      assertThat(charge.amounts())
          .as(what)
          .isEqualTo(refused || !there ? Map.of() : Map.of(countedAs.iterator().next(), most));
    }
  }

  private static DeviceCharge chargeOnOneNode(String... requests) {
    GivenDevices given =
        given(requests)
            .slice(
                "{spec: {driver: d.com, nodeName: n1, pool: {name: n1, resourceSliceCount: 1},"
                    + " devices: [{name: a}, {name: b}]}}")
            .slice(
                "{spec: {driver: d.com, perDeviceNodeSelection: true, pool: {name: all,"
                    + " resourceSliceCount: 1}, devices: [{name: c, nodeName: n2}, {name: e,"
                    + " allNodes: true}]}}");
    DeviceCounting counting =
        new DeviceCounting(given, SELECTORS, ALTERNATIVES, new DeviceCounting.Rules(true, true));
    return counting.of("team", Templates.podSpec(ONE), counting.extended(given.classes()));
  }

  /** Changes of 0.20, section 4, KueueDRADeviceFeasibility. */
  @Test
  void oneNodeMustHaveTheDevicesOfAPod() {
    String three = "{name: r, exactly: {deviceClassName: gpu, count: 3}}";
    assertThat(chargeOnOneNode(three).unresolved()).isEmpty();
    assertThat(chargeOnOneNode(three).amounts()).isEqualTo(Map.of("gpus", 3L));
    assertThat(chargeOnOneNode(three, "{name: s, exactly: {deviceClassName: nic}}").unresolved())
        .containsExactly("no node has all devices that a pod requests");
    assertThat(
            chargeOnOneNode(
                    "{name: r, firstAvailable: [{name: a, deviceClassName: gpu, count: 4}, {name:"
                        + " b, deviceClassName: large, count: 2}]}",
                    "{name: s, exactly: {deviceClassName: nic}}")
                .unresolved())
        .isEmpty();
  }

  /**
   * The scheduler knows no mappings: a pod gets devices that quota doesn't count, too. So what
   * counts by a source says nothing about nodes.
   */
  @ParameterizedTest
  @CsvSource({"2, 0", "3, 1"})
  void aNodeMayHaveDevicesThatDoNotCount(int count, int waiting) {
    GivenDevices given =
        given("{name: r, exactly: {deviceClassName: gpu, count: %d}}".formatted(count));
    for (int node = 1; node <= 3; node++) {
      given.slice(
          "{spec: {driver: d.com, nodeName: n%d, pool: {name: n%d, resourceSliceCount: 1}, devices: [{name: a}]}}"
              .formatted(node, node));
      given.slice(
          "{spec: {driver: e.com, nodeName: n%d, pool: {name: n%d, resourceSliceCount: 1}, devices: [{name: a}]}}"
              .formatted(node, node));
    }
    DeviceCounting counting =
        new DeviceCounting(
            given, SELECTORS, List.of(MEMORY), new DeviceCounting.Rules(false, true));
    assertThat(
            counting
                .of("team", Templates.podSpec(ONE), counting.extended(given.classes()))
                .unresolved())
        .hasSize(waiting);
  }

  /** One that can be shared has a part for each, as far as its capacities go. */
  @ParameterizedTest
  @CsvSource({"10, 3, 0", "10, 4, 1", "31, 1, 1"})
  void aSharedDeviceOfANodeIsForSeveral(int memory, int count, int waiting) {
    GivenDevices given =
        given(
                "{name: r, exactly: {deviceClassName: gpu, count: %d, capacity: {requests: {memory: %d}}}}"
                    .formatted(count, memory))
            .slice(
                "{spec: {driver: d.com, nodeName: n, pool: {name: n, resourceSliceCount: 1},"
                    + " devices: [{name: a, allowMultipleAllocations: true, capacity: {memory:"
                    + " {value: 30}}}]}}");
    DeviceCounting counting =
        new DeviceCounting(given, SELECTORS, List.of(PLAIN), new DeviceCounting.Rules(false, true));
    assertThat(
            counting
                .of("team", Templates.podSpec(ONE), counting.extended(given.classes()))
                .unresolved())
        .hasSize(waiting);
  }

  /** A claim that was made from such a template counts as its Workload was charged. */
  @Test
  void claimsThatExistCountByTheirLargestAlternative() {
    ClaimSpec claim =
        ClaimSpec.ofClaim(
            Templates.node(
                "{spec: {devices: {requests: [{name: r, firstAvailable: [{name: a,"
                    + " deviceClassName: large}, {name: b, deviceClassName: gpu, count: 4}]},"
                    + " {name: s, firstAvailable: [{name: a, deviceClassName: other}]}]}}}"));
    assertThat(
            new DeviceCounting(
                    given(), SELECTORS, ALTERNATIVES, new DeviceCounting.Rules(true, false))
                .of(claim))
        .isEqualTo(Map.of("gpus", 4L, "devices that can't be counted", 1L));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{resourceClaims: [{name: c, resourceClaimName: x}]} | resource claim c: ResourceClaim x"
            + " can't be counted",
        "{resourceClaims: [{name: c, resourceClaimName: x, resourceClaimTemplateName: t}]} |"
            + " resource claim c: ResourceClaim x can't be counted",
        "{resourceClaims: [{name: c}]} | resource claim c: it names no ResourceClaimTemplate",
        "{containers: [{name: m, resources: {claims: [{name: c}]}}]} | resource claim c: it names"
            + " no ResourceClaimTemplate",
      })
  void claimsThatOthersMayUseAreADefect(String podSpec, String text) {
    assertThat(charge(podSpec).defects())
        .singleElement()
        .satisfies(defect -> assertThat(defect).startsWith(text));
  }

  /** Its Workload would be admitted with no device, and its claims may have devices later. */
  @Test
  void templateWithoutRequestsIsADefect() {
    assertThat(charge(ONE).defects())
        .containsExactly("resource claim c, ResourceClaimTemplate t: it requests no device");
  }

  @Test
  void missingTemplateIsAwaited() {
    DeviceCharge charge = charge("{resourceClaims: [{name: c, resourceClaimTemplateName: later}]}");
    assertThat(charge.defects()).isEmpty();
    assertThat(charge.unresolved())
        .containsExactly("resource claim c, ResourceClaimTemplate later: doesn't exist");
  }

  @Test
  void missingClassIsAwaited() {
    DeviceCharge charge =
        charge(
            given("{name: r, exactly: {deviceClassName: later}}"),
            ONE,
            new DeviceClassMapping("gpus", List.of("later"), List.of()));
    assertThat(charge.unresolved())
        .singleElement()
        .satisfies(text -> assertThat(text).endsWith("DeviceClass later doesn't exist"));
  }

  private static final String SLICES =
      "{spec: {driver: d.com, pool: {name: p, generation: 2, resourceSliceCount: 1}, devices: ["
          + "{name: a, attributes: {size: {int: 1}}, consumesCounters: [{counterSet: s, counters:"
          + " {memory: {value: 10Gi}, slots: {value: 1}}}]},"
          + "{name: b, attributes: {size: {int: 2}}, consumesCounters: [{counterSet: s, counters:"
          + " {memory: {value: 20Gi}}}, {counterSet: t, counters: {memory: {value: 512Mi}}}]},"
          + "{name: c, attributes: {size: {int: 3}}, taints: [{key: k, effect: NoSchedule}]}]}}";

  private static String sized(int least, int count) {
    return "{name: r, exactly: {deviceClassName: gpu, count: %d, selectors: [{cel: {expression: 'device.attributes[\"d.com\"].size >= %d'}}]}}"
        .formatted(count, least);
  }

  private static final DeviceClassMapping PLAIN =
      new DeviceClassMapping("gpus", List.of("gpu"), List.of());
  private static final DeviceClassMapping MEMORY =
      new DeviceClassMapping(
          "memory",
          List.of("gpu"),
          List.of(new DeviceSource(Kind.COUNTER, "memory", "d.com", "true")));

  @ParameterizedTest
  @CsvSource({"1, 3, 3", "2, 2, 2", "3, 1, 1", "3, 2, 0", "4, 1, 0"})
  void selectorsNeedAsManyDevicesAsAreRequested(int least, int count, long charged) {
    DeviceCharge charge = charge(given(sized(least, count)).slice(SLICES), ONE, PLAIN);
    assertThat(charge.amounts().getOrDefault("gpus", 0L)).isEqualTo(charged);
    assertThat(charge.unresolved()).hasSize(charged == 0 ? 1 : 0);
  }

  @ParameterizedTest
  @CsvSource({"1, 1, 22011707392", "1, 3, 66035122176", "2, 1, 22011707392", "3, 1, 0"})
  void countersChargeTheMostThatADeviceConsumes(int least, int count, long charged) {
    DeviceCharge charge = charge(given(sized(least, count)).slice(SLICES), ONE, MEMORY);
    assertThat(charge.unresolved()).isEmpty();
    assertThat(charge.amounts()).isEqualTo(Map.of("memory", charged));
  }

  /**
   * Scheduling semantics, section 14: random claims, templates, selectors and counters against the
   * rule written down once more.
   */
  @Test
  void randomClaimsChargeWhatTheirRequestsAddUpTo() {
    long steps = Long.getLong("sluice.property.steps", 2_000);
    Random random = new Random(Long.getLong("sluice.property.seed", 1));
    List<DeviceClassMapping> mappings =
        List.of(
            new DeviceClassMapping("gpus", List.of("gpu", "large"), List.of()),
            new DeviceClassMapping("nics", List.of("nic"), List.of()),
            new DeviceClassMapping("memory", List.of("part"), MEMORY.sources()));
    long[] memory = {10L << 30, (20L << 30) + (512L << 20), 0};
    for (long step = 0; step < steps; step++) {
      GivenDevices devices = given().withClass("{metadata: {name: part}}").slice(SLICES);
      List<Map<String, Long>> charged = new ArrayList<>();
      List<Boolean> there = new ArrayList<>();
      List<String> texts = new ArrayList<>();
      for (int template = 0; template < 3; template++) {
        Map<String, Long> sum = new TreeMap<>();
        boolean all = true;
        List<String> requests = new ArrayList<>();
        for (int request = 0; request <= random.nextInt(3); request++) {
          String name = List.of("gpu", "large", "nic", "part").get(random.nextInt(4));
          int count = 1 + random.nextInt(4);
          int least = random.nextInt(5);
          boolean admin = random.nextInt(10) == 0;
          requests.add(
              "{name: r%d, exactly: {deviceClassName: %s%s%s%s}}"
                  .formatted(
                      request,
                      name,
                      count == 1 ? "" : ", count: " + count,
                      admin ? ", adminAccess: true" : "",
                      least == 0
                          ? ""
                          : ", selectors: [{cel: {expression: 'device.attributes[\"d.com\"].size >="
                              + " %d'}}]".formatted(least)));
          if (admin) {
            continue;
          }
          long most = 0;
          int matching = 0;
          for (int size = 1; size <= 3; size++) {
            if (size >= least) {
              matching++;
              most = Math.max(most, memory[size - 1]);
            }
          }
          boolean counters = name.equals("part");
          all &= matching >= count || (least == 0 && !counters);
          sum.merge(
              counters ? "memory" : name.equals("nic") ? "nics" : "gpus",
              counters ? most * count : count,
              Long::sum);
        }
        String text =
            "{metadata: {name: t%d, namespace: team}, spec: {spec: {devices: {requests: %s}}}}"
                .formatted(template, requests);
        devices.template(text);
        texts.add(text);
        sum.values().removeIf(amount -> amount == 0);
        charged.add(sum);
        there.add(all);
      }
      Map<String, Long> expected = new TreeMap<>();
      boolean resolved = true;
      List<String> claims = new ArrayList<>();
      for (int claim = 0; claim <= random.nextInt(3); claim++) {
        int template = random.nextInt(3);
        claims.add("{name: c%d, resourceClaimTemplateName: t%d}".formatted(claim, template));
        charged
            .get(template)
            .forEach((resource, amount) -> expected.merge(resource, amount, Long::sum));
        resolved &= there.get(template);
      }
      DeviceCharge charge =
          charge(
              devices,
              "{resourceClaims: %s}".formatted(claims),
              mappings.toArray(DeviceClassMapping[]::new));
      String what = "step %d: %s of %s".formatted(step, claims, texts);
      assertThat(charge.defects()).as(what).isEmpty();
      assertThat(charge.unresolved().isEmpty()).as(what).isEqualTo(resolved);
      if (resolved) {
        Map<String, Long> amounts = new TreeMap<>(charge.amounts());
        amounts.values().removeIf(amount -> amount == 0);
        assertThat(amounts).as(what).isEqualTo(expected);
      }
    }
  }

  private static DeviceCharge chargeCapacity(String device, String requests, int count) {
    GivenDevices devices =
        given(
                "{name: r, exactly: {deviceClassName: gpu, count: %d, capacity: {requests: %s}}}"
                    .formatted(count, requests))
            .slice(
                "{spec: {driver: d.com, pool: {name: p, generation: 1, resourceSliceCount: 1},"
                    + " devices: [%s]}}".formatted(device));
    return charge(devices, ONE, CAPACITY);
  }

  private static final DeviceClassMapping CAPACITY =
      new DeviceClassMapping(
          "memory",
          List.of("gpu"),
          List.of(new DeviceSource(Kind.CAPACITY, "memory", "d.com", "true")));

  /** Capacities as docs/devices.md#shared-capacities tells; nothing charged: it waits. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "value: 80 | {} | 1 | 80",
        "value: 80 | {memory: 30} | 2 | 60",
        "value: 80 | {d.com/memory: 30} | 1 | 30",
        "value: 80 | {other.com/memory: 30} | 1 |",
        "value: 80 | {memory: 30} | 3 |",
        "value: 80 | {memory: 81} | 1 |",
        "value: 80 | {memory: 0} | 9 | 0",
        "value: 80 | {memory: -1} | 1 |",
        "value: 80 | {memory: 300m} | 1 | 1",
        "value: 80 | {memory: x} | 1 | 80",
        "value: 80, requestPolicy: {default: 10} | {} | 3 | 30",
        "value: 80, requestPolicy: {default: 10, validValues: [40, 10, 20]} | {} | 1 | 10",
        "value: 80, requestPolicy: {default: 10, validValues: [40, 10, 20]} | {memory: 11} | 1 |"
            + " 20",
        "value: 80, requestPolicy: {default: 10, validValues: [40, 10, 20]} | {memory: 41} | 1 |",
        "value: 80, requestPolicy: {default: 10, validRange: {min: 5}} | {memory: 1} | 1 | 5",
        "value: 80, requestPolicy: {default: 10, validRange: {min: 5}} | {memory: 7} | 1 | 7",
        "value: 80, requestPolicy: {default: 10, validRange: {min: 5, step: 10}} | {memory: 6} | 1"
            + " | 15",
        "value: 80, requestPolicy: {default: 10, validRange: {min: 5, step: 10}} | {memory: 15} | 1"
            + " | 15",
        "value: 80, requestPolicy: {default: 10, validRange: {min: 5, step: 10, max: 20}} |"
            + " {memory: 16} | 1 |",
        "value: 80, requestPolicy: {default: 10, validRange: {min: 5, step: 10}} | {memory: 76} | 1"
            + " |",
        "value: 80, requestPolicy: {default: 10, validRange: {min: 5, step: 0}} | {memory: 6} | 1 |"
            + " 6",
        "value: 80, requestPolicy: 7 | {memory: 6} | 1 | 6",
        "value: x | {} | 1 | 0",
        "value: x | {memory: 6} | 1 |",
      })
  void capacitiesChargeTheMostThatARequestConsumes(
      String capacity, String requests, int count, @Nullable Long charged) {
    DeviceCharge charge =
        chargeCapacity(
            "{name: a, allowMultipleAllocations: true, capacity: {memory: {%s}}}"
                .formatted(capacity),
            requests,
            count);
    assertThat(charge.defects()).isEmpty();
    assertThat(charge.unresolved()).hasSize(charged == null ? 1 : 0);
    assertThat(charge.amounts()).isEqualTo(charged == null ? Map.of() : Map.of("memory", charged));
  }

  /**
   * A request consumes of every capacity of a device that is shared, whichever counts: all of them
   * limit how often it can be had, and a device that lacks one of them can't be had at all.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{name: a, allowMultipleAllocations: true, capacity: {memory: {value: 80}, cores: {value:"
            + " 4}}} | {memory: 10, cores: 2} | 2 | 20",
        "{name: a, allowMultipleAllocations: true, capacity: {memory: {value: 80}, cores: {value:"
            + " 4}}} | {memory: 10, cores: 2} | 3 |",
        "{name: a, allowMultipleAllocations: true, capacity: {memory: {value: 80}, cores: {value:"
            + " 4}}} | {memory: 10} | 2 |",
        "{name: a, allowMultipleAllocations: true, capacity: {memory: {value: 80}, cores: {value:"
            + " 4, requestPolicy: {default: 1}}}} | {memory: 10} | 4 | 40",
        "{name: a, capacity: {memory: {value: 80}, cores: {value: 4}}}, {name: b, capacity:"
            + " {memory: {value: 40}, cores: {value: 8}}} | {cores: 5} | 1 | 40",
        "{name: a, allowMultipleAllocations: true} | {} | 5 | 0",
        "{name: a, allowMultipleAllocations: true, capacity: {memory: {value: 80}}} | {memory: 10,"
            + " d.com/memory: 20} | 1 | 20",
      })
  void everyCapacityOfADeviceIsConsumed(
      String device, String requests, int count, @Nullable Long charged) {
    DeviceCharge charge = chargeCapacity(device, requests, count);
    assertThat(charge.unresolved()).hasSize(charged == null ? 1 : 0);
    assertThat(charge.amounts()).isEqualTo(charged == null ? Map.of() : Map.of("memory", charged));
  }

  /** With its domain and without, it is the same capacity. */
  @Test
  void aCapacityCountsOnceWhateverItsName() {
    DeviceClassMapping twice =
        new DeviceClassMapping(
            "memory",
            List.of("gpu"),
            List.of(
                new DeviceSource(Kind.CAPACITY, "memory", "d.com", "true"),
                new DeviceSource(Kind.CAPACITY, "d.com/memory", "d.com", "true")));
    GivenDevices devices =
        given(sized(0, 1))
            .slice(
                "{spec: {driver: d.com, pool: {name: p, resourceSliceCount: 1}, devices: [{name: a,"
                    + " attributes: {size: {int: 1}}, capacity: {memory: {value: 80}}}]}}");
    assertThat(charge(devices, ONE, twice).amounts()).isEqualTo(Map.of("memory", 80L));
  }

  /** Random devices against the rule, by trying one amount after the other. */
  @Test
  void randomCapacitiesChargeTheMostThatARequestConsumes() {
    long steps = Long.getLong("sluice.property.steps", 2_000);
    Random random = new Random(Long.getLong("sluice.property.seed", 1));
    for (long step = 0; step < steps; step++) {
      int requested = random.nextInt(20) - 1; // -1: nothing
      int count = 1 + random.nextInt(4);
      List<String> devices = new ArrayList<>();
      long fitting = 0;
      long largest = 0;
      for (int i = 0; i <= random.nextInt(3); i++) {
        int whole = 1 + random.nextInt(20);
        int usual = random.nextInt(whole + 1);
        boolean shared = random.nextInt(4) > 0;
        Set<Integer> valid = new HashSet<>();
        int least = random.nextInt(6);
        int pace = random.nextInt(4);
        int most = least + random.nextInt(20);
        String policy = "";
        switch (random.nextInt(4)) {
          case 0 -> {
            for (int value = 0; value <= 60; value++) {
              valid.add(value);
            }
            usual = whole;
          }
          case 1 -> {
            for (int value = 0; value <= 60; value++) {
              valid.add(value);
            }
            policy = ", requestPolicy: {default: %d}".formatted(usual);
          }
          case 2 -> {
            while (valid.size() < 3) {
              valid.add(random.nextInt(25));
            }
            policy = ", requestPolicy: {default: %d, validValues: %s}".formatted(usual, valid);
          }
          default -> {
            for (int value = least; value <= most; value += Math.max(1, pace)) {
              valid.add(value);
            }
            policy =
                ", requestPolicy: {default: %d, validRange: {min: %d, step: %d, max: %d}}"
                    .formatted(usual, least, pace, most);
          }
        }
        devices.add(
            "{name: d%d, allowMultipleAllocations: %s, capacity: {memory: {value: %d%s}}}"
                .formatted(i, shared, whole, policy));
        int consumed = requested < 0 ? usual : requested;
        while (shared && consumed <= whole && !valid.contains(consumed)) {
          consumed++;
        }
        if (consumed <= whole) {
          fitting += !shared ? 1 : consumed == 0 ? count : whole / consumed;
          largest = Math.max(largest, shared ? consumed : whole);
        }
      }
      DeviceCharge charge =
          chargeCapacity(
              String.join(", ", devices),
              requested < 0 ? "{}" : "{memory: " + requested + "}",
              count);
      String what = "step %d: %d of %d by %s".formatted(step, count, requested, devices);
      assertThat(charge.unresolved().isEmpty()).as(what).isEqualTo(fitting >= count);
      assertThat(charge.amounts())
          .as(what)
          .isEqualTo(fitting >= count ? Map.of("memory", largest * count) : Map.of());
    }
  }

  /** One that can be allocated only once is consumed as a whole. */
  @Test
  void capacitiesOfDevicesThatAreNotSharedCountWhole() {
    String device = "{name: a, capacity: {memory: {value: 80}}}";
    assertThat(chargeCapacity(device, "{memory: 30}", 1).amounts())
        .isEqualTo(Map.of("memory", 80L));
    assertThat(chargeCapacity(device, "{memory: 30}", 2).unresolved()).hasSize(1);
    assertThat(chargeCapacity(device, "{memory: 81}", 1).unresolved()).hasSize(1);
  }

  /** The claim counts as the largest device until it has one, and then as what it consumes. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | 30",
        "{device: a, consumedCapacity: {memory: 20}} | 20",
        "{device: a, consumedCapacity: {d.com/memory: 40}} | 40",
        "{device: a} | 80",
        "{device: gone, consumedCapacity: {memory: 20}} | 0",
      })
  void claimsThatExistCountByTheCapacityThatTheyConsume(String result, long charged) {
    GivenDevices devices =
        given()
            .slice(
                "{spec: {driver: d.com, pool: {name: p, generation: 1, resourceSliceCount: 1},"
                    + " devices: [{name: a, allowMultipleAllocations: true, capacity: {memory:"
                    + " {value: 80}}}]}}");
    ClaimSpec claim =
        ClaimSpec.ofClaim(
            Templates.node(
                "{spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, capacity:"
                    + " {requests: {memory: 30}}}}]}}, status: {allocation: {devices: {results:"
                    + " [%s]}}}}"
                        .formatted(
                            result.replace(
                                "{device", "{request: r, driver: d.com, pool: p, device"))));
    assertThat(
            new DeviceCounting(devices, SELECTORS, List.of(CAPACITY), DeviceCounting.Rules.DEFAULT)
                .of(claim))
        .isEqualTo(Map.of("memory", charged));
  }

  @Test
  void devicesOfOlderGenerationsAndOfIncompletePoolsDoNotCount() {
    String older = SLICES.replace("generation: 2", "generation: 1");
    assertThat(charge(given(sized(1, 4)).slice(SLICES).slice(older), ONE, PLAIN).unresolved())
        .singleElement()
        .satisfies(text -> assertThat(text).endsWith("requested: 4, fewer match in the cluster"));
    String incomplete = SLICES.replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    assertThat(charge(given(sized(1, 1)).slice(incomplete), ONE, PLAIN).unresolved()).hasSize(1);
  }

  /** Changes of 0.20, section 4: KueueDRADeviceTaints. */
  @Test
  void taintsCountWithTheGateOnly() {
    assertThat(charge(given(sized(3, 1)).slice(SLICES), ONE, PLAIN).unresolved()).isEmpty();
    assertThat(charge(given(sized(3, 1)).slice(SLICES).withTaints(), ONE, PLAIN).unresolved())
        .hasSize(1);
    String tolerant =
        sized(3, 1).replace("count: 1", "tolerations: [{key: k, operator: Exists}], count: 1");
    assertThat(charge(given(tolerant).slice(SLICES).withTaints(), ONE, PLAIN).unresolved())
        .isEmpty();
  }

  @Test
  void aSelectorThatCannotBeCompiledIsTold() {
    String broken = sized(1, 1).replace(".size >= 1", ".size >=");
    assertThat(charge(given(broken).slice(SLICES), ONE, PLAIN).unresolved())
        .singleElement()
        .satisfies(text -> assertThat(text).contains("a selector can't be used: "));
  }

  @Test
  void extendedResourcesCountAsTheResourceOfTheNewestClass() {
    GivenDevices devices =
        given()
            .withClass(
                "{metadata: {name: old, creationTimestamp: '2026-01-01T00:00:00Z'}, spec:"
                    + " {extendedResourceName: example.com/gpu}}")
            .withClass(
                "{metadata: {name: new, creationTimestamp: '2026-02-01T00:00:00Z'}, spec:"
                    + " {extendedResourceName: example.com/gpu}}");
    DeviceCharge charge =
        charge(
            devices,
            "{containers: [{name: a, resources: {requests: {example.com/gpu: 2}}}]}",
            new DeviceClassMapping("olds", List.of("old"), List.of()),
            new DeviceClassMapping("news", List.of("new"), List.of()));
    TreeMap<String, Long> requested = new TreeMap<>(Map.of("cpu", 1L, "example.com/gpu", 2L));
    assertThat(charge.defects()).isEmpty();
    assertThat(charge.counted(requested, UnaryOperator.identity()))
        .isEqualTo(Map.of("cpu", 1L, "news", 2L));
    TreeMap<String, Long> implicit =
        new TreeMap<>(Map.of("deviceclass.resource.kubernetes.io/old", 3L));
    assertThat(charge.counted(implicit, UnaryOperator.identity())).isEqualTo(Map.of("olds", 3L));
  }

  @Test
  void extendedResourcesOfClassesWithCountersAreRefused() {
    GivenDevices devices =
        given()
            .withClass("{metadata: {name: part}, spec: {extendedResourceName: example.com/part}}");
    assertThat(
            charge(
                    devices,
                    "{containers: [{name: a, resources: {limits: {example.com/part: 2}}}]}",
                    new DeviceClassMapping(
                        "memory",
                        List.of("part"),
                        List.of(new DeviceSource(Kind.COUNTER, "memory", "d.com", "true"))))
                .defects())
        .singleElement()
        .satisfies(text -> assertThat(text).startsWith("example.com/part can't be requested"));
  }

  @Test
  void claimsThatExistCountByTheirRequests() {
    DeviceCounting counting =
        new DeviceCounting(given(), SELECTORS, List.of(PLAIN), DeviceCounting.Rules.DEFAULT);
    ClaimSpec claim =
        ClaimSpec.ofClaim(
            Templates.node(
                "{spec: {devices: {requests: [{exactly: {deviceClassName: gpu, count: 3}},"
                    + " {exactly: {deviceClassName: gpu, adminAccess: true}}, {firstAvailable:"
                    + " [{name: x}]}, {exactly: {deviceClassName: other}}]}}}"));
    assertThat(counting.of(claim))
        .isEqualTo(Map.of("gpus", 3L, "devices that can't be counted", 2L));
  }

  /**
   * One device of 10 and one of 20 GiB: the claim counts as the largest until it has a device. One
   * whose slice is gone counts as nothing.
   */
  @ParameterizedTest
  @CsvSource({
    "'', 1, 22011707392",
    "a, 1, 10737418240",
    "b, 1, 22011707392",
    "a, 2, 44023414784",
    "gone, 1, 0"
  })
  void claimsThatExistCountByTheCountersOfTheirDevices(String device, int count, long charged) {
    DeviceCounting counting =
        new DeviceCounting(
            given().slice(SLICES), SELECTORS, List.of(MEMORY), DeviceCounting.Rules.DEFAULT);
    ClaimSpec claim =
        ClaimSpec.ofClaim(
            Templates.node(
                "{spec: {devices: {requests: [%s]}}, status: {allocation: {devices: {results: [%s]}}}}"
                    .formatted(
                        sized(1, count),
                        device.isEmpty()
                            ? ""
                            : "{request: r, driver: d.com, pool: p, device: %s}"
                                .formatted(device))));
    assertThat(counting.of(claim)).isEqualTo(Map.of("memory", charged));
  }

  /** Whatever was worked out before, a count takes the same steps. */
  @Test
  void selectorsOfOnePodShareTheirSteps() {
    StringBuilder devices = new StringBuilder();
    for (int i = 0; i < 100; i++) {
      devices.append("{name: d%d, attributes: {size: {int: 1}}},".formatted(i));
    }
    String slice =
        "{spec: {driver: d.com, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices:"
            + " [%s]}}".formatted(devices);
    String expensive =
        "[1, 2].all(i, \"%s\".matches(\"%s\"))".formatted("a".repeat(1500), "b?".repeat(250));
    String[] requests = new String[3];
    for (int i = 0; i < requests.length; i++) {
      requests[i] =
          "{name: r%d, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: '%s && %d > 0'}}]}}"
              .formatted(i, expensive, i + 1);
    }
    GivenDevices given = given(requests).slice(slice);
    for (int i = 0; i < 2; i++) {
      DeviceCharge charge = charge(given, ONE, PLAIN);
      assertThat(charge.amounts()).isEqualTo(Map.of("gpus", 1L));
      assertThat(charge.unresolved())
          .hasSize(2)
          .allSatisfy(text -> assertThat(text).contains("the selectors cost too much"));
    }
  }

  /** A template of a pod may name one ResourceClaimTemplate in thousands of claims. */
  @Test
  void whatIsWrongWithThousandsOfClaimsIsToldInFewTexts() {
    String requests = "{name: r, exactly: {deviceClassName: %s}}";
    StringBuilder claims = new StringBuilder();
    for (int i = 0; i < 10_001; i++) {
      claims.append("{name: c%d, resourceClaimTemplateName: t},".formatted(i));
    }
    String pod = "{resourceClaims: [%s]}".formatted(claims);
    assertThat(charge(pod, requests.formatted("other")).defects())
        .hasSize(21)
        .last()
        .isEqualTo("and more");
    assertThat(charge(pod, requests.formatted("gpu")).defects())
        .containsExactly("its claims have too many requests; allowed: at most 10000 of a pod");
    GivenDevices waiting =
        given("{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: ''}}]}}");
    assertThat(charge(waiting, pod, PLAIN).unresolved()).hasSize(21).last().isEqualTo("and more");
  }

  /** Tenants write selectors, each of which is compiled before a device is looked at. */
  @Test
  void selectorsTakeStepsToBeCompiled() {
    String[] requests = new String[100];
    for (int i = 0; i < requests.length; i++) {
      requests[i] =
          "{name: r%d, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: '%s%d > 0'}}]}}"
              .formatted(i, "true && ".repeat(1_200), i + 1);
    }
    DeviceCharge charge = charge(given(requests).slice(SLICES), ONE, PLAIN);
    assertThat(charge.amounts().get("gpus")).isBetween(1L, requests.length - 1L);
    assertThat(charge.unresolved()).first().asString().contains("the selectors cost too much");
  }

  /** What is told of changes depends on it: drivers write their slices again without a change. */
  @Test
  void whatIsKeptOfObjectsIsComparedByItsContents() {
    assertThat(DeviceSlice.of(Templates.node(SLICES)))
        .isEqualTo(DeviceSlice.of(Templates.node(SLICES)))
        .isNotEqualTo(DeviceSlice.of(Templates.node(SLICES.replace("20Gi", "21Gi"))))
        .isNotEqualTo(DeviceSlice.of(Templates.node(SLICES.replace("int: 3", "int: 4"))));
    String claim = "{spec: {devices: {requests: [%s]}}, status: %s}";
    String allocated = "{allocation: {devices: {results: [{request: r, device: a}]}}}";
    assertThat(ClaimSpec.ofClaim(Templates.node(claim.formatted(sized(1, 1), "{}"))))
        .isEqualTo(ClaimSpec.ofClaim(Templates.node(claim.formatted(sized(1, 1), "{}"))))
        .isNotEqualTo(ClaimSpec.ofClaim(Templates.node(claim.formatted(sized(1, 1), allocated))));
  }
}
