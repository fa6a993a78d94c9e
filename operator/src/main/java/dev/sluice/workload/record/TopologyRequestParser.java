package dev.sluice.workload.record;

import dev.sluice.core.model.TopologyRequest;
import dev.sluice.kube.json.JsonTokenReader;
import dev.sluice.workload.record.CachedWorkload.RankedTopologyRequest;
import java.io.IOException;
import java.util.List;

/** Parses the request of a pod set for a topology. */
final class TopologyRequestParser {

  private final JsonTokenReader jsonTokenReader;
  private String required = "";
  private String preferred = "";
  private boolean unconstrained;
  private String sliceLevel = "";
  private int sliceSize;
  private List<TopologyRequest.Slice> layers = List.of();
  private String podIndexLabel = "";
  private String subGroupIndexLabel = "";
  private int subGroupCount;
  private String group = "";

  private TopologyRequestParser(JsonTokenReader jsonTokenReader) {
    this.jsonTokenReader = jsonTokenReader;
  }

  /** Parses the request at the current token. */
  static TopologyRequestParser read(JsonTokenReader jsonTokenReader) throws IOException {
    TopologyRequestParser parser = new TopologyRequestParser(jsonTokenReader);
    jsonTokenReader.object(parser::field);
    return parser;
  }

  private void field(String name) throws IOException {
    switch (name) {
      case "required" -> required = jsonTokenReader.word();
      case "preferred" -> preferred = jsonTokenReader.word();
      case "unconstrained" -> unconstrained = jsonTokenReader.word().equals("true");
      case "podSetSliceRequiredTopology" -> sliceLevel = jsonTokenReader.word();
      case "podSetSliceSize" -> sliceSize = jsonTokenReader.number(0);
      case "podsetSliceRequiredTopologyConstraints" -> layers = jsonTokenReader.list(this::layer);
      case "podIndexLabel" -> podIndexLabel = jsonTokenReader.word();
      case "subGroupIndexLabel" -> subGroupIndexLabel = jsonTokenReader.word();
      case "subGroupCount" -> subGroupCount = jsonTokenReader.number(0);
      case "podSetGroupName" -> group = jsonTokenReader.word();
      default -> {}
    }
  }

  private TopologyRequest.Slice layer() throws IOException {
    String[] level = {""};
    int[] size = {0};
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "topology" -> level[0] = jsonTokenReader.word();
            case "size" -> size[0] = jsonTokenReader.number(0);
            default -> {}
          }
        });
    return new TopologyRequest.Slice(level[0], Math.max(1, size[0]));
  }

  /** The pod-set group; empty without group. */
  String group() {
    return group;
  }

  RankedTopologyRequest result() {
    List<TopologyRequest.Slice> slices =
        layers.isEmpty() && !sliceLevel.isEmpty()
            ? List.of(new TopologyRequest.Slice(sliceLevel, Math.max(1, sliceSize)))
            : layers;
    return new RankedTopologyRequest(
        request(slices), podIndexLabel, subGroupIndexLabel, subGroupCount);
  }

  private TopologyRequest request(List<TopologyRequest.Slice> slices) {
    if (!required.isEmpty()) {
      return new TopologyRequest(TopologyRequest.Mode.REQUIRED, required, slices);
    }
    if (!preferred.isEmpty()) {
      return new TopologyRequest(TopologyRequest.Mode.PREFERRED, preferred, slices);
    }
    if (unconstrained) {
      return new TopologyRequest(TopologyRequest.Mode.UNCONSTRAINED, "", slices);
    }
    return slices.isEmpty()
        ? TopologyRequest.NONE
        : new TopologyRequest(TopologyRequest.Mode.SLICES, "", slices);
  }
}
