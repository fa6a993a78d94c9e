package dev.sluice.workload.devices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Resources.DeviceClassMapping;
import dev.sluice.workload.Templates;
import dev.sluice.workload.record.DeviceCharge;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Devices of claims as quota counts them (docs/devices.md#what-is-counted). */
class DeviceCountingTest {

  private static final String ONE = "{resourceClaims: [{name: c, resourceClaimTemplateName: t}]}";

  private static DeviceCharge charge(String podSpec, String... requests) {
    ClaimTemplate template =
        ClaimTemplate.of(
            Templates.node(
                "{metadata: {name: t, namespace: team}, spec: {spec: {devices: {requests: [%s]}}}}"
                    .formatted(String.join(", ", requests))));
    DeviceObjects objects = GivenDevices.templates(template);
    return new DeviceCounting(
            objects,
            List.of(
                new DeviceClassMapping("gpus", List.of("gpu", "large"), List.of()),
                new DeviceClassMapping("nics", List.of("nic"), List.of())))
        .of("team", Templates.podSpec(podSpec));
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

  @Test
  void missingTemplateIsAwaited() {
    DeviceCharge charge = charge("{resourceClaims: [{name: c, resourceClaimTemplateName: later}]}");
    assertThat(charge.defects()).isEmpty();
    assertThat(charge.unresolved())
        .containsExactly("resource claim c, ResourceClaimTemplate later: doesn't exist");
  }
}
