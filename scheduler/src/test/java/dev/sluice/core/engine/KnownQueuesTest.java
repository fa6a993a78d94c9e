package dev.sluice.core.engine;

import static dev.sluice.core.engine.SchedulerFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.SchedulerEvent;
import org.junit.jupiter.api.Test;

/** Which queues can be asked for their pending Workloads. */
class KnownQueuesTest {

  private final SchedulerFixture fixture = new SchedulerFixture();
  private final QueryHandler queries = fixture.engine.queries();
  private final LocalQueueId local = new LocalQueueId("ns", "q");

  @Test
  void aQueueIsUnknownFromItsDeletionOnAlthoughWorkloadsStillNameIt() {
    fixture.flavor("f");
    fixture.queue("q", "", quota("f", 3));
    fixture.submit("running", "q", 2, 0, 0);
    assertThat(fixture.admitted()).containsExactly("running");
    fixture.reserving("running", true, true);
    fixture.submit("waiting", "q", 2, 0, 1);
    assertThat(queries.isKnown("q")).isTrue();
    assertThat(queries.isKnown(local)).isTrue();

    fixture.engine.apply(new SchedulerEvent.LocalQueueRemoved(local));
    fixture.engine.apply(new SchedulerEvent.ClusterQueueRemoved("q"));

    assertThat(queries.isKnown("q")).isFalse();
    assertThat(queries.isKnown(local)).isFalse();
  }

  @Test
  void aQueueThatWorkloadsNameAndThatDoesNotExistIsUnknown() {
    fixture.submit("w", "missing", 1, 0, 0);

    assertThat(queries.isKnown("missing")).isFalse();
    assertThat(queries.isKnown(new LocalQueueId("ns", "missing"))).isFalse();
  }
}
