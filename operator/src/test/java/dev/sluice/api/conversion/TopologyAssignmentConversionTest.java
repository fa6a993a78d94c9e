package dev.sluice.api.conversion;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.conversion.HubConverter.ConversionData;
import dev.sluice.api.conversion.HubConverter.WorkloadV1Beta1;
import dev.sluice.api.json.JsonMappers;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  /** A text that counts how often a character of it is looked at. */
  private record Counted(String text, AtomicLong looks) implements CharSequence {

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      looks.incrementAndGet();
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      throw new UnsupportedOperationException();
    }
  }

  @Test
  void whatValuesHaveInCommonIsFoundWithALookAtEachCharacter() {
    int length = 20_000;
    AtomicLong looks = new AtomicLong();
    String same = "a".repeat(length);
    List<Counted> values =
        List.of(
            new Counted("a" + same + "a", looks),
            new Counted("a" + same.substring(length / 2) + "b", looks),
            new Counted("b" + same, looks));

    assertThat(TopologyAssignmentConversion.commonPrefix(values)).isZero();
    assertThat(TopologyAssignmentConversion.commonSuffix(values)).isZero();
    assertThat(TopologyAssignmentConversion.commonPrefix(values.subList(0, 2)))
        .isEqualTo(1 + length / 2);
    assertThat(looks.get()).isLessThan(20L * length);
  }

  @ParameterizedTest
  @CsvSource({"rack-1-x, rack-2-x, 5, 2", "a, a, 1, 1", "a, '', 0, 0", "ab, b, 0, 1"})
  void theCommonPartsAreTheLongest(String one, String other, int prefix, int suffix) {
    assertThat(TopologyAssignmentConversion.commonPrefix(List.of(one, other))).isEqualTo(prefix);
    assertThat(TopologyAssignmentConversion.commonSuffix(List.of(one, other))).isEqualTo(suffix);
  }

  @Test
  void runsThatWereWrittenAreUsedForOneAssignmentOnly() throws Exception {
    String domains =
        "{'levels': ['l'], 'domains': [{'values': ['a'], 'count': 1}, {'values': ['b'], 'count': 1}]}";
    ObjectNode workload =
        tree(
            "{'status': {'admission': {'podSetAssignments': [{'name': 'main', 'topologyAssignment': "
                + domains
                + "}, {'name': 'main', 'topologyAssignment': "
                + domains
                + "}]}}}");
    ObjectNode recalled =
        tree(
            "{'slices': {'main': [{'domainCount': 1, 'podCounts': {'universal': 1},"
                + " 'valuesPerLevel': [{'universal': 'a'}]}, {'domainCount': 1, 'podCounts':"
                + " {'universal': 1}, 'valuesPerLevel': [{'universal': 'b'}]}]}}");

    new WorkloadV1Beta1().convertToHub(workload, new ConversionData(recalled));

    JsonNode assignments = workload.at("/status/admission/podSetAssignments");
    assertThat(assignments.at("/0/topologyAssignment/slices")).as("as written").hasSize(2);
    assertThat(assignments.at("/1/topologyAssignment/slices")).as("made anew").hasSize(1);
  }

  private static ObjectNode tree(String json) throws IOException {
    return (ObjectNode) JsonMappers.JSON.readTree(json.replace('\'', '"'));
  }
}
