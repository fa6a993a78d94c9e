package dev.sluice.queues;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.kube.leader.Leadership;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.metrics.EventCounts;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.ReservationTargets;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What the statuses of reservations say reaches them (docs/reservations.md). */
class ReservationCalendarTest {

  private static final Instant NOW = Instant.parse("2026-12-01T09:00:00Z");

  private static final String WINDOW =
      """
      {"metadata": {"name": "power", "uid": "u1", "resourceVersion": "5"},
       "spec": {"start": "2026-12-01T08:00:00Z", "end": "2026-12-01T18:00:00Z", "nodeLabels": {"rack": "none"}}}
      """;

  private static PlayedApi.Answer list(PlayedApi.Asked request) {
    return new PlayedApi.Answer(
        200,
        "{\"metadata\": {\"resourceVersion\": \"5\"}, \"items\": [%s]}"
            .formatted(request.path().endsWith("maintenancewindows") ? WINDOW : ""));
  }

  /** As when the roles of a new version come after its operator. */
  @Test
  void aStatusThatWasRefusedIsWrittenLater() throws Exception {
    AtomicReference<Instant> clock = new AtomicReference<>(NOW);
    AtomicInteger ticks = new AtomicInteger();
    Deque<Integer> codes = new ConcurrentLinkedDeque<>(List.of(409, 403, 503, 200));
    try (PlayedApi api = new PlayedApi();
        KubernetesClient client = api.client();
        EventRecorder events = events();
        ReservationCalendar calendar = calendar(client, events, clock::get, ticks)) {
      api.play(
          request ->
              request.method().equals("PATCH")
                  ? new PlayedApi.Answer(codes.isEmpty() ? 200 : codes.pop(), WINDOW)
                  : list(request));
      calendar.start().get(60, TimeUnit.SECONDS);
      await().atMost(Duration.ofSeconds(20)).until(() -> codes.size() == 2);
      int refused = ticks.get();
      await().atMost(Duration.ofSeconds(20)).until(() -> ticks.get() > refused + 2);
      assertThat(codes).as("before it is time to try again").hasSize(2);
      clock.set(NOW.plusSeconds(5));
      await().atMost(Duration.ofSeconds(20)).until(codes::isEmpty);
    }
  }

  private static ReservationCalendar calendar(
      KubernetesClient client, EventRecorder events, InstantSource clock, AtomicInteger ticks) {
    return new ReservationCalendar(
        new ReservationCalendar.Connections(
            new Reflectors(client, clock, new Random(1), new ReadErrorLog()),
            event -> {},
            () -> CompletableFuture.completedFuture(List.of()),
            new ReservationTargets(
                InformerCaches.empty(BuiltInCheckControllers.all()), labels -> true),
            new ApiClient(client, ApiClient.Options.atATime(1)),
            Leadership.alone(() -> ticks.incrementAndGet() > 0),
            overstay -> {},
            events),
        clock);
  }

  private static EventRecorder events() {
    return new EventRecorder(
        new EventSink() {
          @Override
          public void create(Event event) {}

          @Override
          public void update(Event event, EventSeries series) {}
        },
        InstantSource.system(),
        "test",
        EventRecorder.Budget.DEFAULT,
        new EventCounts(new PrometheusRegistry(), () -> ReplicaRole.LEADER));
  }
}
