package dev.sluice.lab.controlplane;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Nodes of one kind, named {@code <name>-0} onward.
 *
 * @param name a DNS label
 * @param count number of nodes, 1 or more
 * @param capacity quantity of each resource per node; {@code pods} is the maximum number of pods
 * @param labels labels in addition to those of every node
 * @param taints taints; may be empty
 */
public record NodeGroup(
    String name,
    int count,
    Map<String, String> capacity,
    Map<String, String> labels,
    List<NodeTaint> taints) {

  private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?");
  private static final Map<String, String> PLENTY =
      Map.of("cpu", "1000", "memory", "4Ti", "ephemeral-storage", "100Ti", "pods", "10000");

  /** Checks name and count and copies the collections. */
  public NodeGroup {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "node group \"%s\": the name must be a DNS label of at most 52 characters"
              .formatted(name));
    }
    if (count < 1) {
      throw new IllegalArgumentException(
          "node group %s: count is %d, must be 1 or more".formatted(name, count));
    }
    capacity = Map.copyOf(capacity);
    labels = Map.copyOf(labels);
    taints = List.copyOf(taints);
  }

  /** Large nodes: 1000 CPUs, 4 Ti of memory and 10,000 pods each. */
  public static NodeGroup plentiful(String name, int count) {
    return new NodeGroup(name, count, PLENTY, Map.of(), List.of());
  }

  /** Copy with an additional label. */
  public NodeGroup withLabel(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(labels);
    more.put(key, value);
    return new NodeGroup(name, count, capacity, more, taints);
  }

  /** Copy with an additional taint. */
  public NodeGroup withTaint(NodeTaint taint) {
    List<NodeTaint> more = new ArrayList<>(taints);
    more.add(taint);
    return new NodeGroup(name, count, capacity, labels, more);
  }

  /** Copy with another amount of a resource, such as {@code nvidia.com/gpu}. */
  public NodeGroup withCapacity(String resource, String quantity) {
    Map<String, String> more = new LinkedHashMap<>(capacity);
    more.put(resource, quantity);
    return new NodeGroup(name, count, more, labels, taints);
  }

  /** Copy with another number of nodes. */
  public NodeGroup withCount(int other) {
    return new NodeGroup(name, other, capacity, labels, taints);
  }

  /**
   * Parses a text such as {@code spot:count=2,cpu=2000,label=type=spot,taint=spot=true:NoSchedule}:
   * a name, then {@code count=}, {@code label=<key>=<value>}, {@code taint=<key>=<value>:<effect>},
   * and {@code <resource>=<quantity>}, each any number of times.
   *
   * @throws IllegalArgumentException with the invalid part and what is allowed
   */
  public static NodeGroup parse(String text) {
    int colon = text.indexOf(':');
    NodeGroup group = plentiful(colon < 0 ? text : text.substring(0, colon), 1);
    if (colon < 0) {
      return group;
    }
    for (String part : text.substring(colon + 1).split(",", -1)) {
      group = group.with(part);
    }
    return group;
  }

  private NodeGroup with(String part) {
    int equals = part.indexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException(
          ("node group %s: \"%s\" is none of count=<number>, label=<key>=<value>,"
                  + " taint=<key>=<value>:<effect>, <resource>=<quantity>")
              .formatted(name, part));
    }
    String key = part.substring(0, equals);
    String value = part.substring(equals + 1);
    return switch (key) {
      case "count" -> withCount(number(value));
      case "label" -> withLabel(value);
      case "taint" -> withTaint(NodeTaint.parse(value));
      default -> withCapacity(key, value);
    };
  }

  private NodeGroup withLabel(String text) {
    int equals = text.indexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException(
          "node group %s: label \"%s\" is not of the form key=value".formatted(name, text));
    }
    return withLabel(text.substring(0, equals), text.substring(equals + 1));
  }

  private int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "node group %s: count \"%s\" is not a number".formatted(name, text), e);
    }
  }

  /**
   * A taint of a node.
   *
   * @param key such as {@code spot}
   * @param value may be empty
   * @param effect {@code NoSchedule}, {@code PreferNoSchedule} or {@code NoExecute}
   */
  public record NodeTaint(String key, String value, String effect) {

    private static final List<String> EFFECTS =
        List.of("NoSchedule", "PreferNoSchedule", "NoExecute");

    /** Checks the effect. */
    public NodeTaint {
      if (key.isEmpty()) {
        throw new IllegalArgumentException("taint: the key is empty");
      }
      if (!EFFECTS.contains(effect)) {
        throw new IllegalArgumentException(
            "taint %s: effect \"%s\" is none of %s".formatted(key, effect, EFFECTS));
      }
    }

    /** Parses {@code key=value:effect} or {@code key:effect}. */
    static NodeTaint parse(String text) {
      int colon = text.lastIndexOf(':');
      if (colon < 0) {
        throw new IllegalArgumentException(
            "taint \"%s\" is not of the form key[=value]:effect".formatted(text));
      }
      String left = text.substring(0, colon);
      int equals = left.indexOf('=');
      return new NodeTaint(
          equals < 0 ? left : left.substring(0, equals),
          equals < 0 ? "" : left.substring(equals + 1),
          text.substring(colon + 1));
    }
  }
}
