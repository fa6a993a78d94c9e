package dev.sluice.topology;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.accounting.PodRecord;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.core.model.MapCopies;
import dev.sluice.kube.json.WeakInterner;
import dev.sluice.kube.reflect.TolerantDeserializers;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Parses pods. Values that many pods have in common are shared. */
final class PodParser {

  /** What a template says that is placed by a topology; a start adds one if nothing was said. */
  private static final Set<String> TOPOLOGY_ANNOTATIONS =
      Set.of(
          KueueConstants.PODSET_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_PREFERRED_TOPOLOGY,
          KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY,
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY,
          KueueConstants.PODSET_SLICE_REQUIRED_TOPOLOGY_CONSTRAINTS);

  private static final int LONGEST_INDEX = 9;

  private final ObjectMapper mapper = new ObjectMapper(TolerantDeserializers.json());
  private final PodRecordParser records;
  private final WeakInterner<Map<String, String>> selectors = new WeakInterner<>();
  private final WeakInterner<String> names = new WeakInterner<>();

  PodParser(PodRecordParser records) {
    this.records = records;
  }

  /** Parses the pod in these bytes. */
  ParsedPod parse(byte[] bytes, int offset, int length) throws IOException {
    JsonNode pod = mapper.readTree(bytes, offset, length);
    PodRecord kept = records.of(pod);
    return new ParsedPod(kept, records.ended(pod), placed(pod, kept.node()));
  }

  private Optional<TopologyPod> placed(JsonNode pod, String node) {
    JsonNode metadata = pod.path("metadata");
    JsonNode annotations = metadata.path("annotations");
    String workload = annotations.path(KueueConstants.WORKLOAD).asText();
    if (workload.isEmpty() || TOPOLOGY_ANNOTATIONS.stream().noneMatch(annotations::has)) {
      return Optional.empty();
    }
    String slice = annotations.path(KueueConstants.WORKLOAD_SLICE_NAME).asText();
    JsonNode spec = pod.path("spec");
    return Optional.of(
        new TopologyPod(
            names.of(metadata.path("namespace").asText()),
            metadata.path("name").asText(),
            metadata.path("uid").asText(),
            metadata.path("resourceVersion").asText(),
            names.of(slice.isEmpty() ? workload : slice),
            names.of(metadata.path("labels").path(KueueConstants.PODSET).asText()),
            indexes(metadata.path("labels")),
            number(annotations.path(KueueConstants.POD_INDEX_OFFSET).asText()).orElse(0),
            gates(spec),
            selector(spec),
            new TopologyPod.Binding(
                names.of(node),
                node.isEmpty() ? unschedulableSince(pod.path("status")) : Optional.empty()),
            metadata.hasNonNull("deletionTimestamp")));
  }

  /** Users can't write the status of pods: it is the scheduler that says this. */
  private static Optional<Instant> unschedulableSince(JsonNode status) {
    return status
        .path("conditions")
        .valueStream()
        .filter(condition -> condition.path("type").asText().equals("PodScheduled"))
        .filter(condition -> condition.path("status").asText().equals("False"))
        .filter(condition -> condition.path("reason").asText().equals("Unschedulable"))
        .flatMap(condition -> JsonFields.time(condition.path("lastTransitionTime")).stream())
        .findFirst();
  }

  private static List<String> gates(JsonNode spec) {
    List<String> gates = new ArrayList<>(2);
    spec.path("schedulingGates").forEach(gate -> gates.add(gate.path("name").asText()));
    return gates;
  }

  private Map<String, String> selector(JsonNode spec) {
    Map<String, String> selector = new HashMap<>();
    spec.path("nodeSelector")
        .properties()
        .forEach(label -> selector.put(names.of(label.getKey()), label.getValue().asText()));
    return selectors.of(MapCopies.of(selector));
  }

  private Map<String, Integer> indexes(JsonNode labels) {
    Map<String, Integer> result = new HashMap<>();
    labels
        .properties()
        .forEach(
            label ->
                number(label.getValue().asText())
                    .ifPresent(number -> result.put(names.of(label.getKey()), number)));
    return result;
  }

  private static Optional<Integer> number(String text) {
    boolean digits =
        !text.isEmpty()
            && text.length() <= LONGEST_INDEX
            && text.chars().allMatch(each -> each >= '0' && each <= '9');
    return digits ? Optional.of(Integer.parseInt(text)) : Optional.empty();
  }
}
