package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.conversion.ConversionWebhook;
import dev.sluice.api.conversion.HubConverter;
import dev.sluice.server.endpoints.WebhookEndpoint;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.RequestBody;
import dev.sluice.server.http.Response;
import dev.sluice.testing.HostileSamples;
import dev.sluice.testing.Mutations;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.WebhookRouter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/**
 * Bodies that somebody sends who means harm, to every path of the webhook server: each gets a
 * well-formed answer, and none leaves anything in memory. Reviews are changed as objects, and as
 * bytes. {@code -Dsluice.fuzz.bodies=N} sends N of them, {@code -Dsluice.fuzz.seed=N} begins with
 * others; a body that fails is printed with its seed.
 */
@Order(4) // long ones begin early
@Isolated("measures the heap")
class HostileBodiesTest {

  private static final long BODIES = Long.getLong("sluice.fuzz.bodies", 10_000);
  private static final long SEED = Long.getLong("sluice.fuzz.seed", 1);

  /** What caches and loaded classes may take, however many bodies come. */
  private static final long MOST_KEPT = 24L << 20;

  /** The Java machine's own threads come and go; an answer that left one would leave thousands. */
  private static final int MOST_THREADS = 20;

  /** A member of an object up to its value. */
  private static final Pattern KEY = Pattern.compile("\"[A-Za-z]+\":");

  private static final List<String> VALUES =
      List.of("null", "{}", "[]", "\"\"", "\"x\"", "-1", "1e400", "{\"a\":[{}]}", "true");

  /** An overlong zero, half of a pair of surrogates, a byte of no text, a cut character. */
  private static final List<byte[]> NO_UTF8 =
      List.of(
          new byte[] {(byte) 0xc0, (byte) 0x80},
          new byte[] {(byte) 0xed, (byte) 0xa0, (byte) 0x80},
          new byte[] {(byte) 0xff},
          new byte[] {(byte) 0xf0, (byte) 0x9f});

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> OPERATIONS =
      List.of("CREATE", "UPDATE", "UPDATE", "DELETE", "CONNECT", "");
  private static final List<String> VERSIONS =
      List.of("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v9");

  private final List<ObjectNode> samples = List.copyOf(HostileSamples.byKind().values());
  private final AtomicLong converterFaults = new AtomicLong();
  private final Map<String, AdmissionFunction> functions =
      Webhooks.functions(HostileReadingTest.settings(), new HostileReadingTest.Facts());
  private final WebhookEndpoint endpoint =
      new WebhookEndpoint(new WebhookRouter(functions), new ConversionWebhook(new HubConverter()));

  @Test
  void eachBodyGetsAnAnswerAndLeavesNothing() {
    countConverterFaults();
    List<String> paths = new ArrayList<>(new TreeMap<>(functions).keySet());
    // As many conversions as reviews of any other ten paths.
    for (int i = 0; i < 10; i++) {
      paths.add(WebhookEndpoint.CONVERSION_PATH);
    }
    Map<Integer, Integer> statuses = new TreeMap<>();
    Map<String, Integer> failures = new TreeMap<>();
    long warm = 0;
    int threads = ManagementFactory.getThreadMXBean().getThreadCount();
    for (long i = 0; i < BODIES; i++) {
      if (i == BODIES / 2) {
        warm = kept();
      }
      long seed = SEED + i;
      String path = paths.get((int) (i % paths.size()));
      byte[] body = body(path, new SplittableRandom(seed), seed);
      try {
        statuses.merge(answered(path, body), 1, Integer::sum);
      } catch (IOException | RuntimeException | Error e) {
        if (failures.merge(HostileSamples.place(e), 1, Integer::sum) == 1) {
          System.out.println("seed " + seed + " " + path + ": " + cut(body) + "\n  " + e);
        }
      }
    }
    long grown = kept() - warm;
    int moreThreads = ManagementFactory.getThreadMXBean().getThreadCount() - threads;
    System.out.printf(
        "hostile bodies: %d sent to %d paths, answers by status %s, %d failures %s, %d conversions"
            + " failed by a fault of ours, heap grew by %d KiB, peak of heap %d MiB, %d threads"
            + " more%n",
        BODIES,
        functions.size() + 1,
        statuses,
        failures.values().stream().mapToInt(it -> it).sum(),
        failures,
        converterFaults.get(),
        grown >> 10,
        HostileSamples.peakOfHeap() >> 20,
        moreThreads);
    assertThat(failures).isEmpty();
    assertThat(converterFaults).hasValue(0);
    assertThat(statuses.keySet()).isSubsetOf(200, 400);
    assertThat(grown).as("bytes kept of the second half of all bodies").isLessThan(MOST_KEPT);
    assertThat(moreThreads).as("threads that answers left behind").isLessThan(MOST_THREADS);
  }

