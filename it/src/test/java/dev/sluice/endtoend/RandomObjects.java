package dev.sluice.endtoend;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.lab.player.KindManifest;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Objects of every kind that runs pods, made of the sample manifests with other names, sizes and
 * times. What is made depends on the random numbers alone.
 */
final class RandomObjects {

  private static final String SAMPLE = "-sample";

  /** Kinds without a sample; the text in angle brackets is a pod template. */
  private static final List<String> FURTHER =
      List.of(
          "{kind: ReplicaSet, apiVersion: apps/v1, metadata: {name: replicaset-sample}, spec:"
              + " {replicas: 2, selector: {matchLabels: {app: replicaset-sample}}, template: <>}}",
          "{kind: ReplicationController, apiVersion: v1, metadata:"
              + " {name: replicationcontroller-sample}, spec: {replicas: 2, selector:"
              + " {app: replicationcontroller-sample}, template: <>}}",
          "{kind: CronJob, apiVersion: batch/v1, metadata: {name: cronjob-sample}, spec:"
              + " {schedule: '* * * * *', jobTemplate: {spec: {parallelism: 2, template: <>}}}}");

  private static final List<String> CPUS = List.of("1", "1", "1", "500m", "2", "250m", "3", "0");
  private static final List<String> TIMES =
      List.of("300ms", "1s", "1s", "2s", "2s", "5s", "5s", "60m");
  private static final List<Integer> GRACES = List.of(0, 1, 1, 30, 86_400);
  private static final List<String> QUEUES = List.of("lq", "lq", "lq", "lq", "other", "nowhere");
  private static final List<String> COUNTS =
      List.of(
          "parallelism",
          "completions",
          "replicas",
          "instances",
          "numNodes",
          "minReplicas",
          "maxReplicas",
          "numOfHosts",
          "size",
          "activeDeadlineSeconds",
          "backoffLimit");

  private final List<Sample> samples = new ArrayList<>();

  /**
   * The objects that are one job, and how often they are drawn.
   *
   * @param name what their names begin with
   */
  private record Sample(String name, List<ObjectNode> objects, int weight) {}

  /** Reads the samples. */
  RandomObjects() {
    for (KindManifest manifest : KindManifest.all()) {
      int weight =
          switch (manifest.name()) {
            case "job" -> 8;
            case "pod" -> 6;
            case "podgroup", "deployment", "statefulset", "jobset" -> 3;
            default -> 2;
          };
      samples.add(new Sample(manifest.name(), manifest.objects(), weight));
    }
    for (String text : FURTHER) {
      ObjectNode object =
          JsonMappers.JSON.valueToTree(
              Serialization.unmarshal("---\n" + text.replace("<>", template(text)), Object.class));
      String name = object.at("/metadata/name").asText().replace(SAMPLE, "");
      samples.add(new Sample(name, List.of(object), 2));
    }
  }

  private static String template(String text) {
    String name = text.replaceAll(".*\\{name: ([a-z-]+)\\}.*", "$1");
    String policy = text.contains("Cron") ? "restartPolicy: Never, " : "";
    return "{metadata: {labels: {app: %s}}, spec: {%scontainers: [{name: main, image: none}]}}"
        .formatted(name, policy);
  }

  /** The kinds of all objects that may be made. */
  List<JobKind> kinds() {
    return samples.stream()
        .flatMap(sample -> sample.objects().stream())
        .map(RandomObjects::kind)
        .distinct()
        .toList();
  }

  /** The kind of an object. */
  static JobKind kind(JsonNode object) {
    String version = object.path("apiVersion").asText();
    int slash = version.indexOf('/');
    return JobKind.of(
        slash < 0 ? "" : version.substring(0, slash),
        version.substring(slash + 1),
        object.path("kind").asText());
  }

  /** The objects of one job, named by one of so many names of its kind. */
  List<ObjectNode> job(Random random, int names) {
    int drawn = random.nextInt(samples.stream().mapToInt(Sample::weight).sum());
    for (Sample sample : samples) {
      drawn -= sample.weight();
      if (drawn < 0) {
        return of(sample, random, names);
      }
    }
    throw new IllegalStateException("no sample");
  }

  private static List<ObjectNode> of(Sample sample, Random random, int names) {
    String name = sample.name() + "-" + random.nextInt(names);
    List<ObjectNode> objects = new ArrayList<>();
    for (ObjectNode original : sample.objects()) {
      ObjectNode object = renamed(original, sample.name() + SAMPLE, name);
      vary(object, random);
      queue(object, random);
      if (random.nextInt(12) == 0) {
        RandomMetadata.add(object.withObjectProperty("metadata"), random);
      }
      objects.add(object);
    }
    return objects;
  }

  private static ObjectNode renamed(ObjectNode original, String from, String to) {
    try {
      return (ObjectNode) JsonMappers.JSON.readTree(original.toString().replace(from, to));
    } catch (JsonProcessingException ownText) {
      throw new IllegalStateException(ownText);
    }
  }

  private static void queue(ObjectNode object, Random random) {
    ObjectNode labels = object.withObjectProperty("metadata").withObjectProperty("labels");
    if (random.nextInt(10) == 0) {
      labels.remove("kueue.x-k8s.io/queue-name");
    } else {
      labels.put("kueue.x-k8s.io/queue-name", pick(QUEUES, random));
    }
  }

  /** Other sizes and times everywhere below a node. */
  private static void vary(JsonNode node, Random random) {
    if (node instanceof ObjectNode object) {
      if (object.path("containers") instanceof ArrayNode containers) {
        varyPod(object, containers, random);
      }
      if (object.path("spec").has("containers")) {
        ObjectNode annotations =
            object.withObjectProperty("metadata").withObjectProperty("annotations");
        annotations.put("sluice.dev/run-for", pick(TIMES, random));
        if (random.nextInt(4) == 0) {
          annotations.put("sluice.dev/terminates", "late");
        }
      }
      for (String count : COUNTS) {
        if (object.path(count).isInt() && random.nextInt(3) == 0) {
          object.put(count, random.nextInt(random.nextInt(8) == 0 ? 20 : 4));
        }
      }
    }
    node.forEach(child -> vary(child, random));
  }

  private static void varyPod(ObjectNode spec, ArrayNode containers, Random random) {
    for (JsonNode container : containers) {
      request((ObjectNode) container, random);
    }
    spec.put("terminationGracePeriodSeconds", pick(GRACES, random));
    switch (random.nextInt(16)) {
      case 0 -> spec.withArray("initContainers").add(container("init", random));
      case 1 ->
          spec.withArray("initContainers")
              .add(container("sidecar", random).put("restartPolicy", "Always"));
      case 2 -> containers.add(container("istio-proxy", random));
      case 3 -> request(spec, random);
      case 4 -> spec.put("priorityClassName", "system-cluster-critical");
      case 5 -> {
        if (random.nextInt(3) == 0) {
          spec.withArray("schedulingGates").addObject().put("name", "example.com/mine");
        }
      }
      default -> {}
    }
  }

  private static ObjectNode container(String name, Random random) {
    ObjectNode container = JsonMappers.JSON.createObjectNode().put("name", name);
    request(container.put("image", "none"), random);
    return container;
  }

  private static void request(ObjectNode owner, Random random) {
    String where = random.nextInt(6) == 0 ? "limits" : "requests";
    owner.putObject("resources").putObject(where).put("cpu", pick(CPUS, random));
  }

  static <T> T pick(List<T> choices, Random random) {
    return choices.get(random.nextInt(choices.size()));
  }
}
