package dev.sluice.kube.definitions;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.definitions.ServedDefinitions.Definition;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What is read of a CustomResourceDefinition. */
class ServedDefinitionsTest {

  private static Definition read(String spec, String status) throws IOException {
    return Definition.of(
        new ObjectMapper()
            .readTree(
                """
            {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": "tasks.example.com", "uid": "u", "resourceVersion": "7"},
             "spec": %s, "status": %s}
            """
                    .formatted(spec, status)));
  }

  private static final String VERSIONS =
      """
      {"versions": [
        {"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
        {"name": "v1alpha1", "served": false}]}
      """;

  @Test
  void servedVersionsOfAnEstablishedDefinition() throws IOException {
    Definition definition =
        read(VERSIONS, "{\"conditions\": [{\"type\": \"Established\", \"status\": \"True\"}]}");

    assertThat(definition.served()).containsExactly("v1");
    assertThat(definition.name()).isEqualTo("tasks.example.com");
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
    assertThat(read("{}", "{}").served()).isEmpty();
  }
}
