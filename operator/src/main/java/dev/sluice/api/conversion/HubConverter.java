package dev.sluice.api.conversion;

import static dev.sluice.api.ApiVersions.GROUP;
import static dev.sluice.api.ApiVersions.V1ALPHA2;
import static dev.sluice.api.ApiVersions.V1BETA1;
import static dev.sluice.api.ApiVersions.V1BETA2;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Converts objects between the versions of the API. The stored version is in the middle: every
 * other pair goes by way of it.
 *
 * <p>There and back again an object is what it was, but for old spellings that the stored version
 * has one word for, and for old status fields that nobody writes any more.
 */
public final class HubConverter {

  /**
   * Annotation that holds what an object says in one version and can't say in the one it is read
   * in. It is in the API's own domain, since it belongs to the object and not to one operator, and
   * goes when the object is read in a version that can say it.
   */
  public static final String ANNOTATION = "kueue.x-k8s.io/conversion-data";

  private static final Map<String, Map<String, KindConversion>> KINDS =
      Map.of(
          "ClusterQueue",
          Map.of(V1BETA1, new ClusterQueueV1Beta1(), V1ALPHA2, new ClusterQueueV1Alpha2()),
          "LocalQueue",
          Map.of(V1BETA1, new LocalQueueV1Beta1(), V1ALPHA2, new LocalQueueV1Alpha2()),
          "ResourceFlavor",
          Map.of(V1BETA1, KindConversion.same(), V1ALPHA2, new ResourceFlavorV1Alpha2()),
          "Workload",
          Map.of(V1BETA1, new WorkloadV1Beta1()),
          "Cohort",
          Map.of(V1BETA1, new CohortV1Beta1()),
          "MultiKueueCluster",
          Map.of(V1BETA1, new MultiKueueClusterV1Beta1()));

  /** Makes the conversions of all kinds. */
  public HubConverter() {}

  /**
   * The object in another version; the given one is left as it is.
   *
   * @param object an object of a kind that has a conversion, with apiVersion and kind
   * @param apiVersion group and version to convert to, such as {@code kueue.x-k8s.io/v1beta2}
   * @throws ConversionException if kind or version isn't known, or the object has a value that
   *     means nothing in the stored version
   */
  public ObjectNode convert(ObjectNode object, String apiVersion) {
    String kind = object.path("kind").asText();
    Map<String, KindConversion> conversions = KINDS.get(kind);
    if (conversions == null) {
      throw new ConversionException(
          "kind: %s has no conversion; those that have one are %s"
              .formatted(kind, KINDS.keySet().stream().sorted().toList()));
    }
    String from = version("apiVersion", object.path("apiVersion").asText(), conversions);
    String to = version("desiredAPIVersion", apiVersion, conversions);
    List.of("/metadata", "/metadata/annotations", "/spec", "/status")
        .forEach(path -> requireObject(object, path));
    ObjectNode result = object.deepCopy();
    if (!from.equals(to)) {
      convertToHub(result, from, conversions);
      convertFromHub(result, to, conversions);
    }
    result.put("apiVersion", apiVersion);
    return result;
  }

  private static void requireObject(ObjectNode object, String path) {
    JsonNode node = object.at(path);
    if (!node.isMissingNode() && !node.isNull() && !node.isObject()) {
      throw new ConversionException(
          "%s: %s is not an object; it must be one, or absent"
              .formatted(path.substring(1).replace('/', '.'), node));
    }
  }

  private static void convertToHub(
      ObjectNode object, String from, Map<String, KindConversion> conversions) {
    KindConversion conversion = conversions.get(from);
    if (conversion != null) {
      ConversionData conversionData = ConversionData.takenFrom(object, V1BETA2);
      conversion.convertToHub(object, conversionData);
      conversionData.writeTo(object, from);
    }
  }

  private static void convertFromHub(
      ObjectNode object, String to, Map<String, KindConversion> conversions) {
    KindConversion conversion = conversions.get(to);
    if (conversion != null) {
      ConversionData conversionData = ConversionData.takenFrom(object, to);
      conversion.convertFromHub(object, conversionData);
      conversionData.writeTo(object, V1BETA2);
    }
  }

