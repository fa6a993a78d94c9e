package dev.sluice.api.crd;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import dev.sluice.api.schema.ConvertedByWebhook;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDGenerator.AbstractCRDOutput;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.ParameterizedType;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** The files of the directory {@code crds}, made of the API types. */
public final class CrdFiles {

  private static final String HEADER =
      "# Generated from the types in dev.sluice.api; see docs/develop.md for how to renew it.\n";

  private static final List<Class<? extends CustomResource<?, ?>>> TYPES =
      List.of(
          dev.sluice.api.v1beta2.AdmissionCheck.class,
          dev.sluice.api.v1beta1.AdmissionCheck.class,
          dev.sluice.api.v1beta2.ClusterQueue.class,
          dev.sluice.api.v1beta1.ClusterQueue.class,
          dev.sluice.api.v1alpha2.ClusterQueue.class,
          dev.sluice.api.v1beta2.Cohort.class,
          dev.sluice.api.v1beta1.Cohort.class,
          dev.sluice.api.v1beta2.LocalQueue.class,
          dev.sluice.api.v1beta1.LocalQueue.class,
          dev.sluice.api.v1alpha2.LocalQueue.class,
          dev.sluice.api.v1beta2.MultiKueueCluster.class,
          dev.sluice.api.v1beta1.MultiKueueCluster.class,
          dev.sluice.api.v1beta2.MultiKueueConfig.class,
          dev.sluice.api.v1beta1.MultiKueueConfig.class,
          dev.sluice.api.v1beta2.ProvisioningRequestConfig.class,
          dev.sluice.api.v1beta1.ProvisioningRequestConfig.class,
          dev.sluice.api.v1beta2.ResourceFlavor.class,
          dev.sluice.api.v1beta1.ResourceFlavor.class,
          dev.sluice.api.v1alpha2.ResourceFlavor.class,
          dev.sluice.api.v1beta2.Topology.class,
          dev.sluice.api.v1beta1.Topology.class,
          dev.sluice.api.v1beta2.Workload.class,
          dev.sluice.api.v1beta1.Workload.class,
          dev.sluice.api.v1beta2.WorkloadPriorityClass.class,
          dev.sluice.api.v1beta1.WorkloadPriorityClass.class);

  private final ObjectMapper yaml =
      new ObjectMapper(
          new YAMLFactory()
              .disable(YAMLGenerator.Feature.SPLIT_LINES)
              .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
              .enable(YAMLGenerator.Feature.MINIMIZE_QUOTES)
              .enable(YAMLGenerator.Feature.ALWAYS_QUOTE_NUMBERS_AS_STRINGS)
              .enable(YAMLGenerator.Feature.INDENT_ARRAYS_WITH_INDICATOR));

  /** The text of each file by its name. */
  public Map<String, String> all() {
    Map<String, String> files = new TreeMap<>();
    for (ObjectNode crd : generated()) {
      files.put(
          "kueue.x-k8s.io_%s.yaml".formatted(crd.at("/spec/names/plural").asText()),
          text(refined(crd)));
    }
    return files;
  }

