package dev.sluice.api.conversion;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

/** Runs of domains, as domains and back. */
class TopologyAssignmentConversionTest {

  private static final String FIELD = "topologyAssignment";

  /** Two billion domains in a hundred bytes. */
  private static ObjectNode assignment(int levels) {
    ObjectNode result = JsonNodeFactory.instance.objectNode();
    ObjectNode assignment = result.putObject(FIELD);
    ArrayNode names = assignment.putArray("levels");
    ObjectNode slice = assignment.putArray("slices").addObject();
    slice.put("domainCount", Integer.MAX_VALUE).putObject("podCounts").put("universal", 1);
    ArrayNode values = slice.putArray("valuesPerLevel");
    for (int level = 0; level < levels; level++) {
      names.add("level-" + level);
      values.addObject().put("universal", "r" + level);
    }
    return result;
  }

  @Test
  void aRunThatClaimsBillionsOfDomainsIsWrittenInBoundedSpace() {
    ObjectNode assignment = assignment(2);

    ArrayNode kept = TopologyAssignmentConversion.down(assignment);

    JsonNode domains = assignment.at("/topologyAssignment/domains");
    assertThat(domains.size()).isBetween(1000, 1100);
    assertThat(domains.get(0).path("values")).hasSize(2);
    TopologyAssignmentConversion.up(assignment, kept);
    assertThat(assignment).isEqualTo(assignment(2));
  }

  @Test
  void runsAndLevelsInGreatNumbersAreWrittenInBoundedSpace() {
    ObjectNode assignment = assignment(5000);
    ArrayNode slices = (ArrayNode) assignment.at("/topologyAssignment/slices");
    for (int i = 0; i < 2000; i++) {
      slices.add(slices.get(0));
    }

    var unused = TopologyAssignmentConversion.down(assignment);

    JsonNode domains = assignment.at("/topologyAssignment/domains");
    assertThat(domains.size()).isBetween(2000, 3100);
    assertThat(domains.get(0).path("values")).hasSize(16);
  }
}