  private static String version(
      String field, String apiVersion, Map<String, KindConversion> conversions) {
    String version =
        apiVersion.startsWith(GROUP + "/") ? apiVersion.substring(GROUP.length() + 1) : "";
    if (!version.equals(V1BETA2) && !conversions.containsKey(version)) {
      Set<String> known = conversions.keySet();
      throw new ConversionException(
          "%s: \"%s\" is not served for this kind; it must be one of %s"
              .formatted(
                  field,
                  apiVersion,
                  List.of(V1BETA2, V1BETA1, V1ALPHA2).stream()
                      .filter(each -> each.equals(V1BETA2) || known.contains(each))
                      .map(each -> GROUP + "/" + each)
                      .toList()));
    }
    return version;
  }

  /** Cohorts of v1beta1: past usage in the status was never written and is left out. */
  private static final class CohortV1Beta1 implements KindConversion {

    @Override
    public void convertToHub(ObjectNode object, ConversionData conversionData) {
      JsonFields.object(object.path("status").get("fairSharing"))
          .remove("admissionFairSharingStatus");
    }

    @Override
    public void convertFromHub(ObjectNode object, ConversionData conversionData) {
      conversionData.clear();
    }
  }

  /** Local queues of v1beta1: usage has another name, and the list of flavors is left out. */
  private static final class LocalQueueV1Beta1 implements KindConversion {

    @Override
    public void convertToHub(ObjectNode object, ConversionData conversionData) {
      ObjectNode status = JsonFields.object(object.get("status"));
      status.remove("flavors");
      JsonFields.rename(status, "flavorUsage", "flavorsUsage");
    }

    @Override
    public void convertFromHub(ObjectNode object, ConversionData conversionData) {
      JsonFields.rename(JsonFields.object(object.get("status")), "flavorsUsage", "flavorUsage");
    }
  }

  /** Local queues of v1alpha2: they name their cluster queue and say nothing else. */
  private static final class LocalQueueV1Alpha2 implements KindConversion {

    private static final Set<String> KNOWN = Set.of("clusterQueue");

    @Override
    public void convertToHub(ObjectNode object, ConversionData conversionData) {
      if (!conversionData.restored().isEmpty()) {
        JsonFields.fill(object.withObject("/spec"), conversionData.restored());
      }
    }

    @Override
    public void convertFromHub(ObjectNode object, ConversionData conversionData) {
      JsonFields.moveAllBut(
          JsonFields.object(object.get("spec")), KNOWN, conversionData.preserved());
    }
  }

  /**
   * Worker clusters of v1beta1: kubeconfig and cluster profile stand in the spec itself, and the
   * kubeconfig is required; one without a location stands for none.
   */
  private static final class MultiKueueClusterV1Beta1 implements KindConversion {

    @Override
    public void convertToHub(ObjectNode object, ConversionData conversionData) {
      if (object.get("spec") instanceof ObjectNode spec) {
        ObjectNode source = spec.objectNode();
        JsonFields.move(spec, "clusterProfileRef", source, "clusterProfileRef");
        JsonFields.move(spec, "kubeConfig", source, "kubeConfig");
        if (source.path("kubeConfig").path("location").asText("").isEmpty()) {
          source.remove("kubeConfig");
        }
        spec.set("clusterSource", source);
      }
    }

    @Override
    public void convertFromHub(ObjectNode object, ConversionData conversionData) {
      if (object.get("spec") instanceof ObjectNode spec) {
        ObjectNode source = JsonFields.object(spec.remove("clusterSource"));
        JsonFields.move(source, "clusterProfileRef", spec, "clusterProfileRef");
        JsonFields.move(source, "kubeConfig", spec, "kubeConfig");
        if (!spec.has("kubeConfig")) {
          spec.putObject("kubeConfig").put("location", "").put("locationType", "Secret");
        }
      }
    }
  }

  /**
   * Flavors of v1alpha2: nodes are told by the labels of the object itself, and taints stand at the
   * top. Labels of nodes that are not those of the object are shown as {@code nodeSelector}.
   */
  private static final class ResourceFlavorV1Alpha2 implements KindConversion {

