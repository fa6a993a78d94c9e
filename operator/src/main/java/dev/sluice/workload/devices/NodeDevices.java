package dev.sluice.workload.devices;

import dev.sluice.workload.devices.DeviceSelectors.SelectorWork;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
   * Whether some node has all of it; if no steps are left after that, it isn't known. Each device
   * is looked at once, and those that all nodes reach once more for each node with others.
   *
   * @param requests the alternatives of each request, one for a request without alternatives
   */
  boolean suffice(List<List<Need>> requests) {
    List<List<Spread>> spread =
        requests.stream()
            .map(alternatives -> alternatives.stream().map(this::spread).toList())
            .toList();
    Set<String> nodes = new TreeSet<>();
    nodes.add("");
    spread.forEach(
        alternatives -> alternatives.forEach(each -> nodes.addAll(each.byNode.keySet())));
    for (String node : nodes) {
      List<List<OnNode>> there =
          spread.stream()
              .map(
                  alternatives ->
                      alternatives.stream()
                          .map(each -> onNode(each, node))
                          .filter(OnNode::isEnough)
                          .toList())
              .toList();
      if (there.stream().noneMatch(List::isEmpty) && anyChoiceFits(there)) {
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

  /**
   * The devices of a request by their nodes.
   *
   * @param need all of them
   * @param onEveryNode what is needed where only those are that all nodes reach
   * @param byNode those of a node alone
   */
  private record Spread(Need need, OnNode onEveryNode, Map<String, List<Device>> byNode) {}

  private Spread spread(Need need) {
    work.spend(need.times.size());
    Map<String, List<Device>> byNode = new HashMap<>();
    need.times
        .keySet()
        .forEach(
            device -> byNode.computeIfAbsent(device.node(), any -> new ArrayList<>()).add(device));
    List<Device> everywhere = byNode.getOrDefault("", List.of());
    return new Spread(need, beside(need, new OnNode(need.count, List.of()), everywhere), byNode);
  }

  private OnNode onNode(Spread spread, String node) {
    List<Device> more = node.isEmpty() ? null : spread.byNode.get(node);
    work.spend(1);
    if (more == null) {
      return spread.onEveryNode;
    }
    work.spend(spread.onEveryNode.devices.size() + more.size());
    return beside(spread.need, spread.onEveryNode, more);
  }

  private static OnNode beside(Need need, OnNode known, List<Device> more) {
    long left = known.count;
    List<Device> own = new ArrayList<>(known.devices);
    for (Device device : more) {
      if (device.isShared()) {
        left -= Math.min(left, need.times.getOrDefault(device, 0L));
      } else {
        own.add(device);
      }
    }
    return new OnNode(left, own);
  }

  /** Tries one choice of alternatives after the other: there may be many requests, so in a loop. */
  private boolean anyChoiceFits(List<List<OnNode>> requests) {
    int[] chosen = new int[requests.size()];
    while (!work.isDone()) {
      List<OnNode> needs = new ArrayList<>(chosen.length);
      for (int i = 0; i < chosen.length; i++) {
        needs.add(requests.get(i).get(chosen[i]));
      }
      work.spend(chosen.length);
      if (fit(needs)) {
        return true;
      }
      int last = chosen.length - 1;
      while (last >= 0 && chosen[last] == requests.get(last).size() - 1) {
        chosen[last] = 0;
        last--;
      }
      if (last < 0) {
        return false;
      }
      chosen[last]++;
    }
    return false;
  }

  /** Whether each request gets as many devices of its own: a matching by augmenting paths. */
  private boolean fit(List<OnNode> needs) {
    Map<Device, Integer> takenBy = new IdentityHashMap<>();
    for (int request = 0; request < needs.size(); request++) {
      for (long unit = 0; unit < needs.get(request).count; unit++) {
        if (!finds(request, needs, takenBy)) {
          return false;
        }
      }
    }
    return true;
  }

  /**
   * A step from a request to one that has a device which it could take.
   *
   * @param taker the request that could take it
   * @param device the device
   */
  private record Handover(int taker, Device device) {}

  /** Takes a device for a request, for which other requests may have to take other devices. */
  private boolean finds(int request, List<OnNode> needs, Map<Device, Integer> takenBy) {
    Map<Integer, Handover> reached = new HashMap<>();
    Deque<Integer> open = new ArrayDeque<>(List.of(request));
    while (!open.isEmpty()) {
      int taker = open.remove();
      for (Device device : needs.get(taker).devices) {
        work.spend(1);
        if (work.isDone()) {
          return false;
        }
        Integer owner = takenBy.get(device);
        if (owner == null) {
          handOver(new Handover(taker, device), request, reached, takenBy);
          return true;
        }
        if (owner != request && !reached.containsKey(owner)) {
          reached.put(owner, new Handover(taker, device));
          open.add(owner);
        }
      }
    }
    return false;
  }

  /** The last request on the way takes a free device, and gives its own to the one before it. */
  private static void handOver(
      Handover last, int request, Map<Integer, Handover> reached, Map<Device, Integer> takenBy) {
    Handover handover = last;
    takenBy.put(handover.device, handover.taker);
    while (handover.taker != request) {
      handover = Objects.requireNonNull(reached.get(handover.taker));
      takenBy.put(handover.device, handover.taker);
    }
  }
}
