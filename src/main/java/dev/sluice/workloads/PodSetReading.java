package dev.sluice.workloads;

import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.workloads.Workload.PodSet;
import java.io.IOException;

/** The reading of one pod set, except for its template. */
final class PodSetReading {

  private static final PodTemplate EMPTY = PodTemplates.of(MissingNode.getInstance());

  private final Tokens tokens;
  private String name = "main";
  private int count = 1;
  private int minCount;
  private String group = "";
  private boolean topologyRequested;
  private PodTemplate template = EMPTY;

  PodSetReading(Tokens tokens) {
    this.tokens = tokens;
  }

  void template(PodTemplate value) {
    template = value;
  }

  void read(String field) throws IOException {
    switch (field) {
      case "name" -> name = tokens.word();
      case "count" -> count = tokens.number(1);
      case "minCount" -> minCount = tokens.number(0);
      case "topologyRequest" -> tokens.object(this::topologyRequest);
      default -> {}
    }
  }

  private void topologyRequest(String field) throws IOException {
    switch (field) {
      case "podSetGroupName" -> group = tokens.word();
      case "required", "preferred", "podSetSliceRequiredTopology" -> topologyRequested = true;
      case "unconstrained" -> topologyRequested |= tokens.parser().getValueAsBoolean();
      case "podsetSliceRequiredTopologyConstraints" -> topologyRequested = true;
      default -> {}
    }
  }

  PodSet result() {
    return new PodSet(name, count, minCount, template, group, topologyRequested);
  }
}
