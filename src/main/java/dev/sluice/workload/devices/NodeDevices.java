package dev.sluice.workload.devices;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Whether one node has all devices that a pod requests, as if nobody used any
 * (docs/devices.md#devices-of-one-node). Devices that belong to no single node are within reach of
 * each. A device goes to one request, unless it can be shared: then no more is asked than that it
 * has enough for each request by itself. So no pod is refused that some node could run.
 */
final class NodeDevices {

  /**
   * The devices of a request, or of one of its alternatives.
   *
   * @param count how many it needs
   * @param times how often it may take each device that it may get
   */
  record Need(long count, Map<Device, Long> times) {}

  private final SelectorWork work;

  /** Takes the steps that are left. */
  NodeDevices(SelectorWork work) {
    this.work = work;
  }

  /**
   * Whether some node has all of it; if no steps are left after that, it isn't known.
   *
   * @param requests the alternatives of each request, one for a request without alternatives
   */
  boolean suffice(List<List<Need>> requests) {
    Set<String> nodes = new TreeSet<>();
    nodes.add("");
    requests.forEach(
        alternatives ->
            alternatives.forEach(
                need -> {
                  work.spend(need.times.size());
                  need.times.keySet().forEach(device -> nodes.add(device.node()));
                }));
    for (String node : nodes) {
      List<List<OnNode>> there =
          requests.stream()
              .map(
                  alternatives ->
                      alternatives.stream()
                          .map(need -> onNode(need, node))
                          .filter(OnNode::isEnough)
                          .toList())
              .toList();
      if (there.stream().noneMatch(List::isEmpty) && anyChoiceFits(there, List.of())) {
        return true;
      }
      if (work.isDone()) {
        return false;
      }
    }
    return false;
  }

  /** What a request needs beyond devices that can be shared, and who may be taken for it. */
  private record OnNode(long count, List<Device> devices) {

    boolean isEnough() {
      return devices.size() >= count;
    }
  }

  private OnNode onNode(Need need, String node) {
    long left = need.count;
    List<Device> own = new ArrayList<>();
    for (Map.Entry<Device, Long> each : need.times.entrySet()) {
      Device device = each.getKey();
      if (device.node().isEmpty() || device.node().equals(node)) {
        if (device.isShared()) {
          left -= Math.min(left, each.getValue());
        } else {
          own.add(device);
        }
      }
    }
    return new OnNode(left, own);
  }

  private boolean anyChoiceFits(List<List<OnNode>> requests, List<OnNode> chosen) {
    if (chosen.size() == requests.size()) {
      return fit(chosen);
    }
    for (OnNode alternative : requests.get(chosen.size())) {
      List<OnNode> more = new ArrayList<>(chosen);
      more.add(alternative);
      if (anyChoiceFits(requests, more)) {
        return true;
      }
      if (work.isDone()) {
        return false;
      }
    }
    return false;
  }

  /** Whether each request gets as many devices of its own: a matching by augmenting paths. */
  private boolean fit(List<OnNode> needs) {
    Map<Device, Integer> takenBy = new IdentityHashMap<>();
    for (int request = 0; request < needs.size(); request++) {
      for (long unit = 0; unit < needs.get(request).count; unit++) {
        Set<Device> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        if (!finds(request, needs, takenBy, seen)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Takes a device for a request, for which other requests may have to take other devices. */
  private boolean finds(
      int request, List<OnNode> needs, Map<Device, Integer> takenBy, Set<Device> seen) {
    for (Device device : needs.get(request).devices) {
      work.spend(1);
      if (work.isDone()) {
        return false;
      }
      if (seen.add(device)) {
        Integer other = takenBy.get(device);
        if (other == null || (other != request && finds(other, needs, takenBy, seen))) {
          takenBy.put(device, request);
          return true;
        }
      }
    }
    return false;
  }
}
