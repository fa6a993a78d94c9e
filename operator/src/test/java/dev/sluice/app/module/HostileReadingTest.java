package dev.sluice.app.module;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.kube.reflect.GuardedListeners;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.queues.cache.CacheEventFeed;
import dev.sluice.testing.HostileSamples;
import dev.sluice.testing.Mutations;
import dev.sluice.webhooks.kinds.WebhookKind;
import dev.sluice.webhooks.kinds.Webhooks;
import dev.sluice.webhooks.review.WebhookRouter;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.WebhookSettings;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Objects of every kind that is watched, changed by somebody who means harm, go through the readers
 * of the operator and through its webhooks: nothing may throw. {@code -Dsluice.fuzz.objects=N}
 * feeds N of them, {@code -Dsluice.fuzz.seed=N} begins with others; an object that fails is printed
 * with the seed that makes it alone.
 */
@Order(4) // long ones begin early
class HostileReadingTest {

  private static final long OBJECTS = Long.getLong("sluice.fuzz.objects", 10_000);
  private static final long SEED = Long.getLong("sluice.fuzz.seed", 1);
  private final AtomicLong unreadable = new AtomicLong();
  private final ReadErrorLog faults = new ReadErrorLog();
  private final KubernetesSerialization serialization = KubernetesClients.serialization(faults);
  private final Map<String, ObjectNode> samples = HostileSamples.byKind();
  private final HostileWorld world = new HostileWorld();

  @Test
  void whateverIsInAnObjectReadingEndsWithAnObject() throws IOException {
    faults.listen((fault, news) -> unreadable.incrementAndGet());
    Map<String, Integer> thrown = new TreeMap<>();
    quiet(thrown);
    List<ObjectNode> all = new ArrayList<>(samples.values());
    for (ObjectNode sample : all) {
      feed(sample, 0);
    }
    assertThat(unreadable).as("honest objects are readable").hasValue(0);
    Map<String, Integer> failures = new TreeMap<>();
    for (long i = 0; i < OBJECTS; i++) {
      long seed = SEED + i;
      ObjectNode sample = all.get((int) (i % all.size()));
      ObjectNode mutant = new Mutations(seed).of(sample);
      try {
        feed(mutant, seed);
      } catch (RuntimeException | StackOverflowError | AssertionError e) {
        if (failures.merge(HostileSamples.place(e), 1, Integer::sum) == 1) {
          System.out.println("seed " + seed + ": " + cut(mutant) + "\n  " + trace(e));
        }
      }
    }
    System.out.printf(
        "hostile objects: %d fed of %d kinds, %d reported unreadable, %d failures, peak of"
            + " heap %d MiB%n",
        OBJECTS,
        all.size(),
        unreadable.get(),
        failures.values().stream().mapToInt(it -> it).sum(),
        HostileSamples.peakOfHeap() >> 20);
    assertThat(failures).isEmpty();
    assertThat(thrown).as("caught on the way to the engine").isEmpty();
  }

  /**
   * Counts exceptions that are logged instead of printing them. Objects are fed by one thread; what
   * other threads log is of other tests.
   */
  private static void quiet(Map<String, Integer> counts) {
    String own = Thread.currentThread().getName();
    AppenderBase<ILoggingEvent> counter =
        new AppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            if (event.getThreadName().equals(own)
                && event.getThrowableProxy() instanceof ThrowableProxy it) {
              counts.merge(HostileSamples.place(it.getThrowable()), 1, Integer::sum);
            }
          }
        };
    counter.start();
    for (Class<?> noisy :
        List.of(CacheEventFeed.class, GuardedListeners.class, ReadErrorLog.class)) {
      Logger logger = (Logger) LoggerFactory.getLogger(noisy);
      logger.setAdditive(false);
      logger.addAppender(counter);
    }
  }

  private void feed(ObjectNode object, long seed) throws IOException {
    String text = HostileSamples.text(object);
    String kind = object.path("kind").asText();
    Class<? extends HasMetadata> type = HostileWorld.TYPES.get(kind);
    if (kind.equals("ClusterProfile")) {
      world.clusterProfile(
          Objects.requireNonNull(serialization.unmarshal(text, GenericKubernetesResource.class)));
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    boolean stored = world.parse(kind, bytes, object, faults);
    if (!stored && type != null) {
      HasMetadata read = Objects.requireNonNull(serialization.unmarshal(text, type));
      assertThat(read.getMetadata()).isNotNull();
      world.take(read);
    } else if (!stored) {
      world.workload(bytes);
    }
    if (seed % 8 == 0) {
      assertThat(serialization.unmarshal(text, GenericKubernetesResource.class)).isNotNull();
    }
    webhooks(object, kind);
  }

  private void webhooks(ObjectNode object, String kind) {
    ObjectNode honest = Objects.requireNonNull(samples.get(kind));
    for (WebhookKind reviewed : WebhookKind.all()) {
      if (reviewed.kind().equals(kind)) {
        for (String operation : List.of("CREATE", "UPDATE")) {
          byte[] review = review(operation, object, honest);
          judged(reviewed.validatingPath(), review);
          if (!reviewed.mutating().isEmpty()) {
            judged(reviewed.mutatingPath(), review);
          }
        }
        judged(reviewed.validatingPath(), review("UPDATE", honest, object));
      }
    }
  }

  private void judged(String path, byte[] review) {
    int status = router.answer(path, new ByteArrayInputStream(review)).status();
    assertThat(status).isIn(200, 400);
  }

  private static byte[] review(String operation, JsonNode now, JsonNode before) {
    ObjectNode review = JsonNodeFactory.instance.objectNode();
    review.put("kind", "AdmissionReview");
    ObjectNode request = review.putObject("request");
    request.put("uid", "u").put("operation", operation).put("namespace", "team").put("name", "a");
    request.putObject("userInfo").put("username", "mallory");
    request.set("object", now);
    if (operation.equals("UPDATE")) {
      request.set("oldObject", before);
    }
    return HostileSamples.text(review).getBytes(StandardCharsets.UTF_8);
  }

  private final WebhookRouter router =
      new WebhookRouter(Webhooks.functions(settings(), new Facts()));

  /** All kinds are managed. */
  static WebhookSettings settings() {
    try {
      WebhookSettings plain =
          WebhookSettings.of(
              ConfigurationLoader.load(Optional.empty(), Optional.empty(), () -> "kueue-system"));
      return new WebhookSettings(
          true,
          labels -> true,
          BuiltInIntegrations.descriptions().stream()
              .map(kind -> kind.kind().framework())
              .collect(Collectors.toSet()),
          plain.gates(),
          plain.working());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** A cluster in which everything is set. */
  static final class Facts implements ClusterLookup {

    @Override
    public boolean hasDefaultLocalQueue(String namespace) {
      return true;
    }

    @Override
    public boolean hasDefaultPriorityClass() {
      return true;
    }

    @Override
    public Map<String, String> namespaceLabels(String namespace) {
      return Map.of();
    }

    @Override
    public boolean runsElsewhere(String namespace, String queue) {
      return true;
    }

    @Override
    public boolean isManaged(String namespace, Owner owner) {
      return false;
    }
  }

  private static String trace(Throwable e) {
    List<String> frames = new ArrayList<>(List.of(String.valueOf(e)));
    for (StackTraceElement frame : e.getStackTrace()) {
      if (frames.size() < 12) {
        frames.add(frame.toString());
      }
    }
    return String.join("\n    ", frames);
  }

  private static String cut(JsonNode object) {
    String text = HostileSamples.text(object);
    return text.length() > 1500 ? text.substring(0, 1500) + "…" : text;
  }
}
