package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
  public void up(ObjectNode object, Memory memory) {
    ObjectNode said = memory.recalled();
    ArrayNode written = Json.array(said.remove(WRITTEN));
    if (!(object.get("spec") instanceof ObjectNode spec)) {
      Json.setUnlessEmpty(object, "spec", said);
      return;
    }
    Json.rename(spec, "cohort", "cohortName");
    boolean cohort = spec.has("cohortName");
    ArrayNode resources = Json.array(spec.remove("resources"));
    ArrayNode groups = AlphaQuotas.groups(resources, cohort);
    if (cohort || !limited(written)) {
      groups =
          AlphaQuotas.resources(written).equals(resources) ? written : lending(groups, written);
    }
    Json.setUnlessEmpty(spec, "resourceGroups", groups);
    Json.fill(spec, said);
    if (!AlphaQuotas.resources(groups).equals(resources)) {
      memory.kept().set("resources", resources);
    }
  }

  @Override
  public void down(ObjectNode object, Memory memory) {
    if (!(object.get("spec") instanceof ObjectNode spec)) {
      return;
    }
    ArrayNode groups = Json.array(spec.remove("resourceGroups"));
    Json.rename(spec, "cohortName", "cohort");
    boolean cohort = spec.has("cohort");
    Json.moveAllBut(spec, KNOWN, memory.kept());
    ArrayNode written = Json.array(memory.recalled().get("resources"));
    if (!meansTheSame(written, cohort, groups)) {
      written = AlphaQuotas.resources(groups);
    }
    Json.setUnlessEmpty(spec, "resources", written);
    if (!meansTheSame(written, cohort, groups)) {
      Json.setUnlessEmpty(memory.kept(), WRITTEN, groups);
    }
  }

  private static boolean meansTheSame(ArrayNode resources, boolean cohort, ArrayNode groups) {
    try {
      return AlphaQuotas.groups(resources, cohort).equals(groups);
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
          if (limit != null && Amounts.less(limit, resource.path("nominalQuota"))) {
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
      ObjectNode quotas = Json.named(group.path("flavors"), flavor.path("name").asText());
      JsonNode limit =
          Json.named(quotas.path("resources"), resource.path("name").asText()).get("lendingLimit");
      if (limit != null) {
        return limit;
      }
    }
    return null;
  }
}
