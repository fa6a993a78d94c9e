package dev.sluice.api.conversion;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.core.model.TopologyAssignment.Domain;
import java.io.IOException;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Topology assignments as domains, and as they are stored. */
class TopologyAssignmentCodecTest {

  private static final TopologyAssignment RACKS =
      new TopologyAssignment(
          List.of("block", "rack"),
          List.of(new Domain(List.of("b1", "r1"), 2), new Domain(List.of("b1", "r2"), 1)));

  private static JsonNode json(String text) throws IOException {
    return JsonMappers.JSON.readTree(text);
  }

  @Test
  void oneSliceIsWritten() throws IOException {
    assertThat(TopologyAssignmentCodec.encode(RACKS))
        .isEqualTo(
            json(
                """
                {"levels":["block","rack"],"slices":[{"domainCount":2,
                 "podCounts":{"individual":[2,1]},
                 "valuesPerLevel":[{"universal":"b1"},
                  {"individual":{"prefix":"r","roots":["1","2"]}}]}]}
                """));
  }

  @Test
  void whatIsWrittenIsReadBack() throws IOException {
    TopologyAssignment many =
        new TopologyAssignment(
            List.of("kubernetes.io/hostname"),
            IntStream.range(0, 1000)
                .mapToObj(i -> new Domain(List.of("node-" + i + ".pool"), 1 + i % 3))
                .toList());
    for (TopologyAssignment each : List.of(RACKS, many)) {
      JsonNode stored = json(TopologyAssignmentCodec.encode(each).toString());
      assertThat(TopologyAssignmentCodec.decode(stored)).isEqualTo(each);
    }
  }

  private static TopologyAssignment onHosts(IntFunction<String> name, int count) {
    return new TopologyAssignment(
        List.of("kubernetes.io/hostname"),
        IntStream.range(0, count).mapToObj(i -> new Domain(List.of(name.apply(i)), 2)).toList());
  }

  @Test
  void hostnamesAreSplitByPrefixWhereThatIsShorter() throws IOException {
    TopologyAssignment pools =
        onHosts(i -> (i < 50 ? "cpu-pool-europe-" : "gpu-pool-america-") + i, 100);
    JsonNode stored = json(TopologyAssignmentCodec.encode(pools).toString());
    assertThat(stored.path("slices")).hasSize(2);
    assertThat(stored.at("/slices/1/domainCount").asInt()).isEqualTo(50);
    assertThat(stored.at("/slices/1/valuesPerLevel/0/individual/prefix").asText())
        .isEqualTo("gpu-pool-america-");
    assertThat(TopologyAssignmentCodec.decode(stored)).isEqualTo(pools);

    // a prefix of its own for each would be longer
    TopologyAssignment alternating = onHosts(i -> (i % 2 == 0 ? "a-" : "b-") + i, 100);
    stored = json(TopologyAssignmentCodec.encode(alternating).toString());
    assertThat(stored.path("slices")).hasSize(1);
    assertThat(TopologyAssignmentCodec.decode(stored)).isEqualTo(alternating);
  }

  @Test
  void thereAreNeverMoreSlicesThanTheApiAllows() throws IOException {
    String tail = "x".repeat(50);
    TopologyAssignment many = onHosts(i -> "n%04d%s-%d".formatted(i / 2, tail, i % 2), 4_000);
    JsonNode stored = json(TopologyAssignmentCodec.encode(many).toString());
    assertThat(stored.path("slices")).hasSize(1);
    assertThat(TopologyAssignmentCodec.decode(stored)).isEqualTo(many);
  }

  @Test
  void severalSlicesAndListsOfDomainsAreRead() throws IOException {
    String two =
        """
        {"levels":["block","rack"],"slices":[
         {"domainCount":1,"podCounts":{"universal":2},
          "valuesPerLevel":[{"universal":"b1"},{"universal":"r1"}]},
         {"domainCount":1,"podCounts":{"individual":[1]},
          "valuesPerLevel":[{"universal":"b1"},{"individual":{"roots":["r2"]}}]}]}
        """;
    String old =
        """
        {"levels":["block","rack"],"domains":[{"values":["b1","r1"],"count":2},
         {"values":["b1","r2"],"count":1}]}
        """;
    assertThat(TopologyAssignmentCodec.decode(json(two))).isEqualTo(RACKS);
    assertThat(TopologyAssignmentCodec.decode(json(old))).isEqualTo(RACKS);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "[]",
        "7",
        "{}",
        "{\"levels\":7,\"slices\":{}}",
        "{\"levels\":[\"a\"],\"slices\":[7,null,{\"domainCount\":-1}]}",
        "{\"levels\":[\"a\"],\"domains\":[{\"values\":[\"x\",\"y\"],\"count\":1}]}",
        "{\"levels\":[\"a\"],\"domains\":[{\"values\":[\"x\"],\"count\":0}]}",
        "{\"levels\":[],\"domains\":[{\"values\":[],\"count\":1}]}"
      })
  void anyOtherJsonHasNoDomains(String text) throws IOException {
    assertThat(TopologyAssignmentCodec.decode(json(text)).domains()).isEmpty();
  }
}
