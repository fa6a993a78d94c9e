package dev.sluice.dashboard;

import dev.sluice.dashboard.ChangeFeed.Audience;
import dev.sluice.dashboard.ChangeFeed.Changes;
import dev.sluice.server.http.Response;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Server-sent events that tell a page what to fetch again. An event holds no object: it says that
 * queues, or Workloads that this user may see, have changed since the last one. However much
 * changes, there are at most a few events in a second; and a stream ends after a while, upon which
 * the page opens the next.
 */
final class EventStream implements Response.Content {

  /** How long a stream lasts; the platform would cut it after a minute. */
  static final Duration LIFE = Duration.ofSeconds(45);

  /**
   * How often something is sent even if nothing changes, so that a client that is gone is found.
   */
  private static final Duration HEARTBEAT = Duration.ofSeconds(10);

  /** The shortest time between two events. */
  private static final Duration PAUSE = Duration.ofMillis(300);

  private final ChangeFeed feed;
  private final Audience audience;
  private final long since;
  private final LongSupplier nanoTime;
  private final BooleanSupplier opens;
  private final Runnable ended;

  /**
   * A stream that begins with what changed after {@code since}.
   *
   * @param opens called when the stream begins; whether it may
   * @param ended called when a stream that has begun ends
   */
  EventStream(
      ChangeFeed feed,
      Audience audience,
      long since,
      LongSupplier nanoTime,
      BooleanSupplier opens,
      Runnable ended) {
    this.feed = feed;
    this.audience = audience;
    this.since = since;
    this.nanoTime = nanoTime;
    this.opens = opens;
    this.ended = ended;
  }

  @Override
  public long length() {
    return -1;
  }

  @Override
  public void writeTo(OutputStream out) throws IOException {
    if (!opens.getAsBoolean()) {
      send(out, "event: busy\ndata: {}\n\n");
      return;
    }
    try {
      stream(out);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the stream was cut", e);
    } catch (KubernetesClientException e) {
      throw new IOException("what the user may see can't be found out", e);
    } finally {
      ended.run();
    }
  }

  private void stream(OutputStream out) throws IOException, InterruptedException {
    long end = nanoTime.getAsLong() + LIFE.toNanos();
    long heartbeat = nanoTime.getAsLong() + HEARTBEAT.toNanos();
    long revision = since > feed.revision() ? 0 : since;
    send(out, "event: hello\ndata: {}\n\n");
    while (!feed.closed() && nanoTime.getAsLong() < end) {
      long wake = Math.min(heartbeat, end);
      feed.await(revision, Duration.ofNanos(Math.max(1, wake - nanoTime.getAsLong())));
      Changes changes = feed.since(revision, audience);
      revision = changes.revision();
      boolean concerned = changes.queues() || changes.workloads();
      if (concerned || nanoTime.getAsLong() >= heartbeat) {
        send(out, concerned ? event(changes) : ": nothing new\n\n");
        heartbeat = nanoTime.getAsLong() + HEARTBEAT.toNanos();
      }
      feed.pause(PAUSE);
    }
  }

  private static String event(Changes changes) {
    return "event: change\ndata: {\"revision\":%d,\"queues\":%b,\"workloads\":%b}\n\n"
        .formatted(changes.revision(), changes.queues(), changes.workloads());
  }

  private static void send(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.UTF_8));
    out.flush();
  }
}
