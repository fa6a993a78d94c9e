package dev.sluice.workload.devices;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A version by semver.org 2.0.0; versions that differ only in build metadata are equal.
 *
 * @param numbers major, minor and patch
 * @param preRelease the identifiers of a version before the release; empty for a release
 */
record DeviceVersion(List<BigInteger> numbers, List<String> preRelease)
    implements Comparable<DeviceVersion> {

  private static final int LONGEST = 256;
  private static final Pattern FORM =
      Pattern.compile(
          "(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-([0-9A-Za-z.-]+))?(?:\\+[0-9A-Za-z.-]+)?");
  private static final Pattern NUMBER = Pattern.compile("\\d+");

  /**
   * Parses a version.
   *
   * @throws IllegalArgumentException when the text is none
   */
  static DeviceVersion of(String text) {
    Matcher parts = FORM.matcher(text);
    if (text.length() > LONGEST || !parts.matches()) {
      throw new IllegalArgumentException("not a version such as 1.2.3");
    }
    String before = parts.group(4);
    return new DeviceVersion(
        List.of(
            new BigInteger(parts.group(1)),
            new BigInteger(parts.group(2)),
            new BigInteger(parts.group(3))),
        before == null ? List.of() : Arrays.asList(before.split("\\.", -1)));
  }

  @Override
  public int compareTo(DeviceVersion other) {
    for (int i = 0; i < numbers.size(); i++) {
      int order = numbers.get(i).compareTo(other.numbers.get(i));
      if (order != 0) {
        return order;
      }
    }
    if (preRelease.isEmpty() || other.preRelease.isEmpty()) {
      return Boolean.compare(preRelease.isEmpty(), other.preRelease.isEmpty());
    }
    for (int i = 0; i < Math.min(preRelease.size(), other.preRelease.size()); i++) {
      int order = compare(preRelease.get(i), other.preRelease.get(i));
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(preRelease.size(), other.preRelease.size());
  }

  private static int compare(String a, String b) {
    boolean number = NUMBER.matcher(a).matches();
    boolean otherNumber = NUMBER.matcher(b).matches();
    if (number && otherNumber) {
      return new BigInteger(a).compareTo(new BigInteger(b));
    }
    return number == otherNumber ? a.compareTo(b) : number ? -1 : 1;
  }
}
