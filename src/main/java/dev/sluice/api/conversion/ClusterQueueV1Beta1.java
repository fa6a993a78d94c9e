package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Cluster queues of v1beta1. Old spellings become the words of the stored version for good: names
 * of admission checks become a strategy, {@code Borrow} and {@code Preempt} become {@code
 * MayStopSearch}. Status fields that nobody writes any more are left out.
 */
final class ClusterQueueV1Beta1 implements KindConversion {

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
