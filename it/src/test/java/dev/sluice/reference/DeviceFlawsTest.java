package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.reference.DevicesAgainstReferenceTest.Comparison;
import dev.sluice.reference.DevicesAgainstReferenceTest.Totals;
import dev.sluice.testing.BuildBreadth;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The comparison in random worlds finds each violation of a rule about devices: the operator plays
 * beside a reference that breaks one rule.
 */
@Tag(BuildBreadth.NIGHTLY)
class DeviceFlawsTest {

  /** How many worlds at most until a violation is found. */
  private static final int MOST = 1_000;

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void isFound(DeviceFlaw flaw) {
    long worlds = 1;
    while (worlds <= MOST && !differs(worlds, flaw)) {
      worlds++;
    }
    System.out.printf("planted: %s found in world %d%n", flaw, worlds);
    assertThat(worlds).isLessThanOrEqualTo(MOST);
  }

  private static boolean differs(long seed, DeviceFlaw flaw) {
    try {
      new Comparison(flaw, new Totals()).play(new RandomDevices(seed).steps(Worlds.LENGTH));
      return false;
    } catch (AssertionError | RuntimeException e) {
      return true;
    }
  }
}
