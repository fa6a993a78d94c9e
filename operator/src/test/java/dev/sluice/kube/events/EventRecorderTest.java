package dev.sluice.kube.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.kube.events.EventRecorder.Budget;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.kube.events.EventRecorder.Routine;
import dev.sluice.kube.events.EventRecorder.Type;
import dev.sluice.kube.leader.ReplicaRole;
import dev.sluice.metrics.EventCounts;
import dev.sluice.metrics.MetricsScrape;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EventRecorderTest {

  private static final ObjectReference WORKLOAD =
      new ObjectReference("kueue.x-k8s.io/v1beta2", "Workload", "team", "wl", "uid-1");
  private static final Instant START = Instant.parse("2030-01-01T00:00:00.5Z");

  private final AtomicReference<Instant> now = new AtomicReference<>(START);
  private final MetricsScrape scrape = new MetricsScrape();
  private final EventCounts counts =
      new EventCounts(scrape.registry(), () -> ReplicaRole.STANDALONE);
  private final Written written = new Written();
  private final AtomicBoolean deciding = new AtomicBoolean();
  private EventRecorder recorder = recorder(new Budget(1000, 10, Duration.ofMinutes(6)));

  /** Keeps what is written; while it is held up, nothing is. */
  private static final class Written implements EventSink {
    private final List<Event> created = new CopyOnWriteArrayList<>();
    private final List<Integer> series = new CopyOnWriteArrayList<>();
    private volatile CountDownLatch heldUp = new CountDownLatch(0);
    private volatile boolean failing;

    @Override
    public void create(Event event) {
      pass();
      created.add(event);
    }

    @Override
    public void update(Event event, EventSeries update) {
      pass();
      series.add(update.getCount());
    }

    private void pass() {
      try {
        heldUp.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      if (failing) {
        throw new IllegalStateException("no");
      }
    }
  }

  @AfterEach
  void close() {
    written.heldUp.countDown();
    recorder.close();
    scrape.close();
  }

  @Test
  void anEventSaysWhatHappenedToWhom() {
    recorder.record(WORKLOAD, Type.WARNING, "WaitingForQuota", "Schedule", "cpu is short");

    await().untilAsserted(() -> assertThat(written.created).hasSize(1));
    Event event = written.created.getFirst();
    assertThat(event.getApiVersion()).isEqualTo("events.k8s.io/v1");
    assertThat(event.getReason()).isEqualTo("WaitingForQuota");
    assertThat(event.getType()).isEqualTo("Warning");
    assertThat(event.getAction()).isEqualTo("Schedule");
    assertThat(event.getNote()).isEqualTo("cpu is short");
    assertThat(event.getEventTime().getTime()).isEqualTo("2030-01-01T00:00:00.500000Z");
    assertThat(event.getReportingInstance()).isEqualTo("pod-1");
    assertThat(event.getMetadata().getNamespace()).isEqualTo("team");
    assertThat(event.getMetadata().getName()).startsWith("wl.");
    assertThat(event.getRegarding().getKind()).isEqualTo("Workload");
    assertThat(event.getRegarding().getUid()).isEqualTo("uid-1");
  }

  @Test
  void aLongNoteIsCutOff() {
    recorder.record(WORKLOAD, Type.NORMAL, "Admitted", "Admit", "x".repeat(5000));

    await().untilAsserted(() -> assertThat(written.created).hasSize(1));
    assertThat(bytesOfNote()).isEqualTo(1024);
    assertThat(written.created.getFirst().getNote()).endsWith("x…");
  }

  @Test
  void theLimitOfANoteCountsBytesAndNoCharacterIsCutInTwo() {
    recorder.record(WORKLOAD, Type.NORMAL, "Admitted", "Admit", "x" + "😀".repeat(300));

    await().untilAsserted(() -> assertThat(written.created).hasSize(1));
    assertThat(bytesOfNote()).isEqualTo(1 + 255 * 4 + 3);
    assertThat(written.created.getFirst().getNote()).endsWith("😀…");
  }

  @Test
  void aNoteThatJustFitsStaysAsItIs() {
    String note = "ä".repeat(512);
    recorder.record(WORKLOAD, Type.NORMAL, "Admitted", "Admit", note);

    await().untilAsserted(() -> assertThat(written.created).hasSize(1));
    assertThat(written.created.getFirst().getNote()).isEqualTo(note);
  }

  private int bytesOfNote() {
    return written.created.getFirst().getNote().getBytes(StandardCharsets.UTF_8).length;
  }

  @Test
  void eventsOfTheWholeClusterGoToTheDefaultNamespace() {
    ObjectReference queue =
        new ObjectReference("kueue.x-k8s.io/v1beta2", "ClusterQueue", "", "cq", "u");

    recorder.record(queue, Type.NORMAL, "A", "B", "c");

    await().untilAsserted(() -> assertThat(written.created).hasSize(1));
    assertThat(written.created.getFirst().getMetadata().getNamespace()).isEqualTo("default");
  }

  @Test
  void whatIsToldAgainOnlyRaisesTheCount() {
    say("same");
    await().untilAsserted(() -> assertThat(written.created).hasSize(1));
    say("same");
    say("same");
    now.set(START.plusSeconds(40));
    say("same");

    await().untilAsserted(() -> assertThat(written.series).containsExactly(4));
    assertThat(written.created).hasSize(1);
    assertThat(metrics()).contains("result=\"aggregated\"} 3.0");
  }

  @Test
  void afterTheWindowItIsToldAnew() {
    say("same");
    await().untilAsserted(() -> assertThat(written.created).hasSize(1));

    now.set(START.plus(Duration.ofMinutes(7)));
    say("same");

    await().untilAsserted(() -> assertThat(written.created).hasSize(2));
    assertThat(written.created.get(0).getMetadata().getName())
        .isNotEqualTo(written.created.get(1).getMetadata().getName());
  }

  @Test
  void aSlowApiServerHoldsNobodyUp() {
    written.heldUp = new CountDownLatch(1);

    for (int i = 0; i < 50; i++) {
      say("note " + i);
    }
    written.heldUp.countDown();

    await().untilAsserted(() -> assertThat(written.created.size()).isGreaterThanOrEqualTo(10));
    recorder.close();
    assertThat(written.created).hasSizeBetween(10, 11);
    assertThat(metrics()).containsPattern("result=\"dropped\"} (39|40).0");
  }

  @Test
  void noMoreIsWrittenThanTheBudgetAllows() {
    recorder.close();
    recorder = recorder(new Budget(3, 100, Duration.ofMinutes(6)));

    for (int i = 0; i < 20; i++) {
      say("note " + i);
    }
    await().untilAsserted(() -> assertThat(written.created).hasSize(3));
    now.set(START.plusSeconds(1));

    await().untilAsserted(() -> assertThat(written.created).hasSize(6));
    recorder.close();
    assertThat(written.created).hasSize(6);
  }

  @Test
  void whileTheServerIsSlowLessIsWritten() {
    recorder.close();
    Budget budget = new Budget(20, 0, 100, Duration.ofMinutes(6), 1, Routine.NONE);
    beside(budget, 0.1);

    for (int i = 0; i < 40; i++) {
      say("note " + i);
    }
    await().untilAsserted(() -> assertThat(written.created).hasSize(20));
    now.set(START.plusSeconds(1));

    await().untilAsserted(() -> assertThat(written.created).hasSize(22));
    recorder.close();
    assertThat(written.created).hasSize(22);
  }

  @Test
  void howeverSlowTheServerIsTheLeastIsWritten() {
    recorder.close();
    beside(new Budget(20, 5, 100, Duration.ofMinutes(6), 1, Routine.NONE), 0);

    for (int i = 0; i < 40; i++) {
      say("note " + i);
    }
    await().untilAsserted(() -> assertThat(written.created).hasSize(20));
    now.set(START.plusSeconds(1));

    await().untilAsserted(() -> assertThat(written.created).hasSize(25));
  }

  @Test
  void ofThreeThousandEventsAtOnceNoneIsDroppedAndTheLastIsToldInTenSeconds() {
    recorder.close();
    beside(Budget.DEFAULT, 1);
    deciding.set(true);
    for (int i = 0; i < 3000; i++) {
      evicted("note " + i);
    }
    assertThat(written.created).isEmpty();

    for (int second = (int) EventRecorder.GIVES_WAY.toSeconds(); second <= 10; second++) {
      now.set(START.plusSeconds(second));
      int most = Math.min(3000, 500 * (second - 2));
      await().untilAsserted(() -> assertThat(written.created).hasSize(most));
    }

    assertThat(written.created).hasSize(3000);
    assertThat(metrics()).doesNotContainPattern("result=\"dropped\"} [1-9]");
  }

  @Test
  void whileDecisionsAreWrittenEventsWait() {
    recorder.close();
    beside(new Budget(1000, 100, Duration.ofMinutes(6)), 1);
    deciding.set(true);
    evicted("first");
    now.set(START.plus(EventRecorder.GIVES_WAY).minusMillis(1));
    evicted("second");
    assertThat(written.created).isEmpty();

    now.set(START.plus(EventRecorder.GIVES_WAY));
    await().untilAsserted(() -> assertThat(notes()).containsExactly("first"));

    deciding.set(false);
    await().untilAsserted(() -> assertThat(notes()).containsExactly("first", "second"));
  }

  private void beside(Budget budget, double share) {
    recorder =
        new EventRecorder(
            written,
            now::get,
            new EventRecorder.Reporter("pod-1", (about, reason) -> about.kind() + "-controller"),
            budget,
            new EventRecorder.Load() {
              @Override
              public double share() {
                return share;
              }

              @Override
              public boolean isDeciding() {
                return deciding.get();
              }
            },
            counts);
  }

  /** A budget of plenty; one routine event per second while decisions are written. */
  private void withRoutine() {
    recorder.close();
    beside(
        new Budget(
            1000,
            100,
            100,
            Duration.ofMinutes(6),
            1,
            new Routine(Set.of("Admitted"), 1, 4, Duration.ofSeconds(30))),
        1);
  }

  private void evicted(String note) {
    recorder.record(WORKLOAD, Type.NORMAL, "Evicted", "Evict", note);
  }

  private List<String> notes() {
    return written.created.stream().map(Event::getNote).toList();
  }

  @Test
  void routineEventsComeLastAreDroppedFirstAndGiveWayLonger() {
    withRoutine();
    deciding.set(true);
    for (int i = 0; i < 9; i++) {
      say("routine " + i);
    }
    for (int i = 0; i < 5; i++) {
      evicted("told " + i);
    }
    assertThat(metrics()).contains("result=\"dropped\"} 5.0");

    now.set(START.plus(EventRecorder.GIVES_WAY));
    await().untilAsserted(() -> assertThat(written.created).hasSize(6));
    assertThat(notes())
        .containsExactly("told 0", "told 1", "told 2", "told 3", "told 4", "routine 0");

    now.set(START.plus(EventRecorder.GIVES_WAY).plusSeconds(1));
    await().untilAsserted(() -> assertThat(notes()).endsWith("routine 1"));

    deciding.set(false);
    await().untilAsserted(() -> assertThat(notes()).endsWith("routine 2", "routine 3"));
  }

  @Test
  void aWarningIsNeverRoutine() {
    withRoutine();
    for (int i = 0; i < 10; i++) {
      recorder.record(WORKLOAD, Type.WARNING, "Admitted", "Admit", "note " + i);
    }
    await().untilAsserted(() -> assertThat(written.created).hasSize(10));
  }

  @Test
  void routineEventsThatComeTooLateAreDropped() {
    withRoutine();
    deciding.set(true);
    for (int i = 0; i < 4; i++) {
      say("early " + i);
    }
    now.set(START.plusSeconds(31));
    await().untilAsserted(() -> assertThat(metrics()).contains("result=\"dropped\"} 4.0"));
    say("late");
    deciding.set(false);

    await().untilAsserted(() -> assertThat(notes()).containsExactly("late"));
  }

  @Test
  void whatWasToldLongAgoIsForgottenSoThatMemoryIsBounded() {
    recorder.close();
    recorder = recorder(new Budget(100_000, 100_000, Duration.ofMinutes(6)));
    evicted("oldest");
    for (int i = 0; i < 5000; i++) {
      evicted("note " + i);
    }
    await().untilAsserted(() -> assertThat(written.created).hasSize(5001));
    evicted("one more");
    await().untilAsserted(() -> assertThat(written.created).hasSize(5002));

    evicted("note 4999");
    evicted("oldest");

    await().untilAsserted(() -> assertThat(notes()).endsWith("one more", "oldest"));
    assertThat(metrics()).contains("result=\"aggregated\"} 1.0");
  }

  @Test
  void anEventThatCanNotBeWrittenIsCountedAndTriedWhenToldAgain() {
    written.failing = true;
    say("same");
    await().untilAsserted(() -> assertThat(metrics()).contains("result=\"failed\"} 1.0"));
    written.failing = false;

    say("same");

    await().untilAsserted(() -> assertThat(written.created).hasSize(1));
  }

  @Test
  void whatWaitsIsWrittenAtTheEnd() {
    for (int i = 0; i < 5; i++) {
      say("note " + i);
    }

    recorder.close();

    assertThat(written.created).hasSize(5);
  }

  private void say(String note) {
    recorder.record(WORKLOAD, Type.NORMAL, "Admitted", "Admit", note);
  }

  private EventRecorder recorder(Budget budget) {
    return new EventRecorder(written, now::get, "pod-1", budget, counts);
  }

  private String metrics() {
    return new String(scrape.scrape().body(), StandardCharsets.UTF_8);
  }
}
