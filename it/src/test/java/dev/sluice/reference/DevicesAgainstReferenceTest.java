package dev.sluice.reference;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent.PodSetRequest;
import dev.sluice.reference.RandomDevices.DeviceStep;
import dev.sluice.workload.devices.PlayedDevices;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Random objects, configurations and Workloads, given to the count of devices of the operator and
 * to the reference. What is compared is what the engine is told of a Workload.
 */
class DevicesAgainstReferenceTest {

  /** How much was compared, by what came of it. */
  static final class Totals {
    final AtomicLong charged = new AtomicLong();
    final AtomicLong unresolved = new AtomicLong();
    final AtomicLong misconfigured = new AtomicLong();
    final AtomicLong claims = new AtomicLong();
  }

  @Test
  void devicesCountTheSame() {
    Totals totals = new Totals();
    Worlds.play(
        "devices",
        6_000,
        (seed, length) -> new RandomDevices(seed).steps(length),
        (seed, world) -> new Comparison(DeviceFlaw.NONE, totals).play(world));
    System.out.printf(
        "devices: charged=%s unresolved=%s misconfigured=%s claims=%s%n",
        totals.charged, totals.unresolved, totals.misconfigured, totals.claims);
    assertThat(List.of(totals.charged, totals.unresolved, totals.misconfigured, totals.claims))
        .allMatch(number -> number.get() > 0);
  }

  /** Each is rare in random worlds, and hidden by what else keeps a Workload waiting. */
  @Test
  void strangeSelectorsCountTheSame() throws JsonProcessingException {
    ObjectMapper mapper = new ObjectMapper();
    Totals totals = new Totals();
    for (String expression : RandomSelectors.known().toList()) {
      ObjectNode template =
          (ObjectNode)
              mapper.readTree(
                  """
                  {"metadata": {"name": "t", "namespace": "team"}, "spec": {"spec": {"devices": {"requests": [
                    {"name": "r", "exactly": {"deviceClassName": "c", "selectors": [{"cel": {}}]}}]}}}}
                  """);
      ((ObjectNode) template.at("/spec/spec/devices/requests/0/exactly/selectors/0/cel"))
          .put("expression", expression);
      new Comparison(DeviceFlaw.NONE, totals)
          .play(
              List.of(
                  new DeviceStep.Configure(
                      mapper.readTree(
                          """
                          {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "resources":
                            {"deviceClassMappings": [{"name": "gpus", "deviceClassNames": ["c"]}]}}
                          """)),
                  new DeviceStep.Put("class", mapper.readTree("{\"metadata\": {\"name\": \"c\"}}")),
                  new DeviceStep.Put(
                      "slice",
                      mapper.readTree(
                          """
                          {"metadata": {"name": "s"}, "spec": {"driver": "d.com", "devices": [{"name": "a"}],
                            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}
                          """)),
                  new DeviceStep.Put("template", template),
                  new DeviceStep.Ask(
                      mapper.readTree(
                          """
                          {"metadata": {"name": "w", "namespace": "team", "uid": "u", "resourceVersion": "1",
                            "creationTimestamp": "2026-03-01T10:00:00Z"},
                            "spec": {"queueName": "q", "podSets": [{"name": "main", "count": 1, "template":
                              {"spec": {"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "t"}]}}}]}}
                          """))));
    }
    assertThat(totals.charged).as("selectors that a device meets").hasValue(1);
  }

  /** Both counts, told the same. */
  static final class Comparison {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final WorkloadParser PARSER = new WorkloadParser();

    private final Map<List<String>, JsonNode> objects = new LinkedHashMap<>();
    private final Totals totals;
    private final ReferenceDeviceCluster cluster;
    private final ReferenceDevices reference;
    private Configuration configuration;
    private PlayedDevices real;
    private WorkloadTranslator translator;

    /**
     * Nothing is compared yet.
     *
     * @param flaw a rule that the reference breaks
     */
    Comparison(DeviceFlaw flaw, Totals totals) {
      this.totals = totals;
      cluster = new ReferenceDeviceCluster(flaw);
      reference = new ReferenceDevices(cluster);
      start(
          loaded("{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration}").orElseThrow());
    }

    private void start(Configuration changed) {
      configuration = changed;
      real = new PlayedDevices(configuration);
      objects.forEach((name, object) -> real.put(name.getFirst(), name.getLast(), object));
      translator =
          new WorkloadTranslator(
              real,
              new TranslationOptions(
                  configuration.featureGates(),
                  configuration.resources(),
                  Optional.empty(),
                  false));
    }

