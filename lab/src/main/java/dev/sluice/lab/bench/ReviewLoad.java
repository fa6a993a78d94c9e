package dev.sluice.lab.bench;

import static java.util.stream.Collectors.toList;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.lab.bench.ReviewLoad.ReviewSamples.Review;
import dev.sluice.lab.controlplane.ApiClients;
import dev.sluice.lab.player.KindManifest;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
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

  /**
   * How fast webhooks answered. Times are milliseconds from the planned moment of sending to the
   * answer, so that a review which was sent late, or waited behind another one, isn't forgotten.
   *
   * @param sent reviews whose answer, or failure, was seen
   * @param perSecond reviews per second over the time of the load
   * @param median median of the time
   * @param p99 99 % of reviews took at most this long
   * @param max the longest time
   * @param p99Late 99 % of reviews were sent at most this much later than planned, which is the
   *     sender's own delay
   * @param byTenSeconds the time that 99 % of the reviews took, for each ten seconds in which they
   *     were planned: whether the slow ones are those of a process that has just started
   * @param errors failures and refusals with how many there were
   */
  record ReviewFigures(
      int sent,
      double perSecond,
      double median,
      double p99,
      double max,
      double p99Late,
      List<Double> byTenSeconds,
      Map<String, Integer> errors) {

    private static final long WINDOW = TimeUnit.SECONDS.toNanos(10);

    /**
     * One review.
     *
     * @param planned when it should be sent, nanoseconds after the start of the load
     * @param late by how many nanoseconds later it was sent
     * @param taken nanoseconds from its planned moment to the answer
     */
    record Sample(long planned, long late, long taken) {}

    /** Copies what it is given. */
    ReviewFigures {
      byTenSeconds = List.copyOf(byTenSeconds);
      errors = Map.copyOf(errors);
    }

    /**
     * Computes the figures.
     *
     * @param samples all reviews, in any order
     * @param seconds how long the load lasted
     */
    static ReviewFigures of(List<Sample> samples, double seconds, Map<String, Integer> errors) {
      long[] taken = samples.stream().mapToLong(Sample::taken).sorted().toArray();
      long[] late = samples.stream().mapToLong(Sample::late).sorted().toArray();
      return new ReviewFigures(
          samples.size(),
          seconds == 0 ? 0 : samples.size() / seconds,
          millis(taken, 0.5),
          millis(taken, 0.99),
          millis(taken, 1),
          millis(late, 0.99),
          byTenSeconds(samples),
          errors);
    }

    private static List<Double> byTenSeconds(List<Sample> samples) {
      return samples.stream()
          .collect(Collectors.groupingBy(each -> each.planned() / WINDOW, TreeMap::new, toList()))
          .values()
          .stream()
          .map(each -> millis(each.stream().mapToLong(Sample::taken).sorted().toArray(), 0.99))
          .toList();
    }

    /** The smallest value that at least this share of the values does not exceed. */
    private static double millis(long[] sorted, double share) {
      return sorted.length == 0
          ? 0
          : sorted[Math.max(0, (int) Math.ceil(share * sorted.length) - 1)] / 1e6;
    }

    /** How many reviews failed or were refused. */
    int failed() {
      return errors.values().stream().mapToInt(Integer::intValue).sum();
    }

    /**
     * Two lines, or more if there were errors.
     *
     * @param name what was sent to
     */
    String text(String name) {
      StringBuilder text = new StringBuilder();
      text.append(
          String.format(
              Locale.ROOT,
              "%-36s%d reviews, %.1f /s, %d errors%n",
              name,
              sent,
              perSecond,
              failed()));
      text.append(
          String.format(
              Locale.ROOT,
              "%-36smedian %.2f ms, p99 %.2f ms, max %.1f ms; p99 of the sender's delay %.2f ms%n",
              "time to the answer",
              median,
              p99,
              max,
              p99Late));
      text.append(
          String.format(
              Locale.ROOT,
              "%-36s%s%n",
              "p99 of each ten seconds, ms",
              byTenSeconds.stream()
                  .map(each -> String.format(Locale.ROOT, "%.0f", each))
                  .collect(Collectors.joining(" "))));
      new TreeMap<>(errors)
          .forEach(
              (message, count) ->
                  text.append(String.format(Locale.ROOT, "  %d times: %s%n", count, message)));
      return text.toString();
    }

    /** Writes the same into a JSON object. */
    void into(ObjectNode json) {
      json.put("reviews", sent).put("errors", failed());
      put(json, "perSecond", perSecond);
      put(json, "medianMillis", median);
      put(json, "p99Millis", p99);
      put(json, "maxMillis", max);
      put(json, "senderDelayP99Millis", p99Late);
      ArrayNode windows = json.putArray("p99MillisByTenSeconds");
      byTenSeconds.forEach(each -> windows.add(rounded(each)));
    }

    private static void put(ObjectNode json, String field, double value) {
      json.put(field, rounded(value));
    }

    private static BigDecimal rounded(double value) {
      return BigDecimal.valueOf(value).setScale(3, RoundingMode.HALF_UP);
    }
  }

  /**
   * Admission reviews for the webhooks that are registered in a cluster: one for each webhook and
   * operation, with an object that the webhook allows. Addresses and trusted authorities come from
   * the registrations, as an API server takes them.
   *
   * @param reviews the reviews
   * @param tls trusts the authorities of the registrations
   */
  record ReviewSamples(List<Review> reviews, SSLContext tls) {

    private static final String OWN_KINDS =
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Workload
        metadata: {name: sample}
        spec:
          queueName: team-a
          priority: 0
          podSets:
          - name: main
            count: 2
            template:
              spec:
                restartPolicy: Never
                containers: [{name: c, image: none, resources: {requests: {cpu: "1"}}}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: sample}
        spec:
          cohortName: sample
          namespaceSelector: {}
          queueingStrategy: BestEffortFIFO
          preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}
          resourceGroups:
          - coveredResources: [cpu, memory]
            flavors:
            - name: sample
              resources:
              - {name: cpu, nominalQuota: "20", borrowingLimit: "100"}
              - {name: memory, nominalQuota: 64Gi}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: sample}
        spec: {nodeLabels: {instance-type: spot}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: sample}
        spec: {parentName: root}
        """;

    /**
     * A review.
     *
     * @param uri address of the webhook
     * @param body the review as JSON
     */
    record Review(URI uri, byte[] body) {}

    /** Copies the list. */
    ReviewSamples {
      reviews = List.copyOf(reviews);
    }

    /**
     * The reviews for what is registered in a cluster.
     *
     * @throws BenchException if nothing is registered by URL, or a certificate can't be used
     */
    static ReviewSamples of(KubernetesClient client) {
      Builder builder = new Builder();
      client.admissionRegistration().v1().mutatingWebhookConfigurations().list().getItems().stream()
          .flatMap(each -> each.getWebhooks().stream())
          .forEach(each -> builder.add(each.getClientConfig(), each.getRules()));
      client
          .admissionRegistration()
          .v1()
          .validatingWebhookConfigurations()
          .list()
          .getItems()
          .stream()
          .flatMap(each -> each.getWebhooks().stream())
          .forEach(each -> builder.add(each.getClientConfig(), each.getRules()));
      return builder.build();
    }

    /** Reviews of Jobs that are as large as can be, in the ways that cost most. */
    List<Review> poisoned() {
      ObjectMapper json = new ObjectMapper();
      List<Review> poisoned = new ArrayList<>();
      for (Review review : reviews) {
        if (review.uri().getPath().endsWith("-batch-v1-job")) {
          for (Poison poison : Poison.values()) {
            try {
              ObjectNode root = (ObjectNode) json.readTree(review.body());
              ObjectNode request = root.withObject("/request").put("namespace", "poison");
              request.withObject("/userInfo").put("username", "poisoner");
              poison.into(request.withObject("/object"));
              poisoned.add(new Review(review.uri(), json.writeValueAsBytes(root)));
            } catch (IOException own) {
              throw new UncheckedIOException(own);
            }
          }
        }
      }
      return poisoned;
    }

    /** A way to make an object cost its reader much. */
    private enum Poison {
      SELECTOR,
      GATES,
      NAMES,
      SIZE;

      private static final int MOST_ANNOTATIONS = 250_000;
      private static final int MOST_NAMES = 60_000;
      private static final int TOO_LARGE = 9 * 1024 * 1024;

      void into(ObjectNode object) {
        ObjectNode annotations = object.withObject("/metadata/annotations");
        switch (this) {
          case SELECTOR ->
              annotations.put(
                  "sluice.dev/placement-cluster-selector", ",".repeat(MOST_ANNOTATIONS));
          case GATES ->
              annotations.put("kueue.x-k8s.io/admission-gated-by", ",".repeat(MOST_ANNOTATIONS));
          case NAMES -> {
            ObjectNode nodes = object.withObject("/spec/template/spec/nodeSelector");
            for (int i = 0; i < MOST_NAMES; i++) {
              nodes.put("label-" + i, "");
            }
          }
          case SIZE -> annotations.put("large", "<".repeat(TOO_LARGE));
        }
      }
    }

    private static final class Builder {
      private final Map<String, ObjectNode> objects = objects();
      private final Set<String> authorities = new LinkedHashSet<>();
      private final List<Review> reviews = new ArrayList<>();

      void add(WebhookClientConfig config, List<RuleWithOperations> rules) {
        if (config.getUrl() == null || config.getCaBundle() == null) {
          return;
        }
        authorities.add(config.getCaBundle());
        URI uri = URI.create(config.getUrl());
        String kind = uri.getPath().substring(uri.getPath().lastIndexOf('-') + 1);
        for (RuleWithOperations rule : rules) {
          ObjectNode object = objects.get(rule.getApiGroups().getFirst() + "/" + kind);
          for (String operation : rule.getOperations()) {
            if (object != null && (operation.equals("CREATE") || operation.equals("UPDATE"))) {
              reviews.add(new Review(uri, review(object, operation, rule)));
            }
          }
        }
      }

      ReviewSamples build() {
        if (reviews.isEmpty()) {
          throw new BenchException("no webhook of the cluster is registered by its URL");
        }
        try {
          return new ReviewSamples(reviews, trusting(authorities));
        } catch (GeneralSecurityException | IOException e) {
          throw new BenchException("the certificates of the webhooks can't be used: " + e, e);
        }
      }
    }

    /** An object of each kind, by group and kind in lower case. */
    private static Map<String, ObjectNode> objects() {
      Map<String, ObjectNode> objects = new HashMap<>();
      try {
        new YAMLMapper()
            .readerFor(ObjectNode.class)
            .<ObjectNode>readValues(OWN_KINDS)
            .forEachRemaining(object -> objects.put(key(object), object));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      KindManifest.all().stream()
          .flatMap(manifest -> manifest.objects().stream())
          .forEach(object -> objects.putIfAbsent(key(object), object));
      return objects;
    }

    private static String key(ObjectNode object) {
      String version = object.path("apiVersion").asText();
      String group = version.substring(0, Math.max(0, version.indexOf('/')));
      return group + "/" + object.path("kind").asText().toLowerCase(Locale.ROOT);
    }

    private static byte[] review(ObjectNode object, String operation, RuleWithOperations rule) {
      ObjectNode root = JsonNodeFactory.instance.objectNode();
      root.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
      ObjectNode request = root.putObject("request");
      request.put("uid", "4b5b3c2e-0000-4000-8000-000000000001");
      request
          .putObject("kind")
          .put("group", rule.getApiGroups().getFirst())
          .put("version", rule.getApiVersions().getFirst())
          .put("kind", object.path("kind").asText());
      request
          .putObject("resource")
          .put("group", rule.getApiGroups().getFirst())
          .put("version", rule.getApiVersions().getFirst())
          .put("resource", rule.getResources().getFirst());
      request.put("name", object.at("/metadata/name").asText()).put("namespace", "default");
      request.put("operation", operation).put("dryRun", false);
      request.putObject("userInfo").put("username", "somebody").putArray("groups").add("people");
      ObjectNode sent = object.deepCopy();
      ((ObjectNode) sent.path("metadata")).put("namespace", "default");
      request.set("object", sent);
      if (operation.equals("UPDATE")) {
        request.set("oldObject", sent.deepCopy());
      } else {
        request.putNull("oldObject");
      }
      return root.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static SSLContext trusting(Set<String> bundles)
        throws GeneralSecurityException, IOException {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (String bundle : bundles) {
        for (Certificate authority :
            CertificateFactory.getInstance("X.509")
                .generateCertificates(
                    new ByteArrayInputStream(Base64.getDecoder().decode(bundle)))) {
          store.setCertificateEntry("authority-" + store.size(), authority);
        }
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), new SecureRandom());
      return context;
    }
  }
}
