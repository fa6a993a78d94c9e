package dev.sluice.checks.multikueue.fencing;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.HttpURLConnection;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Reads managers' Leases with the age of their last renewal. The age is the difference between two
 * times of the API server's clock: the time of the write, from the managed fields, and the time of
 * the response, from the header {@code Date}. So the clock of this process need not agree with the
 * API server's. The operator's client drops managed fields, therefore this class reads the raw
 * responses.
 */
final class LeaseReader {

  private static final long TIMEOUT_SECONDS = 15;

  /** The API server writes both times without fractions of seconds. */
  private static final Duration PRECISION = Duration.ofSeconds(1);

  private final KubernetesClient client;
  private final String namespace;
  private final InstantSource clock;

  /**
   * Creates a reader that uses the client's connection; the caller closes the client.
   *
   * @param clock clock of this process; must be monotonic
   */
  LeaseReader(KubernetesClient client, String namespace, InstantSource clock) {
    this.client = client;
    this.namespace = namespace;
    this.clock = clock;
  }

  /**
   * A Lease as read.
   *
   * @param holder the manager's process
   * @param sent when the last renewal was sent, by the manager's clock
   * @param earliest the earliest possible time of the write, by the clock here
   * @param latest the latest possible time of the write, by the clock here
   * @param responseTime when the response arrived
   */
  record Reading(
      String holder, Instant sent, Instant earliest, Instant latest, Instant responseTime) {}

  /**
   * Reads the Lease of this name; empty if it does not exist or was never renewed. Blocks for
   * fifteen seconds at most.
   *
   * @throws IOException if the API server does not answer as expected
   */
  Optional<Reading> read(String name) throws IOException {
    String url = client.getMasterUrl().toString();
    String path = "apis/coordination.k8s.io/v1/namespaces/" + namespace + "/leases/" + name;
    HttpClient http = client.getHttpClient();
    HttpRequest request =
        http.newHttpRequestBuilder().uri(url + (url.endsWith("/") ? "" : "/") + path).build();
    Instant requestTime = clock.instant();
    HttpResponse<byte[]> answer = send(http, request);
    Instant responseTime = clock.instant();
    if (answer.code() == HttpURLConnection.HTTP_NOT_FOUND) {
      return Optional.empty();
    }
    if (!answer.isSuccessful()) {
      throw new IOException("HTTP " + answer.code());
    }
    return reading(
        JsonMappers.JSON.readTree(answer.body()), date(answer), requestTime, responseTime);
  }

  private static HttpResponse<byte[]> send(HttpClient http, HttpRequest request)
      throws IOException {
    try {
      return http.sendAsync(request, byte[].class).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e);
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + TIMEOUT_SECONDS + "s", e);
    }
  }

  private static Optional<Instant> date(HttpResponse<byte[]> answer) {
    return Optional.ofNullable(answer.header("Date"))
        .flatMap(
            text -> {
              try {
                return Optional.of(Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(text)));
              } catch (DateTimeException unusual) {
                return Optional.empty();
              }
            });
  }

  /**
   * Evaluates a response.
   *
   * @param date the header of this name; if it is absent, the clocks are assumed to agree
   * @param requestTime when the request was sent, by the clock here
   * @param responseTime when the response arrived, by the clock here
   */
  static Optional<Reading> reading(
      JsonNode lease, Optional<Instant> date, Instant requestTime, Instant responseTime) {
    Optional<Instant> sent = time(lease.path("spec").path("renewTime"));
    if (sent.isEmpty()) {
      return Optional.empty();
    }
    Instant there = date.orElse(requestTime);
    // a Lease without a renewal time in its managed fields was renewed after its creation
    Optional<Instant> written = written(lease);
    Instant from =
        written
            .or(() -> time(lease.path("metadata").path("creationTimestamp")))
            .orElse(Instant.EPOCH);
    Instant earliest = requestTime.minus(Duration.between(from, there)).minus(PRECISION);
    Instant latest =
        written
            .map(it -> responseTime.minus(Duration.between(it, there)).plus(PRECISION))
            .filter(it -> it.isBefore(responseTime))
            .orElse(responseTime);
    return Optional.of(
        new Reading(
            lease.path("spec").path("holderIdentity").asText(""),
            sent.get(),
            earliest.isBefore(latest) ? earliest : latest,
            latest,
            responseTime));
  }

  /** When the field {@code renewTime} was written, by the API server's clock. */
  private static Optional<Instant> written(JsonNode lease) {
    return lease
        .path("metadata")
        .path("managedFields")
        .valueStream()
        .filter(each -> each.path("fieldsV1").path("f:spec").has("f:renewTime"))
        .flatMap(each -> time(each.path("time")).stream())
        .min(Comparator.naturalOrder());
  }

  private static Optional<Instant> time(JsonNode text) {
    return Stream.of(text)
        .filter(JsonNode::isTextual)
        .map(it -> OffsetDateTime.parse(it.asText()).toInstant())
        .findFirst();
  }
}
