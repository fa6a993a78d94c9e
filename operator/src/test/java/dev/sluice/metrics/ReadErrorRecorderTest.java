package dev.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.kube.reflect.ReadErrorLog.Fault;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReadErrorRecorderTest {

  private static final Fault FAULT =
      new Fault("batch/v1", "Job", "team", "odd", "uid", "no number");

  /** The recorder is told nothing new, so that it has no event to write. */
  private static final class NoEvents implements EventSink {

    @Override
    public void create(Event event) {
      throw new AssertionError(event);
    }

    @Override
    public void update(Event event, EventSeries series) {
      throw new AssertionError(event);
    }
  }

  @Test
  void anUnreadableObjectIsCountedUnderTheDocumentedName() throws Exception {
    Set<String> others = MetricsPage.read().names();
    others.remove("sluice_unreadable_objects_total");
    try (MetricsScrape scrape = new MetricsScrape();
        EventRecorder events =
            new EventRecorder(
                new NoEvents(),
                InstantSource.system(),
                "pod-1",
                EventRecorder.Budget.DEFAULT,
                new EventCounts(scrape.registry(), () -> ReplicaRole.LEADER))) {
      ReadErrorRecorder recorder =
          new ReadErrorRecorder(scrape.registry(), events, () -> ReplicaRole.LEADER);
      recorder.unreadable(FAULT, false);
      recorder.unreadable(FAULT, false);

      String body = new String(scrape.scrape().body(), StandardCharsets.UTF_8);
      assertThat(MetricsPage.read().differences(body, "", others)).isEmpty();
      assertThat(body)
          .contains("sluice_unreadable_objects_total{kind=\"Job\",replica_role=\"leader\"} 2.0");
    }
  }
}
