package dev.sluice.api.placement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.placement.TopologySpreading.Fault;
import dev.sluice.api.placement.TopologySpreading.ShareLimit;
import dev.sluice.api.placement.TopologySpreading.WorkloadSelector;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The annotation podset-topology-spreading: what it says, and what is refused. */
class TopologySpreadingTest {

  private static final String RULES =
      "\"rules\": [{\"topologyKey\": \"a.b/rack\", \"maxShareAllowingPlacement\": \"45%\"}]";

  @Test
  void whatIsLeftOutHasItsDefault() {
    assertThat(TopologySpreading.of("{" + RULES + "}"))
        .contains(
            new TopologySpreading(Optional.empty(), List.of(new ShareLimit("a.b/rack", 45, true))));
  }

  @Test
  void allFieldsAreRead() {
    assertThat(
            TopologySpreading.of(
                """
                {"workloadLabelSelectors": [{"key": "app", "operator": "In", "values": ["a", "b"]}],
                 "rules": [
                  {"topologyKey": "zone", "maxShareAllowingPlacement": "99%", "enforcementMode": "Preferred"},
                  {"topologyKey": "rack", "maxShareAllowingPlacement": "1%", "enforcementMode": "Required"}]}
                """))
        .contains(
            new TopologySpreading(
                Optional.of(new WorkloadSelector("app", List.of("a", "b"))),
                List.of(new ShareLimit("zone", 99, false), new ShareLimit("rack", 1, true))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      textBlock =
          """
          | |  must be a JSON object
          [] | | must be a JSON object
          null | | must be a JSON object
          {} | rules | must be an array of 1 to 2
          {"rules": {}} | rules | must be an array of 1 to 2
          {"rules": [1]} | rules[0].topologyKey | must be
          {"rules": [{}, {}, {}]} | rules | must be an array of 1 to 2
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": 45}]} | rules[0].maxShareAllowingPlacement | must be a text from "1%" to "99%"
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "0%"}]} | rules[0].maxShareAllowingPlacement | must be a text
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "100%"}]} | rules[0].maxShareAllowingPlacement | must be a text
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "05%"}]} | rules[0].maxShareAllowingPlacement | must be a text
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%", "enforcementMode": "required"}]} | rules[0].enforcementMode | must be Required or Preferred
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%", "enforcementMode": 1}]} | rules[0].enforcementMode | must be Required or Preferred
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%", "maxSkew": 1}]} | rules[0] | unknown field
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%"}, {"topologyKey": "z", "maxShareAllowingPlacement": "6%"}]} | rules[1].topologyKey | must be another one in each rule
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%"}], "more": 1} | | unknown field
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%"}], "workloadLabelSelectors": {}} | workloadLabelSelectors | must be an array of at most 1 object
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%"}], "workloadLabelSelectors": [{"key": "a", "operator": "NotIn", "values": ["b"]}]} | workloadLabelSelectors[0].operator | must be In
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%"}], "workloadLabelSelectors": [{"key": "a", "operator": "In", "values": []}]} | workloadLabelSelectors[0].values | must be an array of at least 1 text
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%"}], "workloadLabelSelectors": [{"key": "a", "operator": "In", "values": [1]}]} | workloadLabelSelectors[0].values | must be an array of at least 1 text
          {"rules": [{"topologyKey": "z", "maxShareAllowingPlacement": "5%"}], "workloadLabelSelectors": [{"key": "", "operator": "In", "values": ["b"]}]} | workloadLabelSelectors[0].key | must be
          """)
  void faultsNameTheFieldAndWhatIsAllowed(String text, String field, String allowed) {
    String written = text == null ? "" : text;
    assertThat(TopologySpreading.of(written)).isEmpty();
    assertThat(TopologySpreading.faults(written))
        .anySatisfy(
            fault -> {
              assertThat(fault.field()).isEqualTo(field == null ? "" : field);
              assertThat(fault.allowed()).startsWith(allowed);
            });
  }

  /** Whatever is written: a text is cut, and others take the place of its parts. */
  @Test
  void noTextIsTooStrange() {
    assertThat(TopologySpreading.faults(" ".repeat(5000)))
        .extracting(Fault::allowed)
        .singleElement()
        .asString()
        .startsWith("must have at most 4096 characters");
    String whole =
        "{\"workloadLabelSelectors\": [{\"key\": \"a\", \"operator\": \"In\", \"values\":"
            + " [\"b\"]}], "
            + RULES
            + "}";
    Random random = new Random(7);
    List<String> strange = List.of("null", "[]", "{}", "1e999", "\"\"", "[[[", "\\u0000", ",");
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      int from = random.nextInt(whole.length());
      int to = from + random.nextInt(whole.length() - from);
      String text =
          whole.substring(0, from)
              + strange.get(random.nextInt(strange.size()))
              + whole.substring(to);
      assertThat(TopologySpreading.of(text).isPresent())
          .isEqualTo(TopologySpreading.faults(text).isEmpty());
      read += TopologySpreading.of(text).isPresent() ? 1 : 0;
    }
    assertThat(read).isBetween(1, 19_000);
    assertThat(TopologySpreading.of("[".repeat(4000))).isEmpty();
  }
}
