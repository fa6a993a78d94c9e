package dev.sluice.workload.devices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.workload.Templates;
import dev.sluice.workload.devices.DeviceSelectors.SelectorWork;
import dev.sluice.workload.devices.NodeDevices.Need;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What docs/devices.md#devices-of-one-node says, and the same found by trying everything. */
class NodeDevicesTest {

  private static Device device(String name, String node, boolean shared) {
    return Device.of(
        "gpu.example.com",
        node,
        Templates.node("{name: %s, allowMultipleAllocations: %s}".formatted(name, shared)));
  }

  private static Need need(long count, List<Device> devices) {
    Map<Device, Long> times = new IdentityHashMap<>();
    devices.forEach(device -> times.put(device, device.isShared() ? 2L : 1L));
    return new Need(count, times);
  }

  private static boolean suffice(List<List<Need>> requests) {
    return new NodeDevices(new SelectorWork(SelectorWork.MOST)).suffice(requests);
  }

  @Test
  void devicesOfTwoNodesAreNotTakenTogether() {
    List<Device> devices =
        List.of(device("a", "n1", false), device("b", "n1", false), device("c", "n2", false));
    assertThat(suffice(List.of(List.of(need(2, devices))))).isTrue();
    assertThat(suffice(List.of(List.of(need(3, devices))))).isFalse();
  }

  @Test
  void aDeviceThatManyNodesReachIsOnEach() {
    List<Device> devices = List.of(device("a", "n1", false), device("b", "", false));
    assertThat(suffice(List.of(List.of(need(2, devices))))).isTrue();
    assertThat(suffice(List.of(List.of(need(1, List.of(devices.getLast())))))).isTrue();
  }

  @Test
  void aRequestMakesRoomForAnother() {
    Device any = device("a", "n1", false);
    Device special = device("b", "n1", false);
    assertThat(
            suffice(
                List.of(
                    List.of(need(1, List.of(special, any))), List.of(need(1, List.of(special))))))
        .isTrue();
    assertThat(
            suffice(
                List.of(List.of(need(1, List.of(special))), List.of(need(1, List.of(special))))))
        .isFalse();
  }

  @Test
  void tooMuchWorkIsNotTakenForEnough() {
    List<Device> devices = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      devices.add(device("d" + i, "n", false));
    }
    SelectorWork work = new SelectorWork(60);
    assertThat(
            new NodeDevices(work)
                .suffice(List.of(List.of(need(25, devices)), List.of(need(25, devices)))))
        .isFalse();
    assertThat(work.isDone()).isTrue();
  }

  /** Each request gives its device to the one before it: as many steps as there are requests. */
  @Test
  void aLongRowOfRequestsMakesRoom() {
    List<Device> devices = new ArrayList<>();
    for (int i = 0; i <= 1_000; i++) {
      devices.add(device("d" + i, "n", false));
    }
    List<List<Need>> requests = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      requests.add(List.of(need(1, devices.subList(i, i + 2))));
    }
    requests.add(List.of(need(1, devices.subList(0, 1))));
    assertThat(suffice(requests)).isTrue();
    requests.add(List.of(need(1, devices.subList(0, 1))));
    assertThat(suffice(requests)).isFalse();
  }

  /** A pod may name one template in thousands of claims. */
  @Test
  void manyRequestsAreNoDepth() {
    Need shared = need(1, List.of(device("a", "n", true)));
    assertThat(suffice(Collections.nCopies(100_000, List.of(shared, shared)))).isTrue();
  }

  /** Tenants say how many requests there are; the cluster has thousands of devices. */
  @Test
  void theDevicesOfARequestAreGoneThroughOnceWhateverTheNodes() {
    List<Device> devices = new ArrayList<>();
    for (int node = 0; node < 1_000; node++) {
      devices.add(device("a", "n" + node, false));
      devices.add(device("b", "n" + node, false));
    }
    AtomicInteger passes = new AtomicInteger();
    Map<Device, Long> times =
        new IdentityHashMap<>(need(3, devices).times()) {
          private static final long serialVersionUID = 1L;

          @Override
          public Set<Device> keySet() {
            passes.incrementAndGet();
            return super.keySet();
          }

          @Override
          public Set<Map.Entry<Device, Long>> entrySet() {
            passes.incrementAndGet();
            return super.entrySet();
          }
        };
    assertThat(suffice(List.of(List.of(new Need(3, times))))).isFalse();
    assertThat(passes).hasValueLessThan(5);
  }

  @Test
  void aMatchingIsFoundWhereverThereIsOne() {
    long steps = Long.getLong("sluice.property.steps", 3_000);
    Random random = new Random(Long.getLong("sluice.property.seed", 1));
    int sufficed = 0;
    for (long step = 0; step < steps; step++) {
      List<Device> devices = new ArrayList<>();
      for (int i = 0; i <= random.nextInt(7); i++) {
        devices.add(
            device(
                "d" + i, List.of("n1", "n2", "").get(random.nextInt(3)), random.nextInt(5) == 0));
      }
      List<List<Need>> requests = new ArrayList<>();
      for (int i = 0; i <= random.nextInt(3); i++) {
        List<Need> alternatives = new ArrayList<>();
        for (int j = 0; j <= random.nextInt(2); j++) {
          alternatives.add(
              need(
                  1 + random.nextInt(3),
                  devices.stream().filter(device -> random.nextInt(3) > 0).toList()));
        }
        requests.add(alternatives);
      }
      boolean expected =
          new TreeSet<>(Set.of("n1", "n2", "n3"))
              .stream().anyMatch(node -> anyWay(requests, 0, List.of(), node));
      assertThat(suffice(requests)).as("step %d: %s", step, requests).isEqualTo(expected);
      sufficed += expected ? 1 : 0;
    }
    assertThat(sufficed).isBetween(1, (int) steps - 1);
  }

  /** Tries each alternative of a request, with each set of devices, beside those that are taken. */
  private static boolean anyWay(
      List<List<Need>> requests, int request, List<Device> taken, String node) {
    if (request == requests.size()) {
      return true;
    }
    for (Need need : requests.get(request)) {
      List<Device> there =
          need.times().keySet().stream()
              .filter(device -> device.node().isEmpty() || device.node().equals(node))
              .toList();
      long shared = 2 * there.stream().filter(Device::isShared).count();
      if (anySet(requests, request, taken, node, Math.max(0, need.count() - shared), there)) {
        return true;
      }
    }
    return false;
  }

  private static boolean anySet(
      List<List<Need>> requests,
      int request,
      List<Device> taken,
      String node,
      long left,
      List<Device> there) {
    if (left == 0) {
      return anyWay(requests, request + 1, taken, node);
    }
    for (Device device : there) {
      if (!device.isShared() && taken.stream().noneMatch(other -> other == device)) {
        List<Device> more = new ArrayList<>(taken);
        more.add(device);
        if (anySet(requests, request, more, node, left - 1, there)) {
          return true;
        }
      }
    }
    return false;
  }
}