  /** The converter answers even when it fails in a way that nobody thought of, and logs that. */
  private void countConverterFaults() {
    AppenderBase<ILoggingEvent> counter =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            if (converterFaults.incrementAndGet() == 1) {
              System.out.println(event.getFormattedMessage());
            }
          }
        };
    counter.start();
    Logger logger = (Logger) LoggerFactory.getLogger(ConversionWebhook.class);
    logger.setAdditive(false);
    logger.addAppender(counter);
  }

  private int answered(String path, byte[] body) throws IOException {
    RequestBody requestBody = RequestBody.of(body);
    Request request = new Request("POST", path, "", Map.of(), requestBody);
    assertThat(endpoint.cost(request)).isNotNegative();
    Response response = endpoint.answer(request);
    if (response.status() != 200) {
      assertThat(new String(response.body(), StandardCharsets.UTF_8)).isNotBlank();
      return response.status();
    }
    JsonNode answer = JSON.readTree(response.body()).path("response");
    if (path.equals(WebhookEndpoint.CONVERSION_PATH)) {
      converted(answer, body);
    } else {
      judged(answer);
    }
    return response.status();
  }

  private static void judged(JsonNode answer) throws IOException {
    assertThat(answer.path("uid").isTextual()).isTrue();
    assertThat(answer.path("allowed").isBoolean()).isTrue();
    if (!answer.path("allowed").asBoolean()) {
      assertThat(answer.path("status").path("message").asText()).isNotBlank();
      assertThat(answer.path("status").path("code").asInt()).isIn(400, 403);
    } else if (answer.has("patch")) {
      byte[] patch = Base64.getDecoder().decode(answer.path("patch").asText());
      assertThat(JSON.readTree(patch).isArray()).isTrue();
    }
  }

  private static void converted(JsonNode answer, byte[] body) throws IOException {
    JsonNode result = answer.path("result");
    if (result.path("status").asText().equals("Success")) {
      // Bytes that are no UTF-8 are read as the character that stands for them.
      JsonNode review = JSON.readTree(new String(body, StandardCharsets.UTF_8));
      assertThat(answer.path("convertedObjects"))
          .hasSameSizeAs(review.path("request").path("objects"));
    } else {
      assertThat(result.path("status").asText()).isEqualTo("Failed");
      assertThat(result.path("message").asText()).isNotBlank();
    }
  }

  private byte[] body(String path, SplittableRandom random, long seed) {
    ObjectNode review =
        path.equals(WebhookEndpoint.CONVERSION_PATH) ? conversion(random) : review(path, random);
    Mutations mutations = new Mutations(seed);
    ObjectNode mutant =
        switch (random.nextInt(4)) {
          case 0 -> mutations.of(review);
          case 1 -> mutations.of(mutations.of(review));
          default -> objectChanged(review, mutations);
        };
    byte[] bytes = HostileSamples.text(mutant).getBytes(StandardCharsets.UTF_8);
    return random.nextInt(4) == 0 ? changed(bytes, random) : bytes;
  }

  /** The review with another object in it, and otherwise as an API server writes it. */
  private static ObjectNode objectChanged(ObjectNode review, Mutations mutations) {
    ObjectNode request = (ObjectNode) review.path("request");
    if (request.path("object") instanceof ObjectNode object) {
      request.set("object", mutations.of(object));
    }
    if (request.path("objects").path(0) instanceof ObjectNode object) {
      request.putArray("objects").add(mutations.of(object)).add(object);
    }
    return review;
  }

  private ObjectNode review(String path, SplittableRandom random) {
    ObjectNode object = samples.get(random.nextInt(samples.size()));
    for (ObjectNode sample : samples) {
      if (random.nextInt(10) > 0
          && path.endsWith("-" + sample.path("kind").asText().toLowerCase(Locale.ROOT))) {
        object = sample;
      }
    }
    ObjectNode review = JsonNodeFactory.instance.objectNode();
    review.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
    ObjectNode request = review.putObject("request");
    request.put("uid", "u").put("operation", OPERATIONS.get(random.nextInt(OPERATIONS.size())));
    request.put("namespace", "team").put("name", "a").put("dryRun", false);
    request.putObject("kind").put("group", "").put("version", "v1").put("kind", "K");
    request.putObject("userInfo").put("username", "mallory").putArray("groups").add("g");
    if (random.nextInt(5) == 0) {
      request.put("subResource", "status");
    }
    request.set("object", object.deepCopy());
    request.set("oldObject", object.deepCopy());
    return review;
  }

  private ObjectNode conversion(SplittableRandom random) {
    ObjectNode review = JsonNodeFactory.instance.objectNode();
    review.put("apiVersion", "apiextensions.k8s.io/v1").put("kind", "ConversionReview");
    ObjectNode request = review.putObject("request").put("uid", "u");
    request.put("desiredAPIVersion", version(random));
    List<ObjectNode> ours =
        samples.stream()
            .filter(it -> it.path("apiVersion").asText().startsWith("kueue.x-k8s.io/"))
            .toList();
    for (int i = 0; i <= random.nextInt(3); i++) {
      ObjectNode object = ours.get(random.nextInt(ours.size())).deepCopy();
      request.withArray("objects").add(object.put("apiVersion", version(random)));
    }
    return review;
  }

  private static String version(SplittableRandom random) {
    return "kueue.x-k8s.io/" + VERSIONS.get(random.nextInt(VERSIONS.size()));
  }

  private static byte[] changed(byte[] bytes, SplittableRandom random) {
    byte[] result = Arrays.copyOf(bytes, bytes.length);
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(9)) {
      case 0 -> {
        return Arrays.copyOf(bytes, at);
      }
      case 3 -> result[at] ^= (byte) (1 << random.nextInt(8));
      case 4 -> result = inserted(bytes, at, NO_UTF8.get(random.nextInt(NO_UTF8.size())));
      case 5 -> result = inserted(bytes, at, text("[", 1 + random.nextInt(5_000)));
      case 6 -> result = inserted(bytes, at, text("9", 1 + random.nextInt(5_000)));
      case 7 -> result = withRepeatedKey(bytes, at, random);
      case 1 -> result[at] = (byte) random.nextInt(256);
      case 2 -> result[at] = (byte) "{}[],:\"\\0-e".charAt(random.nextInt(11));
      default -> {
        int more = random.nextInt(64);
        result = Arrays.copyOf(bytes, bytes.length + more);
        System.arraycopy(bytes, at, result, Math.min(at + more, bytes.length), bytes.length - at);
      }
    }
    return result;
  }

  /** The next member of an object is there twice, with another value first, or all but empty. */
  private static byte[] withRepeatedKey(byte[] bytes, int at, SplittableRandom random) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    Matcher key = KEY.matcher(text);
    return key.find(at)
        ? inserted(
            bytes,
            key.start(),
            (key.group() + VALUES.get(random.nextInt(VALUES.size())) + ",")
                .getBytes(StandardCharsets.ISO_8859_1))
        : bytes;
  }

  private static byte[] text(String part, int times) {
    return part.repeat(times).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] inserted(byte[] bytes, int at, byte[] more) {
    byte[] result = Arrays.copyOf(bytes, bytes.length + more.length);
    System.arraycopy(more, 0, result, at, more.length);
    System.arraycopy(bytes, at, result, at + more.length, bytes.length - at);
    return result;
  }

  private static long kept() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static String cut(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8);
    return text.length() > 1500 ? text.substring(0, 1500) + "…" : text;
  }
}
