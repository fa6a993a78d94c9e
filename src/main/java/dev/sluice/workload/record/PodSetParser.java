package dev.sluice.workload.record;

import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.kube.json.JsonTokenReader;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Parses one pod set, except for its template. */
final class PodSetParser {

  private static final PodTemplate EMPTY = PodTemplateParser.of(MissingNode.getInstance());

  private final JsonTokenReader jsonTokenReader;
  private String name = "main";
  private int count = 1;
  private int minCount;
  private String group = "";
  private @Nullable TopologyRequestParser topologyRequest;
  private PodTemplate template = EMPTY;

  PodSetParser(JsonTokenReader jsonTokenReader) {
    this.jsonTokenReader = jsonTokenReader;
  }

  void template(PodTemplate value) {
    template = value;
  }

  void read(String field) throws IOException {
    switch (field) {
      case "name" -> name = jsonTokenReader.word();
      case "count" -> count = jsonTokenReader.number(1);
      case "minCount" -> minCount = jsonTokenReader.number(0);
      case "topologyRequest" -> readTopologyRequest();
      default -> {}
    }
  }

  private void readTopologyRequest() throws IOException {
    if (jsonTokenReader.parser().currentToken().isStructStart()) {
      topologyRequest = TopologyRequestParser.read(jsonTokenReader);
      group = topologyRequest.group();
    }
  }

  PodSet result() {
    return new PodSet(
        name,
        count,
        minCount,
        template,
        group,
        Optional.ofNullable(topologyRequest).map(TopologyRequestParser::result));
  }
}
