package dev.sluice.api.conversion;

import static dev.sluice.api.ApiVersions.GROUP;
import static dev.sluice.api.ApiVersions.V1ALPHA2;
import static dev.sluice.api.ApiVersions.V1BETA1;
import static dev.sluice.api.ApiVersions.V1BETA2;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
}