    private static Optional<Configuration> loaded(String text) {
      try {
        return Optional.of(ConfigurationLoader.parse(text, "", () -> "sluice-system"));
      } catch (ConfigurationException e) {
        return Optional.empty();
      }
    }

    void play(List<DeviceStep> steps) {
      for (DeviceStep step : steps) {
        switch (step) {
          case DeviceStep.Put(String kind, JsonNode object) -> {
            String key = ReferenceDeviceCluster.key(object);
            objects.put(List.of(kind, key), object);
            real.put(kind, key, object);
            cluster.put(kind, object);
          }
          case DeviceStep.Remove(String kind, String key) -> {
            objects.remove(List.of(kind, key));
            real.remove(kind, key);
            cluster.remove(kind, key);
          }
          case DeviceStep.Configure(JsonNode file) -> configure(file);
          case DeviceStep.Ask(JsonNode workload) -> ask(workload);
          case DeviceStep.Claimed(String key) -> claimed(key);
        }
      }
    }

    private void configure(JsonNode file) {
      ReferenceDeviceSettings settings = ReferenceDeviceSettings.of(file);
      Optional<Configuration> loaded = loaded(file.toString());
      assertThat(loaded.isPresent()).as("configuration: %s", file).isEqualTo(settings.isAllowed());
      if (loaded.isPresent()) {
        cluster.settings = settings;
        start(loaded.get());
      }
    }

    private void ask(JsonNode object) {
      CachedWorkload workload = parsed(object);
      List<ReferenceDevices.Pod> expected = reference.ask(object);
      Optional<String> unresolved = translator.unresolvedDevices(workload);
      assertThat(unresolved.isPresent())
          .as("unresolved: %s %s", unresolved, object)
          .isEqualTo(expected.stream().anyMatch(pod -> pod.unresolved));
      if (translator.of(workload) instanceof SchedulerEvent.WorkloadPending(var pending)) {
        assertThat(unresolved).as("queued: %s", object).isEmpty();
        compare(object, pending, expected);
      } else {
        assertThat(unresolved).as("not queued: %s", object).isPresent();
        totals.unresolved.incrementAndGet();
      }
    }

    private void compare(
        JsonNode object, PendingWorkload pending, List<ReferenceDevices.Pod> expected) {
      boolean misconfigured = expected.stream().anyMatch(pod -> pod.misconfigured);
      assertThat(pending.defect().isPresent())
          .as("misconfigured: %s %s", pending.defect(), object)
          .isEqualTo(misconfigured);
      if (misconfigured) {
        totals.misconfigured.incrementAndGet();
        return;
      }
      for (int i = 0; i < expected.size(); i++) {
        PodSetRequest real = pending.shape().podSets().get(i);
        assertThat(exact(real.perPod()))
            .as("amounts: %s", object)
            .isEqualTo(without0(expected.get(i).amounts));
        assertThat(exact(real.nodeRequests()))
            .as("requests of nodes: %s", object)
            .isEqualTo(without0(expected.get(i).onNode));
        assertThat(real.count())
            .as("pods: %s", object)
            .isEqualTo(object.at("/spec/podSets").path(i).path("count").asInt());
      }
      totals.charged.incrementAndGet();
    }

    private static CachedWorkload parsed(JsonNode object) {
      try {
        return PARSER.parse(MAPPER.writeValueAsBytes(object));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static Map<String, BigInteger> exact(SortedMap<String, Long> amounts) {
      TreeMap<String, BigInteger> result = new TreeMap<>();
      amounts.forEach((resource, amount) -> result.put(resource, BigInteger.valueOf(amount)));
      return without0(result);
    }

    private static Map<String, BigInteger> without0(TreeMap<String, BigInteger> amounts) {
      amounts.values().removeIf(amount -> amount.signum() == 0);
      return amounts;
    }

    private void claimed(String key) {
      JsonNode claim = objects.get(List.of("claim", key));
      if (claim == null || configuration.resources().deviceClasses().isEmpty()) {
        return;
      }
      SortedMap<String, Long> counted = real.claimed(key);
      Optional<TreeMap<String, BigInteger>> expected = reference.claimed(claim);
      boolean countable =
          configuration.resources().deviceClasses().stream()
              .map(mapping -> mapping.resource())
              .toList()
              .containsAll(counted.keySet());
      assertThat(countable).as("countable: %s", claim).isEqualTo(expected.isPresent());
      expected.ifPresent(
          amounts ->
              assertThat(exact(counted)).as("claim: %s", claim).isEqualTo(without0(amounts)));
      totals.claims.incrementAndGet();
    }
  }
}
