package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sluice.core.model.LocalQueueId;
import dev.sluice.dashboard.ChangeFeed.Audience;
import dev.sluice.dashboard.ChangeFeed.Changes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What a page is told, and what it isn't. */
class EventStreamTest {

  private static final Audience TENANT = new Audience(false, "team-a"::equals, "team-a"::equals);
  private static final Audience ADMIN = new Audience(true, any -> true, any -> true);

  private final ChangeFeed feed = new ChangeFeed();
  private final PlayedScheduler scheduler = new PlayedScheduler(0, Instant.EPOCH);

  private void change(String namespace) {
    scheduler.add(namespace, "wl");
    feed.changed(null, scheduler.get(namespace, "wl").orElseThrow());
  }

  @Test
  void aTenantIsToldOfHisOwnChangesOnly() {
    long before = feed.revision();
    change("team-b");
    feed.changed(Set.of("cq"), Set.of(new LocalQueueId("team-b", "lq")), Set.of("co"));
    assertThat(feed.since(before, TENANT)).isEqualTo(new Changes(feed.revision(), false, false));
    assertThat(feed.since(before, ADMIN)).isEqualTo(new Changes(feed.revision(), true, true));
    long later = feed.revision();
    change("team-a");
    assertThat(feed.since(later, TENANT)).isEqualTo(new Changes(feed.revision(), false, true));
    feed.changed(Set.of(), Set.of(new LocalQueueId("team-a", "lq")), Set.of());
    assertThat(feed.since(later, TENANT).queues()).isTrue();
  }

  private EventStream stream(Audience audience, long since, AtomicLong time, AtomicInteger open) {
    return new EventStream(
        feed, audience, since, time::get, () -> open.incrementAndGet() <= 1, open::decrementAndGet);
  }

  @Test
  void aStreamTellsAndEnds() {
    AtomicInteger open = new AtomicInteger();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long since = feed.revision();
    EventStream stream = stream(TENANT, since, new AtomicLong(), open);
    Thread thread =
        Thread.startVirtualThread(
            () -> {
              try {
                stream.writeTo(out);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    change("team-b");
    change("team-a");
    await().until(() -> text(out).contains("event: change"));
    feed.close();
    await().until(() -> !thread.isAlive());
    assertThat(text(out))
        .startsWith("event: hello\n")
        .contains("\"queues\":false,\"workloads\":true}")
        .doesNotContain("team-");
    assertThat(open).hasValue(0);
  }

  @Test
  void aStreamIsOverAfterItsTime() throws IOException {
    AtomicLong time = new AtomicLong();
    OutputStream out =
        new OutputStream() {
          @Override
          public void write(int any) {
            time.addAndGet(EventStream.LIFE.toNanos());
          }
        };
    AtomicInteger open = new AtomicInteger();
    stream(ADMIN, 0, time, open).writeTo(out);
    assertThat(open).hasValue(0);
  }

  @Test
  void oneTooManyIsTurnedAway() throws IOException {
    AtomicInteger open = new AtomicInteger(1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    stream(ADMIN, 0, new AtomicLong(), open).writeTo(out);
    assertThat(text(out)).isEqualTo("event: busy\ndata: {}\n\n");
  }

  @Test
  void aClientThatIsGoneEndsItsStream() {
    AtomicInteger open = new AtomicInteger();
    OutputStream gone =
        new OutputStream() {
          @Override
          public void write(int any) throws IOException {
            throw new IOException("broken pipe");
          }
        };
    assertThatThrownBy(() -> stream(ADMIN, 0, new AtomicLong(), open).writeTo(gone))
        .isInstanceOf(IOException.class);
    assertThat(open).hasValue(0);
  }

  @Test
  void aRevisionOfAnotherReplicaCountsAsNone() {
    AtomicInteger open = new AtomicInteger();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    change("team-a");
    Thread thread =
        Thread.startVirtualThread(
            () -> {
              try {
                stream(ADMIN, Long.MAX_VALUE, new AtomicLong(), open).writeTo(out);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    await().until(() -> text(out).contains("event: change"));
    feed.close();
    await().until(() -> !thread.isAlive());
    assertThat(List.of(text(out).split("\n\n"))).hasSizeGreaterThan(1);
  }

  private static String text(ByteArrayOutputStream out) {
    return out.toString(StandardCharsets.UTF_8);
  }
}
