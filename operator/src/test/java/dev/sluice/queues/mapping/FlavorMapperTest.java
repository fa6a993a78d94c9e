package dev.sluice.queues.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.ResourceFlavor;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FlavorMapperTest {

  private static Map<String, String> labels(String yaml) throws JsonProcessingException {
    return FlavorMapper.translate(new YAMLMapper().readValue(yaml, ResourceFlavor.class))
        .nodeLabels();
  }

  @Test
  void whoseNodesTheyAreCountsLikeALabelOfThem() throws JsonProcessingException {
    assertThat(labels("metadata: {name: own, annotations: {sluice.dev/worker-cluster: here}}"))
        .isEqualTo(Map.of("sluice.dev/worker-cluster", "here"));
    assertThat(
            labels(
                """
                metadata: {name: own, annotations: {sluice.dev/worker-cluster: here, a: b}}
                spec: {nodeLabels: {type: spot}}
                """))
        .isEqualTo(Map.of("sluice.dev/worker-cluster", "here", "type", "spot"));
  }

  @Test
  void otherwiseTheyHaveTheLabelsOfTheSpec() throws JsonProcessingException {
    assertThat(labels("metadata: {name: other}")).isEmpty();
    assertThat(labels("{metadata: {name: other}, spec: {nodeLabels: {type: spot}}}"))
        .isEqualTo(Map.of("type", "spot"));
  }
}
