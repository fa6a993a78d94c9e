package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;

/**
 * Workloads of v1beta1: the priority class is a name and a source, places are listed domain by
 * domain, and neither gates nor slices within slices are known.
 */
final class WorkloadV1Beta1 implements KindConversion {

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
      if (podSet.get("topologyRequest") instanceof ObjectNode request && request.has(CONSTRAINTS)) {
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
}
