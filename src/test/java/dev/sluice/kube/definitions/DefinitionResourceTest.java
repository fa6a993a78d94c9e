package dev.sluice.kube.definitions;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.definitions.ServedDefinitions.DefinitionResource;
import dev.sluice.kube.reflect.UnreadableMetadata;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What is read of a CustomResourceDefinition. */
class DefinitionResourceTest {

  private static DefinitionResource read(String spec, String status) throws IOException {
    return new ObjectMapper()
        .readValue(
            """
            {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": "tasks.example.com", "uid": "u", "resourceVersion": "7"},
             "spec": %s, "status": %s}
            """
                .formatted(spec, status),
            DefinitionResource.class);
  }

  private static final String VERSIONS =
      """
      {"versions": [
        {"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
        {"name": "v1alpha1", "served": false}]}
      """;

  @Test
  void servedVersionsOfAnEstablishedDefinition() throws IOException {
    DefinitionResource definition =
        read(VERSIONS, "{\"conditions\": [{\"type\": \"Established\", \"status\": \"True\"}]}");

    assertThat(definition.served()).containsExactly("v1");
    assertThat(definition.getMetadata().getName()).isEqualTo("tasks.example.com");
    assertThat(definition.getMetadata().getResourceVersion()).isEqualTo("7");
  }

  @Test
  void nothingIsServedBeforeItIsEstablished() throws IOException {
    assertThat(read(VERSIONS, "{}").served()).isEmpty();
    assertThat(
            read(VERSIONS, "{\"conditions\": [{\"type\": \"Established\", \"status\": \"False\"}]}")
                .served())
        .isEmpty();
  }

  @Test
  void anythingElseServesNothing() throws IOException {
    String established = "{\"conditions\": [{\"type\": \"Established\", \"status\": \"True\"}]}";

    assertThat(read("7", established).served()).isEmpty();
    assertThat(read("{\"versions\": {\"name\": 1}}", established).served()).isEmpty();
    assertThat(read("{\"versions\": [3, null]}", "[]").served()).isEmpty();
    assertThat(UnreadableMetadata.is(read("{}", "{}"))).isFalse();
  }
}
