package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.MultiKueue;
import dev.sluice.jobs.controller.JobSimulator.Workers;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkersTest {

  private static final List<String> CONFIGURED = List.of("remote", "onsite");

  @Test
  void workersAreNamedInTheOrderInWhichTheyAreAsked() {
    assertThat(Workers.of(MultiKueue.ALL_AT_ONCE, true, CONFIGURED).text())
        .isEqualTo(
            "it would be offered to the worker clusters onsite, remote, to all at once: the first"
                + " that admits it runs it");
    assertThat(Workers.of(MultiKueue.INCREMENTAL, true, CONFIGURED).names())
        .containsExactly("remote", "onsite");
    assertThat(Workers.of(MultiKueue.INCREMENTAL, false, CONFIGURED).names())
        .containsExactly("onsite", "remote");
    assertThat(Workers.of(MultiKueue.BEST_FIT, false, CONFIGURED).text())
        .startsWith("it would run in the first of the worker clusters remote, onsite that has");
    assertThat(Workers.of("example.com/mine", false, CONFIGURED).text())
        .contains("remote, onsite", "the dispatcher example.com/mine decides");
  }

  @Test
  void withoutAnActiveWorkerItWaits() {
    Workers nobody = Workers.of(MultiKueue.ALL_AT_ONCE, true, List.of());

    assertThat(nobody.isAsked()).isTrue();
    assertThat(nobody.text()).contains("no worker cluster");
  }
}