  private List<ObjectNode> generated() {
    Map<String, ByteArrayOutputStream> outputs = new LinkedHashMap<>();
    try (var output = new InMemory(outputs)) {
      new CRDGenerator()
          .forCRDVersions("v1")
          .withParallelGenerationEnabled(false)
          .withOutput(output)
          .customResourceClasses(List.<Class<? extends HasMetadata>>copyOf(TYPES))
          .generate();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return outputs.values().stream().map(bytes -> (ObjectNode) read(bytes.toByteArray())).toList();
  }

  private ObjectNode refined(ObjectNode crd) {
    var refiner = new SchemaRefiner(parts());
    String kind = crd.at("/spec/names/kind").asText();
    for (JsonNode version : crd.at("/spec/versions")) {
      Class<?> type = type(kind, version.get("name").asText());
      ObjectNode schema = (ObjectNode) version.at("/schema/openAPIV3Schema");
      schema.put("description", type.getAnnotation(JsonClassDescription.class).value());
      refiner.refine(type, schema);
      var arguments = ((ParameterizedType) type.getGenericSuperclass()).getActualTypeArguments();
      part(refiner, arguments[0], schema, "spec", "What is wanted.");
      part(refiner, arguments[1], schema, "status", "What was observed.");
      ((ObjectNode) version.get("schema")).set("openAPIV3Schema", sorted(schema));
    }
    conversion(crd, type(kind, "v1beta2").isAnnotationPresent(ConvertedByWebhook.class));
    return crd;
  }

  private static void part(
      SchemaRefiner refiner,
      java.lang.reflect.Type type,
      ObjectNode schema,
      String name,
      String description) {
    ObjectNode properties = (ObjectNode) schema.get("properties");
    if (Void.class.equals(type)) {
      properties.remove(name);
    } else if (properties.get(name) instanceof ObjectNode part) {
      part.put("description", description);
      refiner.refine((Class<?>) type, part);
    }
  }

  private static JsonNode sorted(JsonNode node) {
    return switch (node) {
      case ObjectNode object -> {
        ObjectNode result = object.objectNode();
        object.properties().stream()
            .sorted(Map.Entry.comparingByKey())
            .forEach(entry -> result.set(entry.getKey(), sorted(entry.getValue())));
        if (result.get("x-kubernetes-validations") instanceof ArrayNode rules) {
          result.set("x-kubernetes-validations", withoutRepetition(rules));
        }
        yield result;
      }
      case ArrayNode array -> {
        ArrayNode result = array.arrayNode();
        array.forEach(item -> result.add(sorted(item)));
        yield result;
      }
      case DoubleNode number when number.canConvertToExactIntegral() ->
          LongNode.valueOf(number.longValue());
      default -> node;
    };
  }

  /** The generator finds a rule twice that a record's component carries: field and accessor. */
  private static ArrayNode withoutRepetition(ArrayNode rules) {
    Set<JsonNode> distinct = new LinkedHashSet<>();
    rules.forEach(distinct::add);
    return rules.arrayNode().addAll(distinct);
  }

  private static void conversion(ObjectNode crd, boolean byWebhook) {
    ObjectNode conversion = ((ObjectNode) crd.get("spec")).putObject("conversion");
    conversion.put("strategy", byWebhook ? "Webhook" : "None");
    if (byWebhook) {
      ObjectNode webhook = conversion.putObject("webhook");
      webhook
          .putObject("clientConfig")
          .putObject("service")
          .put("name", "kueue-webhook-service")
          .put("namespace", "kueue-system")
          .put("path", "/convert")
          .put("port", 443);
      webhook.putArray("conversionReviewVersions").add("v1");
    }
  }

  private static Class<?> type(String kind, String version) {
    String name = "dev.sluice.api.%s.%s".formatted(version, kind);
    return TYPES.stream().filter(type -> type.getName().equals(name)).findFirst().orElseThrow();
  }

  private Map<String, JsonNode> parts() {
    try (InputStream in = CrdFiles.class.getResourceAsStream("/crd/parts.yaml")) {
      Map<String, JsonNode> parts = new LinkedHashMap<>();
      read(Objects.requireNonNull(in, "crd/parts.yaml").readAllBytes())
          .properties()
          .forEach(entry -> parts.put(entry.getKey(), entry.getValue()));
      return parts;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private JsonNode read(byte[] text) {
    try {
      return yaml.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String text(ObjectNode crd) {
    try {
      return HEADER + yaml.writeValueAsString(crd);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class InMemory extends AbstractCRDOutput<ByteArrayOutputStream> {
    private final Map<String, ByteArrayOutputStream> outputs;

    InMemory(Map<String, ByteArrayOutputStream> outputs) {
      this.outputs = outputs;
    }

    @Override
    protected ByteArrayOutputStream createStreamFor(String name) {
      return outputs.computeIfAbsent(name, ignored -> new ByteArrayOutputStream());
    }
  }
}