    @Override
    public void convertToHub(ObjectNode object, ConversionData conversionData) {
      JsonNode selector = object.remove("nodeSelector");
      JsonNode taints = JsonFields.array(object.remove("taints"));
      ObjectNode spec = object.objectNode();
      JsonNode labels =
          selector instanceof ObjectNode given ? given : object.path("metadata").path("labels");
      JsonFields.setUnlessEmpty(spec, "nodeLabels", labels.deepCopy());
      JsonFields.setUnlessEmpty(spec, "nodeTaints", taints);
      JsonFields.fill(spec, conversionData.restored());
      JsonFields.setUnlessEmpty(object, "spec", spec);
    }

    @Override
    public void convertFromHub(ObjectNode object, ConversionData conversionData) {
      ObjectNode spec = JsonFields.object(object.remove("spec"));
      ObjectNode nodeLabels = JsonFields.object(spec.remove("nodeLabels"));
      if (!nodeLabels.equals(JsonFields.object(object.path("metadata").get("labels")))) {
        object.set("nodeSelector", nodeLabels);
      }
      JsonFields.setUnlessEmpty(object, "taints", JsonFields.array(spec.remove("nodeTaints")));
      conversionData.preserved().setAll(spec);
    }
  }

  /**
   * Cluster queues of v1beta1. Old spellings become the words of the stored version for good: names
   * of admission checks become a strategy, {@code Borrow} and {@code Preempt} become {@code
   * MayStopSearch}. Status fields that nobody writes any more are left out.
   */
  private static final class ClusterQueueV1Beta1 implements KindConversion {

    private static final String POLICY = "concurrentAdmissionPolicy";
    private static final Map<String, String> SPELLINGS =
        Map.of("whenCanBorrow", "Borrow", "whenCanPreempt", "Preempt");

    @Override
    public void convertToHub(ObjectNode object, ConversionData conversionData) {
      if (object.get("spec") instanceof ObjectNode spec) {
        JsonFields.rename(spec, "cohort", "cohortName");
        admissionChecks(spec);
        fungibility(JsonFields.object(spec.get("flavorFungibility")));
      }
      if (conversionData.restored().has(POLICY)) {
        JsonFields.move(conversionData.restored(), POLICY, object.withObject("/spec"), POLICY);
      }
      ObjectNode status = JsonFields.object(object.get("status"));
      status.remove("pendingWorkloadsStatus");
      JsonFields.object(status.get("fairSharing")).remove("admissionFairSharingStatus");
    }

    @Override
    public void convertFromHub(ObjectNode object, ConversionData conversionData) {
      if (object.get("spec") instanceof ObjectNode spec) {
        JsonFields.rename(spec, "cohortName", "cohort");
        JsonFields.move(spec, POLICY, conversionData.preserved(), POLICY);
      }
    }

    private static void admissionChecks(ObjectNode spec) {
      ArrayNode names = JsonFields.array(spec.remove("admissionChecks"));
      if (!names.isEmpty()) {
        Set<JsonNode> distinct = new LinkedHashSet<>();
        names.forEach(distinct::add);
        ArrayNode rules = spec.putObject("admissionChecksStrategy").putArray("admissionChecks");
        distinct.forEach(name -> rules.addObject().set("name", name));
      } else if (spec.path("admissionChecksStrategy").path("admissionChecks").isEmpty()) {
        spec.remove("admissionChecksStrategy");
      }
    }

    private static void fungibility(ObjectNode fungibility) {
      SPELLINGS.forEach(
          (field, old) -> {
            if (fungibility.path(field).asText().equals(old)) {
              fungibility.put(field, "MayStopSearch");
            }
          });
    }
  }

  /**
   * Workloads of v1beta1: the priority class is a name and a source, places are listed domain by
   * domain, and neither gates nor slices within slices are known.
   */
  static final class WorkloadV1Beta1 implements KindConversion {

    private static final String CONSTRAINTS = "podsetSliceRequiredTopologyConstraints";
    private static final String GATES = "preemptionGates";
    private static final String ACCUMULATED = "accumulatedPastExecutionTimeSeconds";
    private static final String ACCUMULATED_OLD = "accumulatedPastExexcutionTimeSeconds";

