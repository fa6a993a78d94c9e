package dev.sluice.lab.demo;

import dev.sluice.lab.audit.AuditedKind;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.net.HttpURLConnection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The scenario's cluster-scoped objects: its namespace, queue and flavors. */
public final class ScenarioObjects {

  private final KubernetesClient client;

  /** Creates an access for this cluster. */
  public ScenarioObjects(KubernetesClient client) {
    this.client = client;
  }

  /** The objects that exist, such as {@code namespace team-ml}. */
  public List<String> existing() {
    return all().entrySet().stream()
        .filter(each -> exists(each.getValue()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Requests the deletion of all objects without waiting. */
  public void delete() {
    all().values().forEach(Resource::delete);
  }

  private Map<String, Resource<?>> all() {
    Map<String, Resource<?>> all = new LinkedHashMap<>();
    all.put(
        "namespace " + FirstJobScenario.NAMESPACE,
        client.namespaces().withName(FirstJobScenario.NAMESPACE));
    all.put(
        "ClusterQueue " + FirstJobScenario.CLUSTER_QUEUE,
        client
            .genericKubernetesResources(AuditedKind.CLUSTER_QUEUE.context())
            .withName(FirstJobScenario.CLUSTER_QUEUE));
    for (String flavor : FirstJobScenario.FLAVORS) {
      all.put(
          "ResourceFlavor " + flavor,
          client.genericKubernetesResources(flavors()).withName(flavor));
    }
    return all;
  }

  static ResourceDefinitionContext flavors() {
    return new ResourceDefinitionContext.Builder()
        .withGroup("kueue.x-k8s.io")
        .withVersion("v1beta2")
        .withKind("ResourceFlavor")
        .withPlural("resourceflavors")
        .withNamespaced(false)
        .build();
  }

  /** If the API is not installed, none of its objects exists. */
  private static boolean exists(Resource<?> resource) {
    try {
      return resource.get() != null;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }
}
