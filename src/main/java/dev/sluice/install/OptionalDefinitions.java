package dev.sluice.install;

import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Definitions of kinds that belong to others, for clusters where nobody else defines them. A
 * definition that is there is never changed, and none is ever removed.
 */
final class OptionalDefinitions {

  private static final Logger LOG = LoggerFactory.getLogger(OptionalDefinitions.class);

  /** The definitions of Kube Queue's kinds. */
  static final List<String> KUBE_QUEUE =
      List.of(
          "elasticquotas.scheduling.sigs.k8s.io",
          "elasticquotas.scheduling.x-k8s.io",
          "elasticquotatrees.scheduling.sigs.k8s.io",
          "queues.scheduling.x-k8s.io",
          "queueunits.scheduling.x-k8s.io");

  private OptionalDefinitions() {}

  /**
   * Creates those that are missing.
   *
   * @return the names of those that were created
   * @throws IOException when a file is missing from the program
   */
  static List<String> install(KubernetesClient client) throws IOException {
    List<String> created = new ArrayList<>();
    for (String name : KUBE_QUEUE) {
      var found = client.apiextensions().v1().customResourceDefinitions().withName(name);
      if (found.get() == null && create(client, definition(client, name))) {
        created.add(name);
      }
    }
    return created;
  }

  /** False if somebody else created it meanwhile. */
  private static boolean create(KubernetesClient client, CustomResourceDefinition definition) {
    try {
      client.resource(definition).create();
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
      LOG.info("definition={} created=false", definition.getMetadata().getName());
      return false;
    }
  }

  private static CustomResourceDefinition definition(KubernetesClient client, String name)
      throws IOException {
    int dot = name.indexOf('.');
    String file = "kube-queue/" + name.substring(dot + 1) + "_" + name.substring(0, dot) + ".yaml";
    try (InputStream text = OptionalDefinitions.class.getResourceAsStream(file)) {
      if (text == null) {
        throw new IOException(file + " is missing from the program");
      }
      return client.getKubernetesSerialization().unmarshal(text, CustomResourceDefinition.class);
    }
  }
}