    @Override
    public void convertToHub(ObjectNode object, ConversionData conversionData) {
      ObjectNode said = conversionData.restored();
      ObjectNode spec = JsonFields.object(object.get("spec"));
      PriorityClassConversion.up(spec, conversionData.preserved());
      for (JsonNode podSet : spec.path("podSets")) {
        JsonNode constraints = said.path(CONSTRAINTS).get(podSet.path("name").asText());
        if (constraints != null && podSet.get("topologyRequest") instanceof ObjectNode request) {
          request.set(CONSTRAINTS, constraints);
        }
      }
      JsonFields.move(said, GATES, spec, GATES);
      ObjectNode status = JsonFields.object(object.get("status"));
      JsonFields.rename(status, ACCUMULATED_OLD, ACCUMULATED);
      JsonFields.move(said, "statusPreemptionGates", status, GATES);
      for (JsonNode assignment : assignments(status)) {
        // Names are unique; of those that aren't, only the first gets the runs, which may be long.
        JsonNode written =
            said.get("slices") instanceof ObjectNode slices
                ? slices.remove(assignment.path("name").asText())
                : null;
        TopologyAssignmentConversion.up(assignment, JsonFields.array(written));
      }
    }

    @Override
    public void convertFromHub(ObjectNode object, ConversionData conversionData) {
      ObjectNode kept = conversionData.preserved();
      ObjectNode spec = JsonFields.object(object.get("spec"));
      PriorityClassConversion.down(spec, conversionData.restored());
      for (JsonNode podSet : spec.path("podSets")) {
        if (podSet.get("topologyRequest") instanceof ObjectNode request
            && request.has(CONSTRAINTS)) {
          kept.withObject("/" + CONSTRAINTS)
              .set(podSet.path("name").asText(), request.remove(CONSTRAINTS));
        }
      }
      JsonFields.move(spec, GATES, kept, GATES);
      ObjectNode status = JsonFields.object(object.get("status"));
      JsonFields.rename(status, ACCUMULATED, ACCUMULATED_OLD);
      JsonFields.move(status, GATES, kept, "statusPreemptionGates");
      for (JsonNode assignment : assignments(status)) {
        ArrayNode unusual = TopologyAssignmentConversion.down(assignment);
        if (!unusual.isEmpty()) {
          kept.withObject("/slices").set(assignment.path("name").asText(), unusual);
        }
      }
    }

    private static JsonNode assignments(ObjectNode status) {
      return status.path("admission").path("podSetAssignments");
    }

    /**
     * The class a priority comes from: name and source in v1beta1, a reference in the stored
     * version.
     */
    private static final class PriorityClassConversion {

      private static final String NAME = "priorityClassName";
      private static final String SOURCE = "priorityClassSource";
      private static final String REFERENCE = "priorityClassRef";
      private static final Map<String, String> KIND_BY_SOURCE =
          Map.of(
              "kueue.x-k8s.io/workloadpriorityclass",
              "WorkloadPriorityClass",
              "scheduling.k8s.io/priorityclass",
              "PriorityClass");

      private PriorityClassConversion() {}

      /** A name without a source refers to nothing; it is kept and not converted. */
      static void up(ObjectNode spec, ObjectNode kept) {
        String source = spec.path(SOURCE).asText();
        String kind = KIND_BY_SOURCE.get(source);
        String name = spec.path(NAME).asText();
        if (kind == null || name.isEmpty()) {
          JsonFields.move(spec, NAME, kept, NAME);
          JsonFields.move(spec, SOURCE, kept, SOURCE);
        } else {
          spec.putObject(REFERENCE)
              .put("group", source.substring(0, source.indexOf('/')))
              .put("kind", kind)
              .put("name", name);
          spec.remove(NAME);
          spec.remove(SOURCE);
        }
      }

