package dev.sluice.workload.devices;

import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.api.config.Resources.DeviceSource;
import dev.sluice.api.config.Resources.DeviceSource.Kind;
import dev.sluice.testing.Mutations;
import dev.sluice.workload.Templates;
import dev.sluice.workload.record.PodTemplateParser;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever people write about devices: it is read, and nothing throws. */
class HostileDevicesTest {

  private static final int OBJECTS = Integer.getInteger("sluice.fuzz.objects", 10_000);

  private static final ObjectNode TEMPLATE =
      Templates.node(
          """
          metadata: {name: t, namespace: team}
          spec:
            spec:
              devices:
                requests:
                - name: r
                  exactly:
                    deviceClassName: gpu
                    count: 2
                    allocationMode: ExactCount
                    selectors: [{cel: {expression: "device.attributes['d.com'].size > 1"}}]
                    tolerations: [{key: k, operator: Exists, effect: NoSchedule}]
                - name: s
                  firstAvailable: [{name: a, deviceClassName: gpu}, {name: b, deviceClassName: gpu}]
                - name: t
                  exactly:
                    deviceClassName: shared
                    capacity: {requests: {memory: 3Gi, cores: 1}}
          status:
            allocation:
              devices:
                results:
                - {request: t, driver: d.com, pool: p, device: a, consumedCapacity: {memory: 2Gi}}
                - {request: t, driver: d.com, pool: p, device: a, consumedCapacity: {memory: 2Gi}}
          """);
  private static final ObjectNode CLASS =
      Templates.node(
          """
          metadata: {name: gpu, creationTimestamp: "2026-01-01T00:00:00Z"}
          spec:
            extendedResourceName: example.com/gpu
            selectors: [{cel: {expression: "device.driver == 'd.com'"}}]
          """);
  private static final ObjectNode SLICE =
      Templates.node(
          """
          metadata: {name: s}
          spec:
            driver: d.com
            nodeName: n
            pool: {name: p, generation: 1, resourceSliceCount: 1}
            devices:
            - name: a
              attributes: {size: {int: 2}, model: {string: x}, v: {version: 1.2.3}, ok: {bool: true}}
              allowMultipleAllocations: true
              capacity:
                memory:
                  value: 10Gi
                  requestPolicy: {default: 1Gi, validRange: {min: 1Gi, step: 1Mi, max: 8Gi}}
                cores: {value: 8, requestPolicy: {default: 1, validValues: [1, 2, 4]}}
              consumesCounters: [{counterSet: s, counters: {memory: {value: 10Gi}}}]
              taints: [{key: k, value: v, effect: NoSchedule}]
          """);
  private static final ObjectNode POD =
      Templates.node(
          """
          spec:
            resourceClaims: [{name: c, resourceClaimTemplateName: t}]
            containers:
            - {name: a, resources: {claims: [{name: c}], limits: {example.com/gpu: 1}}}
          """);

  /** The claim that is made from a template. */
  private static ObjectNode claim(ObjectNode template) {
    ObjectNode claim = template.deepCopy();
    claim.set("spec", template.path("spec").path("spec"));
    return claim;
  }

  @Test
  void nothingThrows() {
    long seed = Long.getLong("sluice.fuzz.seed", 1);
    Mutations mutations = new Mutations(seed);
    DeviceSelectors selectors = new DeviceSelectors();
    List<DeviceClassMapping> mappings =
        List.of(
            new DeviceClassMapping("gpus", List.of("gpu"), List.of()),
            new DeviceClassMapping(
                "memory",
                List.of("part"),
                List.of(new DeviceSource(Kind.COUNTER, "memory", "d.com", "true"))),
            new DeviceClassMapping(
                "capacity",
                List.of("shared"),
                List.of(new DeviceSource(Kind.CAPACITY, "memory", "d.com", "true"))));
    for (int i = 0; i < OBJECTS / 4; i++) {
      ObjectNode template = mutations.of(TEMPLATE);
      ObjectNode deviceClass = mutations.of(CLASS);
      ObjectNode slice = mutations.of(SLICE);
      ObjectNode pod = mutations.of(POD);
      assertThatCode(
              () -> {
                GivenDevices devices =
                    new GivenDevices(selectors)
                        .template(template)
                        .withClass(deviceClass)
                        .withClass("{metadata: {name: shared}}")
                        .slice(slice);
                DeviceCounting counting =
                    new DeviceCounting(
                        devices, selectors, mappings, new DeviceCounting.Rules(true, true));
                counting.of(
                    "team", PodTemplateParser.of(pod), counting.extended(devices.classes()));
                counting.of(ClaimSpec.ofClaim(claim(template)));
              })
          .as("seed %d, number %d: %s %s %s %s", seed, i, template, deviceClass, slice, pod)
          .doesNotThrowAnyException();
    }
  }
}
