package dev.sluice.lab.bench;

import dev.sluice.lab.bench.ReviewSamples.Review;
import dev.sluice.lab.controlplane.ApiClients;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sends admission reviews to the webhooks of a cluster at a steady rate, whether answers come or
 * not, over as many kept connections as are needed at a time, and takes the time of each. They come
 * on top of those that the API server sends.
 */
final class ReviewLoad implements AutoCloseable {

  /** What an API server waits for a webhook of the shipped registrations. */
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** How long this sender, which has just been started too, is given before reviews count. */
  private static final Duration OWN_START = Duration.ofSeconds(10);

  private final List<Review> reviews;
  private final int perSecond;
  private final boolean refusable;
  private final HttpClient http;
  private final Thread sender;
  private final List<CompletableFuture<?>> underWay = new ArrayList<>();
  private final List<ReviewFigures.Sample> samples = new ArrayList<>();
  private final Map<String, Integer> errors = new HashMap<>();
  private long start;
  private volatile long counted = Long.MAX_VALUE;
  private volatile long end = Long.MAX_VALUE;

  private ReviewLoad(
      List<Review> reviews, HttpClient.Builder http, int perSecond, boolean refusable) {
    this.refusable = refusable;
    this.reviews = List.copyOf(reviews);
    this.perSecond = perSecond;
    this.http = http.version(HttpClient.Version.HTTP_1_1).connectTimeout(LIMIT).build();
    this.sender = Thread.ofPlatform().daemon().name("bench-reviews").unstarted(this::send);
  }

  /**
   * A load for the webhooks that are registered in a cluster.
   *
   * @throws BenchException if there are none that this process can reach
   */
  static ReviewLoad of(Path kubeconfig, int perSecond) {
    try (KubernetesClient client = ApiClients.patient(kubeconfig)) {
      ReviewSamples samples = ReviewSamples.of(client);
      return new ReviewLoad(
          samples.reviews(), HttpClient.newBuilder().sslContext(samples.tls()), perSecond, false);
    }
  }

  /**
   * A load of Jobs that cost their reader most, of one user and namespace, for the same webhooks:
   * those may refuse them.
   *
   * @throws BenchException if there are none that this process can reach
   */
  static ReviewLoad poisoned(Path kubeconfig, int perSecond) {
    try (KubernetesClient client = ApiClients.patient(kubeconfig)) {
      ReviewSamples samples = ReviewSamples.of(client);
      return new ReviewLoad(
          samples.poisoned(), HttpClient.newBuilder().sslContext(samples.tls()), perSecond, true);
    }
  }

  /** A load for one address, which need not read what it is sent. */
  static ReviewLoad at(URI address, int perSecond) {
    byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
    return new ReviewLoad(
        List.of(new Review(address, body)), HttpClient.newBuilder(), perSecond, false);
  }

  /** Starts to send, without counting; to be called once. */
  void start() {
    start = System.nanoTime();
    sender.start();
  }

  /** Waits until this sender has sent for ten seconds, and counts the reviews from then on. */
  void count() {
    long warm = start + OWN_START.toNanos();
    while (System.nanoTime() < warm) {
      LockSupport.parkNanos(warm - System.nanoTime());
    }
    counted = System.nanoTime();
  }

  private void send() {
    for (long i = 0; ; i++) {
      long planned = start + i * SECOND / perSecond;
      while (planned > System.nanoTime()) {
        LockSupport.parkNanos(planned - System.nanoTime());
      }
      if (planned >= end) {
        return;
      }
      send(reviews.get((int) (i % reviews.size())), planned);
    }
  }

  private void send(Review review, long planned) {
    HttpRequest request =
        HttpRequest.newBuilder(review.uri())
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(review.body()))
            .build();
    long delay = System.nanoTime() - planned;
    CompletableFuture<?> answered =
        http.sendAsync(request, BodyHandlers.ofByteArray())
            .handle(
                (response, failure) -> {
                  long taken = System.nanoTime() - planned;
                  if (planned >= counted) {
                    record(
                        new ReviewFigures.Sample(planned - counted, delay, taken),
                        error(review, response, failure));
                  }
                  return null;
                });
    underWay.removeIf(CompletableFuture::isDone);
    underWay.add(answered);
  }

  private String error(
      Review review, @Nullable HttpResponse<byte[]> response, @Nullable Throwable failure) {
    if (response == null) {
      return String.valueOf(failure);
    }
    String answer = new String(response.body(), StandardCharsets.UTF_8);
    return response.statusCode() == 200 && (refusable || answer.contains("\"allowed\":true"))
        ? ""
        : review.uri().getPath() + " answered " + response.statusCode() + " " + answer;
  }

  private synchronized void record(ReviewFigures.Sample sample, String error) {
    samples.add(sample);
    if (!error.isEmpty()) {
      errors.merge(error, 1, Integer::sum);
    }
  }

  /** Ends sending, and waits for the answers under way. */
  void stop() {
    end = System.nanoTime();
    try {
      sender.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
    underWay.forEach(CompletableFuture::join);
  }

  /** The figures of what was sent while it counted. */
  synchronized ReviewFigures figures() {
    return ReviewFigures.of(samples, (end - counted) / 1e9, errors);
  }

  /** Stops sending. */
  @Override
  public void close() {
    end = Math.min(end, System.nanoTime());
    http.shutdownNow();
  }
}
