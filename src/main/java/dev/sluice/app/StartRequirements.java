package dev.sluice.app;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.install.Installer;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;

/** What the operator needs in a cluster before it starts: definitions and its namespace. */
final class StartRequirements {

  private static final int FORBIDDEN = 403;
  private static final String HOW = "; install the chart or deploy/sluice.yaml, or use --install";

  private StartRequirements() {}

  /** Something that the operator needs is missing; the message says what, and how to get it. */
  static final class MissingException extends IOException {
    private static final long serialVersionUID = 1L;

    MissingException(String message) {
      super(message);
    }
  }

  /**
   * Checks that the API server serves all kinds and that the namespace exists.
   *
   * @throws MissingException if not
   * @throws KubernetesClientException if the API server can't be asked
   */
  static void check(KubernetesClient client, String namespace) throws IOException {
    String served = client.raw("/apis/" + ApiVersions.GROUP + "/" + ApiVersions.V1BETA2);
    if (served == null) {
      throw new MissingException(
          "the definitions of " + ApiVersions.GROUP + " are not installed" + HOW);
    }
    Set<String> missing = new TreeSet<>(Installer.PLURALS);
    for (JsonNode resource : JsonMappers.JSON.readTree(served).path("resources")) {
      missing.remove(resource.path("name").asText());
    }
    if (!missing.isEmpty()) {
      throw new MissingException(
          "the definitions of %s are not installed in %s: %s%s"
              .formatted(ApiVersions.GROUP, ApiVersions.V1BETA2, String.join(", ", missing), HOW));
    }
    if (!namespaceExists(client, namespace)) {
      throw new MissingException("the namespace " + namespace + " does not exist" + HOW);
    }
  }

  /** A namespace that may not be read counts as existing. */
  private static boolean namespaceExists(KubernetesClient client, String namespace) {
    try {
      return client.namespaces().withName(namespace).get() != null;
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        return true;
      }
      throw e;
    }
  }
}
