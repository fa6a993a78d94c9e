package dev.sluice.lab.controlplane;

import java.util.List;

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
