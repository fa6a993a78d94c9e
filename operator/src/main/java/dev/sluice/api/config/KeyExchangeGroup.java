package dev.sluice.api.config;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A group of the TLS key exchange, by its number in the TLS registry. The numbers that the API's
 * configuration files use are known; Java has only some of the groups.
 */
public enum KeyExchangeGroup {
  SECP256R1(23, "secp256r1", true),
  SECP384R1(24, "secp384r1", true),
  SECP521R1(25, "secp521r1", true),
  X25519(29, "x25519", true),
  X448(30, "x448", true),
  SECP256R1_MLKEM768(4587, "SecP256r1MLKEM768", false),
  X25519_MLKEM768(4588, "X25519MLKEM768", false),
  SECP384R1_MLKEM1024(4589, "SecP384r1MLKEM1024", false);

  private final int number;
  private final String text;
  private final boolean offered;

  KeyExchangeGroup(int number, String text, boolean offered) {
    this.number = number;
    this.text = text;
    this.offered = offered;
  }

  /** The name of the group in the TLS registry and in Java. */
  public String text() {
    return text;
  }

  /** Whether Java has the group. */
  public boolean isOffered() {
    return offered;
  }

  /** The group with this number. */
  public static Optional<KeyExchangeGroup> numbered(int number) {
    return Arrays.stream(values()).filter(group -> group.number == number).findFirst();
  }

  /** The groups that Java has, with their numbers, for messages. */
  public static String allowed() {
    return Arrays.stream(values())
        .filter(KeyExchangeGroup::isOffered)
        .map(group -> group.number + " (" + group.text + ")")
        .collect(Collectors.joining(", "));
  }

  /** Notes every number that is no group of Java's. */
  static void check(String path, List<Integer> numbers, ValidationErrors errors) {
    for (int number : numbers) {
      Optional<KeyExchangeGroup> group = numbered(number);
      if (group.isEmpty()) {
        errors.value(path, number, allowed());
      } else if (!group.get().offered) {
        errors.add(
            path,
            number + " (" + group.get().text + ") is not offered by Java; allowed: " + allowed());
      }
    }
  }
}
