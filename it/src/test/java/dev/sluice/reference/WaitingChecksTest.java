package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.core.model.ClusterQueueSpec.PreemptionPolicies;
import dev.sluice.reference.Decided.Admission;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Do the checks of those who wait fail when they should? */
class WaitingChecksTest extends SmallWorld {

  private final WaitingChecks checks = new WaitingChecks(engine.questions());

  @BeforeEach
  void aQueueWithTwo() {
    queue("a", "", PreemptionPolicies.NEVER, flavor("f", 2));
  }

  @Test
  void oneWhoIsLeftAlthoughItFitsIsFound() {
    submit("left", "a", 2, 0);
    assertThatThrownBy(checks::checkQuiescence)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("left although it fits");
  }

  @Test
  void oneWhoDoesNotFitMayWait() {
    submit("large", "a", 3, 0);
    assertThatCode(checks::checkQuiescence).doesNotThrowAnyException();
  }

  @Test
  void oneMayWaitWhileSomebodyIsOnItsWayOut() {
    running("leaving", "a", 1, 0, true);
    submit("next", "a", 1, 0);
    assertThatCode(checks::checkQuiescence).doesNotThrowAnyException();
  }

  @Test
  void oneWhoPassesAnElderEqualIsFound() {
    submit("elder", "a", 1, 0);
    submit("younger", "a", 1, 0);
    assertThatThrownBy(() -> checks.check(List.of(admitted("younger"))))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("passed others");
    assertThatCode(() -> checks.check(List.of(admitted("elder")))).doesNotThrowAnyException();
  }

  @Test
  void oneWhoAsksForSomethingElseMayPass() {
    submit("large", "a", 3, 1);
    submit("small", "a", 1, 0);
    assertThatCode(() -> checks.check(List.of(admitted("small")))).doesNotThrowAnyException();
  }

  @Test
  void oneWhoPassesTheHeadOfAStrictQueueIsFound() {
    strictQueue("s", flavor("f", 2));
    submit("head", "s", 3, 0);
    submit("small", "s", 1, 0);
    assertThatThrownBy(() -> checks.check(List.of(new Admission(id("small"), 0, "s", List.of()))))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("passed others");
  }

  private static Admission admitted(String uid) {
    return new Admission(id(uid), 0, "a", List.of());
  }
}
