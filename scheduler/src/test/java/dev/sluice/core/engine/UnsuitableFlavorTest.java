package dev.sluice.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.core.model.SchedulerEvent.RequestShape;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Who can't run on the nodes of a flavor takes no part in the contest for its quota. */
class UnsuitableFlavorTest {

  private final SchedulerFixture schedulerFixture = new SchedulerFixture();

  private static RequestShape onOtherNodes(long cpu) {
    return new RequestShape(
        List.of(
            new PodSetRequest(
                "main",
                1,
                0,
                new TreeMap<>(Map.of("cpu", cpu)),
                new NodeConstraints(Map.of("type", "other"), List.of(), List.of()),
                "")));
  }

  @Test
  void itHoldsBackNobodyWhenQuotaIsReleased() {
    schedulerFixture.flavor("f");
    schedulerFixture.queue("owner", "co", SchedulerFixture.quota("f", 6));
    schedulerFixture.queue("first", "co", SchedulerFixture.quota("f", 0));
    schedulerFixture.queue("second", "co", SchedulerFixture.quota("f", 0));
    schedulerFixture.submit("running", "first", 6);
    assertThat(schedulerFixture.admitted()).containsExactly("running");
    schedulerFixture.submit("five", "first", 5, 0, 1);
    schedulerFixture.submit("two", "second", 2, 0, 2);
    assertThat(schedulerFixture.admitted()).isEmpty();

    schedulerFixture.submit("unsuitable", "owner", onOtherNodes(4), 0, 0);
    schedulerFixture.finish("running");

    assertThat(schedulerFixture.admitted()).containsExactly("five");
  }
}
