package dev.sluice.reference;

import dev.sluice.reference.ReferenceDeviceCluster.Known;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Whether some node has all devices that a pod requests (docs/devices.md#devices-of-one-node):
 * tries every node with every choice of alternatives, and looks for a set of requests that have too
 * few devices together. If there is none, each request can have devices of its own.
 */
final class ReferenceDeviceNodes {

  /** A device that a request may get, and how often. */
  record Offer(Known known, BigInteger times) {

    private String device() {
      return known.driver() + "/" + known.pool() + "/" + known.name();
    }
  }

  /** What a request, or one of its alternatives, asks for. */
  record Need(BigInteger count, List<Offer> offers) {}

  private final DeviceFlaw flaw;

  ReferenceDeviceNodes(DeviceFlaw flaw) {
    this.flaw = flaw;
  }

  /**
   * Whether some node has all of it.
   *
   * @param requests the alternatives of each request
   */
  boolean suffice(List<List<Need>> requests) {
    Set<String> nodes = new HashSet<>(Set.of("some other node"));
    for (List<Need> alternatives : requests) {
      for (Need need : alternatives) {
        need.offers.forEach(offer -> nodes.add(offer.known.node()));
      }
    }
    return nodes.stream().anyMatch(node -> anyChoice(requests, List.of(), node));
  }

  private boolean anyChoice(List<List<Need>> requests, List<Need> chosen, String node) {
    if (chosen.size() == requests.size()) {
      return suffices(chosen, node);
    }
    for (Need need : requests.get(chosen.size())) {
      List<Need> more = new ArrayList<>(chosen);
      more.add(need);
      if (anyChoice(requests, more, node)) {
        return true;
      }
    }
    return false;
  }

  private boolean suffices(List<Need> needs, String node) {
    List<BigInteger> missing = new ArrayList<>();
    List<Set<String>> own = new ArrayList<>();
    for (Need need : needs) {
      BigInteger left = need.count;
      Set<String> there = new HashSet<>();
      for (Offer offer : need.offers) {
        if (isThere(offer.known.node(), node)) {
          if (offer.known.isShared()) {
            left = left.subtract(offer.times);
          } else {
            there.add(offer.device());
          }
        }
      }
      missing.add(left.max(BigInteger.ZERO));
      own.add(there);
    }
    for (int some = 0; some < 1 << needs.size(); some++) {
      if (flaw == DeviceFlaw.REQUESTS_SHARE_DEVICES && Integer.bitCount(some) > 1) {
        continue;
      }
      BigInteger together = BigInteger.ZERO;
      Set<String> devices = new HashSet<>();
      for (int i = 0; i < needs.size(); i++) {
        if ((some & 1 << i) != 0 && missing.get(i).signum() > 0) {
          together = together.add(missing.get(i));
          devices.addAll(own.get(i));
        }
      }
      if (together.compareTo(BigInteger.valueOf(devices.size())) > 0) {
        return false;
      }
    }
    return true;
  }

  private boolean isThere(String ofDevice, String node) {
    return flaw == DeviceFlaw.SEVERAL_NODES
        || ofDevice.equals(node)
        || (ofDevice.isEmpty() && flaw != DeviceFlaw.NETWORK_DEVICES_ARE_NOWHERE);
  }
}