      /** The name and source of a reference, or what was kept when there is none. */
      static void down(ObjectNode spec, ObjectNode said) {
        ObjectNode reference = JsonFields.object(spec.remove(REFERENCE));
        if (reference.isEmpty()) {
          JsonFields.move(said, NAME, spec, NAME);
          JsonFields.move(said, SOURCE, spec, SOURCE);
        } else {
          spec.set(NAME, reference.path("name"));
          KIND_BY_SOURCE.forEach(
              (source, kind) -> {
                if (kind.equals(reference.path("kind").asText())) {
                  spec.put(SOURCE, source);
                }
              });
        }
      }
    }
  }

  /**
   * How objects of one kind read in one older version. Both ways change the object in place; what
   * the target can't say goes to {@code memory}, and what the target said before is found there.
   */
  interface KindConversion {

    /** From the older version to the stored one. */
    void convertToHub(ObjectNode object, ConversionData conversionData);

    /** From the stored version to the older one; never refuses an object. */
    void convertFromHub(ObjectNode object, ConversionData conversionData);

    /** For kinds that are the same in both versions but for the version's name. */
    static KindConversion same() {
      return new KindConversion() {
        @Override
        public void convertToHub(ObjectNode object, ConversionData conversionData) {
          conversionData.clear();
        }

        @Override
        public void convertFromHub(ObjectNode object, ConversionData conversionData) {
          conversionData.clear();
        }
      };
    }
  }

  /** An object can't be converted. The message names field, value and what is allowed. */
  public static final class ConversionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * An object can't be converted.
     *
     * @param message names field, value and what is allowed; the object is added by the caller
     */
    public ConversionException(String message) {
      super(message);
    }
  }

  /**
   * What an object said in one version and can't say in another. It travels in one annotation, an
   * object with an entry for each version that something was said in; an entry is taken out again
   * when the object returns to that version.
   */
  static final class ConversionData {

    /**
     * Deeper than what any version says in fields of its own. Anybody may write the annotation, and
     * what it says goes into the object, which must not be nested too deep to be converted again.
     */
    private static final int MAX_DEPTH = 100;

    private static final ObjectMapper MAPPER =
        new ObjectMapper(
            JsonFactory.builder()
                .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
                .build());

    private final ObjectNode restored;
    private final ObjectNode preserved = JsonNodeFactory.instance.objectNode();

    /** Data of one conversion, with what is known of the target version. */
    ConversionData(ObjectNode recalled) {
      this.restored = recalled;
    }

    /** Takes what was kept for the given version out of the object's annotation. */
    static ConversionData takenFrom(ObjectNode object, String version) {
      ObjectNode all = annotation(object);
      ConversionData conversionData = new ConversionData(JsonFields.object(all.get(version)));
      all.remove(version);
      write(object, all);
      return conversionData;
    }

    /** What was said in the target version before; empty when nothing is known. */
    ObjectNode restored() {
      return restored;
    }

    /** What can't be said in the target version; to be filled. */
    ObjectNode preserved() {
      return preserved;
    }

    /** Nothing has to be kept, and what was kept is of no use any more. */
    void clear() {
      preserved.removeAll();
    }

    /** Puts what is kept from the given version into the object's annotation. */
    void writeTo(ObjectNode object, String version) {
      ObjectNode all = annotation(object);
      all.remove(version);
      if (!preserved.isEmpty()) {
        all.set(version, preserved);
      }
      write(object, all);
    }

    private static ObjectNode annotation(ObjectNode object) {
      String text =
          object.path("metadata").path("annotations").path(HubConverter.ANNOTATION).asText("");
      try {
        return JsonFields.object(text.isEmpty() ? null : MAPPER.readTree(text));
      } catch (JsonProcessingException e) {
        return JsonNodeFactory.instance.objectNode();
      }
    }

    private static void write(ObjectNode object, ObjectNode all) {
      JsonNode metadata = object.path("metadata");
      if (all.isEmpty()) {
        if (metadata.path("annotations") instanceof ObjectNode annotations
            && annotations.remove(HubConverter.ANNOTATION) != null
            && annotations.isEmpty()) {
          ((ObjectNode) metadata).remove("annotations");
        }
      } else {
        object.withObject("/metadata/annotations").put(HubConverter.ANNOTATION, all.toString());
      }
    }
  }
}
