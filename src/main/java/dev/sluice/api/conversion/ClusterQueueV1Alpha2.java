package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Cluster queues of v1alpha2: quota by resource, with a guaranteed and a greatest amount. How
 * either form was written stays with the object and is shown again as long as it still means what
 * the object says.
 */
final class ClusterQueueV1Alpha2 implements KindConversion {

  private static final Set<String> KNOWN =
      Set.of("cohort", "namespaceSelector", "queueingStrategy", "resources");
  private static final String WRITTEN = "resourceGroups";

  @Override
  public void convertToHub(ObjectNode object, ConversionData conversionData) {
    ObjectNode said = conversionData.restored();
    ArrayNode written = JsonFields.array(said.remove(WRITTEN));
    if (!(object.get("spec") instanceof ObjectNode spec)) {
      JsonFields.setUnlessEmpty(object, "spec", said);
      return;
    }
    JsonFields.rename(spec, "cohort", "cohortName");
    boolean cohort = spec.has("cohortName");
    ArrayNode resources = JsonFields.array(spec.remove("resources"));
    ArrayNode groups = V1Alpha2Quotas.groups(resources, cohort);
    if (cohort || !limited(written)) {
      groups =
          V1Alpha2Quotas.resources(written).equals(resources) ? written : lending(groups, written);
    }
    JsonFields.setUnlessEmpty(spec, "resourceGroups", groups);
    JsonFields.fill(spec, said);
    if (!V1Alpha2Quotas.resources(groups).equals(resources)) {
      conversionData.preserved().set("resources", resources);
    }
  }

  @Override
  public void convertFromHub(ObjectNode object, ConversionData conversionData) {
    if (!(object.get("spec") instanceof ObjectNode spec)) {
      return;
    }
    ArrayNode groups = JsonFields.array(spec.remove("resourceGroups"));
    JsonFields.rename(spec, "cohortName", "cohort");
    boolean cohort = spec.has("cohort");
    JsonFields.moveAllBut(spec, KNOWN, conversionData.preserved());
    ArrayNode written = JsonFields.array(conversionData.restored().get("resources"));
    if (!meansTheSame(written, cohort, groups)) {
      written = V1Alpha2Quotas.resources(groups);
    }
    JsonFields.setUnlessEmpty(spec, "resources", written);
    if (!meansTheSame(written, cohort, groups)) {
      JsonFields.setUnlessEmpty(conversionData.preserved(), WRITTEN, groups);
    }
  }

  private static boolean meansTheSame(ArrayNode resources, boolean cohort, ArrayNode groups) {
    try {
      return V1Alpha2Quotas.groups(resources, cohort).equals(groups);
    } catch (ConversionException e) {
      return false;
    }
  }

  private static boolean limited(ArrayNode groups) {
    return !groups.findValues("borrowingLimit").isEmpty()
        || !groups.findValues("lendingLimit").isEmpty();
  }

  /**
   * Keeps the limits of lending, which v1alpha2 knows nothing of, where they still limit anything.
   */
  private static ArrayNode lending(ArrayNode groups, ArrayNode written) {
    for (JsonNode group : groups) {
      for (JsonNode flavor : group.path("flavors")) {
        for (JsonNode resource : flavor.path("resources")) {
          JsonNode limit = lendingLimit(written, flavor, resource);
          if (limit != null && JsonQuantities.less(limit, resource.path("nominalQuota"))) {
            ((ObjectNode) resource).set("lendingLimit", limit);
          }
        }
      }
    }
    return groups;
  }

  private static @Nullable JsonNode lendingLimit(
      ArrayNode written, JsonNode flavor, JsonNode resource) {
    for (JsonNode group : written) {
      ObjectNode quotas = JsonFields.named(group.path("flavors"), flavor.path("name").asText());
      JsonNode limit =
          JsonFields.named(quotas.path("resources"), resource.path("name").asText())
              .get("lendingLimit");
      if (limit != null) {
        return limit;
      }
    }
    return null;
  }
}
