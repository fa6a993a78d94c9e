package dev.sluice.checks.multikueue.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.multikueue.placement.Local.Check;
import dev.sluice.checks.multikueue.placement.Remote.Copy;
import dev.sluice.checks.multikueue.placement.Remote.Difference;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AnswersTest {

  private static final Candidates ALL =
      new Candidates(List.of("onsite", "remote", "third"), Map.of());

  private final Map<String, Remote> remotes = new HashMap<>();

  AnswersTest() {
    for (String name : ALL.configured()) {
      remotes.put(name, new Remote(true, Optional.empty(), Optional.empty()));
    }
  }

  private static Local local(Check check, boolean othersReady, String... nominated) {
    return new Local(
        false,
        true,
        false,
        check,
        othersReady,
        new Local.Sendable.Yes(),
        Optional.empty(),
        List.of(nominated),
        Optional.empty());
  }

  private void tells(String cluster, String what) {
    Copy copy =
        new Copy(Optional.empty(), Optional.empty(), Optional.empty(), Difference.NONE, what);
    remotes.put(cluster, new Remote(true, Optional.empty(), Optional.of(copy)));
  }

  @Test
  void eachClusterSaysOneThingInTheOrderOfTheConfig() {
    tells("remote", "waits for quota: 2 more cpu needed");
    remotes.put(
        "onsite",
        new Remote(false, Optional.of(Instant.parse("2026-03-01T12:00:00.25Z")), Optional.empty()));

    assertThat(Answers.of(local(Check.PENDING, true, "onsite", "remote"), ALL, remotes))
        .isEqualTo(
            "onsite: not connected since 2026-03-01T12:00:00Z; remote: waits for quota: 2 more cpu"
                + " needed; third: not asked yet");
  }

  @Test
  void whoIsExcludedIsNamedToo() {
    Candidates two =
        new Candidates(ALL.configured(), Map.of("onsite", "not allowed", "third", "not allowed"));

    assertThat(Answers.of(local(Check.PENDING, true, "remote"), two, remotes))
        .isEqualTo("onsite: not allowed; remote: is being asked; third: not allowed");
  }

  @Test
  void whenNobodyIsAllowedThatIsSaidFirst() {
    Candidates none =
        new Candidates(List.of("onsite", "remote"), Map.of("onsite", "x", "remote", "y"));

    assertThat(Answers.of(local(Check.PENDING, true), none, remotes))
        .isEqualTo("No worker cluster is allowed; onsite: x; remote: y");
  }

  @Test
  void nothingIsSaidOfOneThatNobodyIsAskedFor() {
    assertThat(Answers.of(local(Check.READY, true), ALL, remotes)).isEmpty();
    assertThat(Answers.of(local(Check.PENDING, false), ALL, remotes)).isEmpty();
  }
}
