package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.server.certificates.KubernetesCaBundleInjector;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Definitions as an installer sends them. */
class InstallerTest {

  private static JsonNode definition(String name, ObjectNode converter)
      throws JsonProcessingException {
    return JsonMappers.YAML.readTree(Installer.manifest(name, converter));
  }

  @Test
  void definitionsDifferInTheAddressOfTheirConversionAlone() throws JsonProcessingException {
    ObjectNode here = JsonMappers.JSON.createObjectNode().put("url", "https://127.0.0.1:9/convert");
    ObjectNode there = JsonMappers.JSON.createObjectNode().put("url", "https://b\\$1:9/convert");
    List<String> converted = new ArrayList<>();

    for (String name : Installer.definitionNames()) {
      JsonNode definition = definition(name, here);
      JsonNode other = definition(name, there);
      assertThat(definition.path("metadata").path("name").asText()).isEqualTo(name);
      if (definition.at("/spec/conversion/strategy").asText().equals("Webhook")) {
        assertThat(definition.at("/spec/conversion/webhook/clientConfig")).isEqualTo(here);
        assertThat(other.at("/spec/conversion/webhook/clientConfig")).isEqualTo(there);
        ((ObjectNode) other.at("/spec/conversion/webhook")).set("clientConfig", here);
        converted.add(name);
      }
      assertThat(other).isEqualTo(definition);
    }

    assertThat(converted).containsExactlyInAnyOrderElementsOf(KubernetesCaBundleInjector.CONVERTED);
  }
}
