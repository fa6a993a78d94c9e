package dev.sluice.workload.devices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.sluice.workload.Templates;
import dev.sluice.workload.devices.Device.DeviceVersion;
import dev.sluice.workload.devices.DeviceSelectors.SelectorWork;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Selectors of devices and what they say of one device (docs/devices.md#selectors). */
class DeviceSelectorsTest {

  private static final DeviceSelectors SELECTORS = new DeviceSelectors();

  private static final Device DEVICE =
      Device.of(
          "gpu.example.com",
          "",
          Templates.node(
              """
              name: gpu-0
              allowMultipleAllocations: true
              attributes:
                model: {string: a100}
                uuid: {string: "GPU-7f3a"}
                index: {int: 3}
                numa: {int: -1}
                ecc: {bool: true}
                mig: {bool: false}
                driverVersion: {version: 535.104.5}
                preview: {version: 1.0.0-rc.2}
                other.example.com/rack: {string: r1}
                broken: {version: not-a-version}
                empty: {}
              capacity:
                memory: {value: 80Gi}
                cores: {value: "108"}
                other.example.com/bandwidth: {value: 600G}
                half: {value: 500m}
                bad: {value: lots}
              """));

  private static boolean matches(String expression) {
    return SELECTORS.matches(expression, DEVICE, new SelectorWork(SelectorWork.MOST));
  }

  /** What a selector says of the device: no means that it doesn't match, or that it fails. */
  private record Row(String expected, String expression) {}

  private static final List<Row> TABLE =
      Stream.of(
              // the driver
              "yes | device.driver == 'gpu.example.com'",
              "no | device.driver == 'other.example.com'",
              "yes | device.driver != 'other.example.com'",
              "yes | device.driver.startsWith('gpu.')",
              "yes | device.driver.endsWith('.com')",
              "yes | device.driver.contains('example')",
              "yes | device.driver.matches('^gpu[.]ex.*')",
              "no | device.driver.matches('^ex')",
              "yes | size(device.driver) == 15",
              "yes | device.driver in ['a', 'gpu.example.com']",
              "no | device.driver in ['a', 'b']",
              // attributes
              "yes | device.attributes['gpu.example.com'].model == 'a100'",
              "yes | device.attributes['gpu.example.com']['model'] == 'a100'",
              "no | device.attributes['gpu.example.com'].model == 'h100'",
              "yes | device.attributes['gpu.example.com'].model in ['a100', 'h100']",
              "yes | device.attributes['gpu.example.com'].model.matches('a[0-9]+')",
              "yes | device.attributes['gpu.example.com'].index == 3",
              "yes | device.attributes['gpu.example.com'].index > 2",
              "no | device.attributes['gpu.example.com'].index > 3",
              "yes | device.attributes['gpu.example.com'].index >= 2.5",
              "yes | device.attributes['gpu.example.com'].numa < 0",
              "yes | device.attributes['gpu.example.com'].index % 2 == 1",
              "yes | device.attributes['gpu.example.com'].ecc",
              "no | !device.attributes['gpu.example.com'].ecc",
              "no | device.attributes['gpu.example.com'].mig",
              "yes | !device.attributes['gpu.example.com'].mig",
              "yes | device.attributes['other.example.com'].rack == 'r1'",
              "no | device.attributes['gpu.example.com'].rack == 'r1'",
              "no | device.attributes['unknown.example.com'].rack == 'r1'",
              "yes | !('rack' in device.attributes['unknown.example.com'])",
              "yes | !has(device.attributes['unknown.example.com'].rack)",
              "yes | 'other.example.com' in device.attributes",
              "yes | has(device.attributes['gpu.example.com'].model)",
              "no | has(device.attributes['gpu.example.com'].broken)",
              "no | has(device.attributes['gpu.example.com'].empty)",
              "no | device.attributes['gpu.example.com'].missing == 1",
              "yes | device.attributes['gpu.example.com'].missing == 1 || true",
              "no | device.attributes['gpu.example.com'].missing == 1 && true",
              "no | device.attributes['gpu.example.com'].model == 3",
              "no | device.attributes['gpu.example.com'].model",
              "yes | device.attributes['gpu.example.com'].exists(k, k == 'model')",
              "yes | device.attributes.all(d, d.endsWith('.example.com'))",
              "yes | device.allowMultipleAllocations",
              // versions
              "yes |"
                  + " device.attributes['gpu.example.com'].driverVersion.isGreaterThan(semver('535.103.99'))",
              "no | device.attributes['gpu.example.com'].driverVersion.isLessThan(semver('535.104.5'))",
              "yes |"
                  + " device.attributes['gpu.example.com'].driverVersion.compareTo(semver('535.104.5'))"
                  + " == 0",
              "yes | device.attributes['gpu.example.com'].driverVersion == semver('535.104.5')",
              "yes | device.attributes['gpu.example.com'].driverVersion.major() == 535",
              "yes | device.attributes['gpu.example.com'].preview.isLessThan(semver('1.0.0'))",
              "yes |"
                  + " device.attributes['gpu.example.com'].preview.isGreaterThan(semver('1.0.0-rc.1'))",
              "no | isSemver('1.2')",
              "no | semver('1.2').major() == 1",
              // capacities
              "yes | device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))",
              "no | device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('80Gi'))",
              "yes | device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) >= 0",
              "yes | device.capacity['gpu.example.com'].memory == quantity('81920Mi')",
              "yes | device.capacity['gpu.example.com'].cores.asInteger() == 108",
              "no | device.capacity['gpu.example.com'].half.asInteger() == 0",
              "yes | device.capacity['gpu.example.com'].half.isLessThan(quantity('1'))",
              "yes | device.capacity['other.example.com'].bandwidth.isLessThan(quantity('1T'))",
              "no | has(device.capacity['gpu.example.com'].bad)",
              "no | isQuantity('lots')",
              // what can't be compiled
              "error | device.model == 'a100'",
              "error | device.attributes['gpu.example.com'].model ==",
              "error | device.driver",
              "error | 1",
              "error | unknown == 1",
              "error | device.driver == 1",
              "error | device.driver.isGreaterThan(quantity('1'))",
              "error | ",
              "error | $(reboot)")
          .map(row -> row.split(" \\| ", 2))
          .map(sides -> new Row(sides[0], sides[1]))
          .toList();

  @TestFactory
  Stream<DynamicTest> everySelectorSaysWhatTheTableSays() {
    assertThat(TABLE).hasSizeGreaterThanOrEqualTo(60);
    return TABLE.stream()
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.expected() + ": " + row.expression(),
                    () -> {
                      assertThat(SELECTORS.problem(row.expression()).isPresent())
                          .as("can't be compiled")
                          .isEqualTo(row.expected().equals("error"));
                      assertThat(matches(row.expression())).isEqualTo(row.expected().equals("yes"));
                    }));
  }

  /** Each of them would take hours or gigabytes if nothing bounded it. */
  @TestFactory
  Stream<DynamicTest> hostileSelectorsMatchNothingAndEnd() {
    String ten = "[1,2,3,4,5,6,7,8,9,10]";
    return Stream.of(
            "(".repeat(5000) + "true" + ")".repeat(5000),
            "!".repeat(9_999) + "true",
            "true" + " && true".repeat(5000),
            "[".repeat(3000) + "]".repeat(3000) + " == []",
            "'" + "x".repeat(20_000) + "' != ''",
            loops(ten, 9),
            "['x']" + ".map(a, a + a)".repeat(60) + ".size() == 1",
            "[['x', 'y']]" + ".map(a, a + a)".repeat(60) + ".size() == 1",
            "['x']" + ".map(a, [a, a])".repeat(60) + " == ['y']" + ".map(a, [a, a])".repeat(60),
            unfolding("{'l': a, 'r': a}", 60, " == "),
            unfolding("{'l': a, 'r': a}", 60, " in [") + "]",
            unfolding("[{'l': a, 'r': a}]", 40, " == "),
            unfolding("{'l': [a, a]}", 40, " == "),
            "{" + unfolding("{'l': a, 'r': a}", 40, "[0]: 1} == {") + "[0]: 1}",
            "[b'xxxxxxxx']" + ".map(a, a + a)".repeat(60) + ".size() == 1",
            "'" + "a".repeat(4000) + "'.matches('(a*)*(a*)*(a*)*b')",
            "''.matches('(" + "x".repeat(980) + "){0,1000}')",
            "[1, 2, 3].all(i, '" + "a".repeat(2000) + "'.matches('" + "b?".repeat(250) + "'))",
            "'a'.matches('((((a{0,99}){0,99}){0,99}){0,99}){0,99}')")
        .map(
            expression ->
                DynamicTest.dynamicTest(
                    expression.substring(0, Math.min(40, expression.length())),
                    // one that isn't bounded would never give the thread back
                    () ->
                        assertThat(
                                assertTimeoutPreemptively(
                                    Duration.ofMinutes(1), () -> matches(expression)))
                            .isFalse()));
  }

  /** Two values that each step makes twice as large, and what compares them. */
  private static String unfolding(String step, int steps, String comparison) {
    String value = "[{'l': 1, 'r': 1}]" + ".map(a, %s)".formatted(step).repeat(steps);
    return value + comparison + value;
  }

  private static String loops(String list, int depth) {
    StringBuilder expression = new StringBuilder();
    for (int i = 0; i < depth; i++) {
      expression.append(list).append(".all(v").append(i).append(", ");
    }
    return expression.append("true").append(")".repeat(depth)).toString();
  }

  @ParameterizedTest
  @CsvSource({
    "1.0.0-alpha, 1.0.0-alpha.1, -1",
    "1.0.0-alpha.1, 1.0.0-alpha.beta, -1",
    "1.0.0-beta.2, 1.0.0-beta.11, -1",
    "1.0.0-rc.1, 1.0.0, -1",
    "1.0.0+a, 1.0.0+b, 0",
    "2.0.0, 10.0.0, -1",
  })
  void versionsAreOrderedAsSemverOrdersThem(String a, String b, int order) {
    assertThat(Integer.signum(DeviceVersion.of(a).compareTo(DeviceVersion.of(b)))).isEqualTo(order);
    assertThat(Integer.signum(DeviceVersion.of(b).compareTo(DeviceVersion.of(a))))
        .isEqualTo(-order);
  }
}
