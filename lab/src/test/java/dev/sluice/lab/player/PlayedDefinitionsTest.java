package dev.sluice.lab.player;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionStatus;
import org.junit.jupiter.api.Test;

class PlayedDefinitionsTest {

  @Test
  void aDefinitionWithoutStatusOrConditionsIsNotEstablished() {
    CustomResourceDefinition definition = new CustomResourceDefinition();
    assertThat(PlayedDefinitions.isEstablished(null)).isFalse();
    assertThat(PlayedDefinitions.isEstablished(definition)).isFalse();
    CustomResourceDefinitionStatus status = new CustomResourceDefinitionStatus();
    status.setConditions(null); // as the client reads a status that has none
    definition.setStatus(status);
    assertThat(PlayedDefinitions.isEstablished(definition)).isFalse();
  }

  @Test
  void theConditionDecides() {
    assertThat(PlayedDefinitions.isEstablished(with("Established", "True"))).isTrue();
    assertThat(PlayedDefinitions.isEstablished(with("Established", "False"))).isFalse();
    assertThat(PlayedDefinitions.isEstablished(with("NamesAccepted", "True"))).isFalse();
  }

  private static CustomResourceDefinition with(String type, String status) {
    return new CustomResourceDefinitionBuilder()
        .withNewStatus()
        .addNewCondition()
        .withType(type)
        .withStatus(status)
        .endCondition()
        .endStatus()
        .build();
  }
}
